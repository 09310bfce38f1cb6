package manifest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/screen"
)

// The tables that spreadsheets of other countries write, and headers as people write
// them, are read as the plain one is.
func TestSeparatorsAndHeaders(t *testing.T) {
	for name, table := range map[string]string{
		"plain":               "path,label,use\na.wav,1,train\n\"b,c.wav\",0,\n",
		"semicolons":          "path;label;use\r\na.wav;1;train\r\nb,c.wav;0;\r\n",
		"a mark, semicolons":  "\ufeffpath;label;use\na.wav;1;train\n\"b,c.wav\";0;\n",
		"tabs":                "path\tlabel\tuse\na.wav\t1\ttrain\nb,c.wav\t0\t\n",
		"a line for Excel":    "sep=;\r\npath;label;use\na.wav;1;train\nb,c.wav;0;\n",
		"bars":                "sep=|\npath|label|use\na.wav|1|train\nb,c.wav|0|\n",
		"upper case":          "PATH,Label,Use\na.wav,1,train\n\"b,c.wav\",0,\n",
		"spaces":              " Path , Label , Use\na.wav,1,train\n\"b,c.wav\",0,\n",
		"quoted header":       "\ufeff\"Path\";\"Label\";\"Use\"\na.wav;1;train\nb,c.wav;0;\n",
		"commas in a heading": "path;label;use;\"notes, remarks, more, and more\"\na.wav;1;train;x\nb,c.wav;0;;x\n",
	} {
		rows, skipped, err := Read(strings.NewReader(table), screen.Depression)
		if err != nil || len(skipped) > 0 || len(rows) != 2 {
			t.Errorf("%s: got %d rows, %v skipped and error %v, want 2 rows", name, len(rows), skipped, err)
			continue
		}
		want := []Row{{Path: "a.wav", Label: "1", Positive: true, Use: "train"}, {Path: "b,c.wav", Label: "0"}}
		for i := range want {
			if rows[i] != want[i] {
				t.Errorf("%s, row %d: got %+v, want %+v", name, i, rows[i], want[i])
			}
		}
	}
	rows, _, err := Read(strings.NewReader("Path,PHQ-9,Source Repo,Sex\na.wav,12,s,Male\n"), screen.Depression)
	if err != nil || len(rows) != 1 || rows[0].Total != 12 || !rows[0].Positive || rows[0].Source != "s" || rows[0].Metadata.Gender != screen.Male {
		t.Errorf("got %+v and error %v, want the columns in spite of case, hyphens and spaces", rows, err)
	}
	rows, _, err = Read(strings.NewReader("Label,path,label\nwhatever,a.wav,TRUE\n"), screen.Depression)
	if err != nil || len(rows) != 1 || !rows[0].Positive {
		t.Errorf("got %+v and error %v, want the column of exactly the name, and TRUE read", rows, err)
	}
}

// An error about the header shows the one that was found, as far as it fits a screen.
func TestHeaderThatDoesNotFit(t *testing.T) {
	for name, c := range map[string]struct{ table, says string }{
		"no path":          {"File;Class\na;1\n", `no column path; the header found is ["File" "Class"]`},
		"no label":         {"path,class\na,1\n", `no column label or phq_9; the header found is ["path" "class"]`},
		"no header":        {"a.wav,1\nb.wav,0\n", `the header found is ["a.wav" "1"]`},
		"two labels":       {"path,Label,LABEL\na,1,0\n", "several columns are called label"},
		"nothing":          {"", "header: the table is empty"},
		"a mark alone":     {"\ufeff", "header: the table is empty"},
		"a separator":      {"sep=;\n", "header: the table is empty"},
		"a quote too much": {"path,\"label\na,1\n", "header"},
		"a long one":       {strings.Repeat("column,", 900) + "\n", `"colu`},
	} {
		_, _, err := Read(strings.NewReader(c.table), screen.Depression)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 600 {
			t.Errorf("%s: got %.700v, want ErrInvalid that says %q", name, err, c.says)
		}
	}
}

