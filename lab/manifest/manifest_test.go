package manifest

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/screen"
)

// Every spelling of the classes is read, a byte order mark passed over, and a
// row that is related to no other is a cluster of its own.
func TestManifestLabels(t *testing.T) {
	const table = "\ufeffnote,path,label,source_repo,use\n" +
		"\"a, b\",x.wav,%neg,s1,train\n" +
		",y.wav,%pos,s2,validate\n" +
		",z.wav,1,,\n" +
		",w.wav,0,,\n"
	for _, tt := range []struct {
		task               screen.Category
		negative, positive string
	}{
		{screen.Deepfake, "bonafide", "spoof"},
		{screen.Depression, "false", "true"},
		{screen.Depression, "negative", "positive"},
		{screen.Anxiety, "0", "1"},
	} {
		rows, _, err := Read(strings.NewReader(strings.NewReplacer("%neg", tt.negative, "%pos", tt.positive).Replace(table)), tt.task)
		if err != nil {
			t.Fatalf("%v: %v", tt, err)
		}
		want := []Row{
			{Path: "x.wav", Label: tt.negative, Source: "s1", Use: "train"},
			{Path: "y.wav", Label: tt.positive, Positive: true, Source: "s2", Use: "validate"},
			{Path: "z.wav", Label: "1", Positive: true},
			{Path: "w.wav", Label: "0"},
		}
		if len(rows) != len(want) {
			t.Fatalf("%v: got %d rows, want %d", tt, len(rows), len(want))
		}
		for i := range want {
			if rows[i] != want[i] {
				t.Errorf("%v, row %d: got %+v, want %+v", tt, i, rows[i], want[i])
			}
		}
		if rows[2].Cluster() == rows[3].Cluster() || rows[0].Cluster() == rows[1].Cluster() {
			t.Error("rows that have nothing in common are in one cluster")
		}
	}
}

// What is said about the person, and the questionnaire's sum in the place of a
// label.
func TestManifestColumns(t *testing.T) {
	rows, _, err := Read(strings.NewReader("path,phq_9,gad_7,sex,age,race,ethnicity,language,kind\n"+
		"a.wav,10,3,female,44,White,,en,\n"+
		"b.wav,9,,,,,,,\n"), screen.Depression)
	if err != nil {
		t.Fatal(err)
	}
	want := []Row{
		{Path: "a.wav", Label: "positive", Positive: true, Total: 10, HasTotal: true, Language: "en", Metadata: screen.Metadata{Age: 44, Gender: screen.Female, Race: screen.White}},
		{Path: "b.wav", Label: "negative", Total: 9, HasTotal: true},
	}
	for i := range want {
		if rows[i] != want[i] {
			t.Errorf("row %d: got %+v, want %+v", i, rows[i], want[i])
		}
	}
	for name, table := range map[string]string{
		"sum too large":             "path,phq_9\na.wav,28\n",
		"sum is no number":          "path,phq_9\na.wav,ten\n",
		"label and sum disagree":    "path,label,phq_9\na.wav,1,9\n",
		"neither label nor sum":     "path,label,phq_9\na.wav,,\n",
		"sum of the other task":     "path,gad_7\na.wav,9\n",
		"age of a tree":             "path,label,age\na.wav,1,400\n",
		"gender that is not listed": "path,label,gender\na.wav,1,canary\n",
	} {
		_, _, err := Read(strings.NewReader(table), screen.Depression)
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the error tells the value: %v", name, err)
		}
	}
}

// Where no source and no system is known, a person is what recordings share.
func TestClusterOfAPerson(t *testing.T) {
	a, b, c := Row{Path: "a", Speaker: "s", Label: "1"}, Row{Path: "b", Speaker: "s", Label: "1"}, Row{Path: "c", Speaker: "unknown", Label: "1"}
	if a.Cluster() != b.Cluster() || a.Person() != "s" {
		t.Errorf("two recordings of one person are in %q and %q", a.Cluster(), b.Cluster())
	}
	if d := (Row{Path: "d", Speaker: "unknown", Label: "1"}); c.Cluster() == d.Cluster() || c.Person() != "" {
		t.Errorf("two unknown people are both in %q", c.Cluster())
	}
}