// One row that cannot be read costs that row, wherever it stands, and is named.
func TestOneUnreadableRow(t *testing.T) {
	const head, before, after = "path,label,age\n", "a.wav,1,44\nb.wav,0,\n", "c.wav,1,\n\nd.wav,0,30\n"
	for name, c := range map[string]struct{ row, says string }{
		"a field too much":       {"x.wav,1,44,canary\n", "line 4: 4 fields, want 3 as in the header"},
		"a field too few":        {"x.wav\n", "line 4: 1 fields, want 3"},
		"another label":          {"x.wav,maybe,\n", "line 4: label \"maybe\", want one of negative, 0"},
		"no label":               {"x.wav,,\n", "line 4: label"},
		"no path":                {",1,\n", "line 4: path is empty"},
		"an age in words":        {"x.wav,1,canary\n", "line 4: age: want a whole number"},
		"a quote within":         {"x \"y\".wav,1,\n", "line 4: bare"},
		"a quote that is open":   {"\"x.wav,1,\n", "line 4: "},
		"a quote after a value":  {"x.wav,\"1\" ,\n", "line 4: "},
		"empty lines before it":  {"\n\nx.wav\n", "line 6: 1 fields"},
		"an open quote, 2 lines": {"\n\"x.wav,1,\n", "line 5: "},
	} {
		for place, table := range map[string]string{
			"first": head + "\n\n" + c.row + before + after, // so that the line is the same
			"amid":  head + before + c.row + after,
		} {
			rows, skipped, err := Read(strings.NewReader(table), screen.Depression)
			if err != nil || len(rows) != 4 || len(skipped) != 1 {
				t.Errorf("%s, %s: got %d rows, %v skipped and error %v, want 4 and 1", name, place, len(rows), skipped, err)
				continue
			}
			if text := skipped[0].Error(); !strings.HasPrefix(text, c.says) || strings.Contains(text, "canary") {
				t.Errorf("%s, %s: got %q, want %q", name, place, text, c.says)
			}
		}
		rows, skipped, err := Read(strings.NewReader(head+before+"c.wav,1,\nd.wav,0,30\n"+c.row), screen.Depression)
		if err != nil || len(rows) != 4 || len(skipped) != 1 {
			t.Errorf("%s, at the end: got %d rows, %v skipped and error %v, want 4 and 1", name, len(rows), skipped, err)
		}
	}
	if rows, skipped, err := Read(strings.NewReader("sep=;\n"+"path;label\na;1\nx\nb;0\n"), screen.Depression); err != nil || len(rows) != 2 || len(skipped) != 1 || skipped[0].Line != 4 {
		t.Errorf("got %d rows, %v skipped and error %v, want line 4 of the file named", len(rows), skipped, err)
	}
}

// A table of which more than a tenth cannot be read is refused, as one of another
// task is: figures on the rest would be figures on something else.
func TestTooManyUnreadableRows(t *testing.T) {
	for _, tt := range []struct {
		good, bad int
		ok        bool
	}{{1, 1, true}, {0, 1, false}, {17, 2, false}, {18, 2, true}, {90, 10, true}, {89, 10, false}, {20000, 1000, true}, {20000, 1001, false}} {
		var b strings.Builder
		b.WriteString("path,label\n")
		for i := range tt.good {
			fmt.Fprintf(&b, "%d.wav,%d\n", i, i%2)
		}
		b.WriteString(strings.Repeat("x.wav,maybe\n", tt.bad))
		rows, skipped, err := Read(strings.NewReader(b.String()), screen.Anxiety)
		if tt.ok && (err != nil || len(rows) != tt.good || len(skipped) != tt.bad) {
			t.Errorf("%+v: got %d rows, %d skipped and error %v", tt, len(rows), len(skipped), err)
		}
		if !tt.ok && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "rows cannot be read, the first: line")) {
			t.Errorf("%+v: got %v, want ErrInvalid that names the first", tt, err)
		}
	}
}