func FuzzReadManifest(f *testing.F) {
	f.Add("path,label\na.wav,1\n")
	f.Add("\ufeffnote,path,label,use\n\"a, \"\"b\"\"\",x.wav,false,train\n")
	f.Add("path,label,label\na.wav,1,0\n")
	f.Add("sep=;\nPath;LABEL\na.wav;1\n\n\"b.wav;0\nc.wav;\"\"1\n")
	f.Add("path\tlabel\na.wav\t1\n\n\n\"\"\"\nb.wav\t0\n")
	f.Fuzz(func(t *testing.T, table string) {
		rows, skipped, err := Read(strings.NewReader(table), screen.Anxiety)
		if (err == nil) == (len(rows) == 0) {
			t.Fatalf("got %d rows, %v, want one of them", len(rows), err)
		}
		if n := len(skipped); n > 1 && 9*n > len(rows) {
			t.Fatalf("got %d rows skipped beside %d", n, len(rows))
		}
		for _, r := range rows {
			if r.Path == "" || r.Label == "" {
				t.Fatalf("got %+v", r)
			}
		}
	})
}

// TestLargeManifests reads manifests of a megabyte of as many rows, columns or
// lines as it holds.
func TestLargeManifests(t *testing.T) {
	const size = 1 << 20
	for name, c := range map[string]struct {
		head, unit string
		ok         bool
	}{
		"the shortest rows": {"path,label\n", "a,0\n", true},
		"all columns":       {"path,label,use,source_repo,system,speaker,licence,kind,language,gender,age,phq_9\n", "a,0,a,a,a,a,a,a,a,,,\n", true},
		"empty columns":     {"path,label" + strings.Repeat(",", 1000) + "\n", "a,0" + strings.Repeat(",", 1000) + "\n", true},
		"too many columns":  {"path,label", ",a", false},
		"a long row":        {"path,label\n", "a", false},
		"empty lines":       {"path,label\n", "\n", false},
		"a long label":      {"path,label\na,", "\x01", false},
		"escapes":           {"path,label\n\"", `""`, false},
		"one long label":    {"path,label\na,0\na,", "\x01", true}, // is skipped
		"escapes in a row":  {"path,label\na,0\n\"", `""`, true},   // as is this one
		"odd quotes":        {"path,label\na,0\n", "\"\"\"\n", false},
		"quotes and lines":  {"path,label\na,0\n", "\"\n", false},
	} {
		table := c.head + strings.Repeat(c.unit, (size-len(c.head))/len(c.unit))
		rows, skipped, err := Read(strings.NewReader(table), screen.Depression)
		if len(skipped) > 1 || len(skipped) == 1 && len(skipped[0].Error()) > 400 {
			t.Errorf("%s: got %d rows skipped, %.200v, want at most one and a short error", name, len(skipped), skipped[0])
		}
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %d rows, %.200v, read is to be %v", name, len(rows), err, c.ok)
		}
	}
	endless := io.MultiReader(strings.NewReader("path,label\n"), bufio.NewReaderSize(rowsForEver{}, 1<<16))
	if _, _, err := Read(endless, screen.Depression); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "MiB") {
		t.Errorf("a table without end: got %v, want ErrInvalid about its size", err)
	}
}

// rowsForEver reads as rows without end.
type rowsForEver struct{}

var longRow = strings.Repeat("a", 4000) + ",0\n"

func (rowsForEver) Read(b []byte) (int, error) { return copy(b[:len(longRow)], longRow), nil }

// A length or a bandwidth that is no number leaves the row in.
func TestReadAmounts(t *testing.T) {
	for text, want := range map[string]float64{"3.5": 3.5, "": 0, "0": 0, "-2": 0, "NaN": 0, "+Inf": 0, "1e999": 0, "n/a": 0} {
		rows, skipped, err := Read(strings.NewReader("path,label,duration_s,bandwidth_hz\na.wav,1,"+text+","+text+"\n"), screen.Deepfake)
		if err != nil || len(skipped) > 0 || len(rows) != 1 || rows[0].Duration != want || rows[0].Bandwidth != want {
			t.Errorf("%q: got rows %+v, skipped %v and error %v, want one with %v", text, rows, skipped, err, want)
		}
	}
}
