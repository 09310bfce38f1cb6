package manifest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/screen"
)

func TestFoldsShareNothing(t *testing.T) {
	var rows []Row
	for i := range 200 {
		rows = append(rows, Row{
			Path: fmt.Sprint(i), Source: fmt.Sprint("source", i%17), System: fmt.Sprint("system", i%23), Speaker: fmt.Sprint("speaker", i%41),
			Positive: i%2 == 0,
		})
		if i%5 == 0 {
			rows[i].System, rows[i].Speaker = "-", "unknown-p1"
		}
	}
	folds := Folds(rows, 6, 1)
	if len(folds) != 6 {
		t.Fatalf("got %d folds, want 6", len(folds))
	}
	tested := map[int]int{}
	for _, f := range folds {
		for _, i := range f.Test {
			tested[i]++
			for _, j := range f.Train {
				a, b := rows[i], rows[j]
				if a.Source == b.Source || a.System == b.System && a.System != "-" || a.Speaker == b.Speaker && a.Speaker != "unknown-p1" {
					t.Fatalf("%+v is tested by what was trained on %+v", a, b)
				}
			}
		}
		if n := len(f.Test); n < 20 || n > 60 {
			t.Errorf("got a fold of %d rows, want about 33", n)
		}
	}
	for i := range rows {
		if tested[i] != 1 {
			t.Errorf("row %d is tested %d times", i, tested[i])
		}
	}
	if again := Folds(rows, 6, 1); !reflect.DeepEqual(folds, again) {
		t.Error("got other folds from the same seed")
	}
}

func TestFoldsOfUnknownSources(t *testing.T) {
	rows := []Row{{Path: "a"}, {Path: "b"}, {Path: "c"}}
	folds := Folds(rows, 10, 1)
	if len(folds) != 3 {
		t.Fatalf("got %d folds, want 3: a row of unknown source is a source of its own", len(folds))
	}
	for _, f := range folds {
		if len(f.Test) != 1 || len(f.Train) != 2 {
			t.Errorf("got %+v, want one row tested and two trained on", f)
		}
	}
}

// TestFoldsWithoutSources deals out rows whose source nobody knows: those of a
// speaker, or else of a system, are tested together, and nearly all others are
// left to train on.
func TestFoldsWithoutSources(t *testing.T) {
	var speakers, systems []Row
	for i := range 1000 {
		speakers = append(speakers, Row{Path: fmt.Sprint(i), Speaker: fmt.Sprint("speaker ", i%50), Positive: i%2 == 0})
		row := Row{Path: fmt.Sprint(i), System: "-"}
		if i%2 == 0 {
			row.System, row.Positive = fmt.Sprint("system ", i/2%5), true
		}
		systems = append(systems, row)
	}
	for name, c := range map[string]struct {
		rows  []Row
		least int // rows to train on
	}{
		"50 speakers":                   {speakers, 900},
		"five systems and what is real": {systems, 800},
	} {
		folds := Folds(c.rows, 10, 1)
		if len(folds) != 10 {
			t.Errorf("%s: got %d folds, want 10", name, len(folds))
		}
		tested := 0
		for _, f := range folds {
			tested += len(f.Test)
			if len(f.Train) < c.least || len(f.Train)+len(f.Test) != len(c.rows) {
				t.Errorf("%s: got %d rows to train on and %d to test, want at least %d and the others", name, len(f.Train), len(f.Test), c.least)
			}
			for _, i := range f.Test {
				for _, j := range f.Train {
					a, b := c.rows[i], c.rows[j]
					if a.Speaker != "" && a.Speaker == b.Speaker || a.System == b.System && Known(a.System) {
						t.Fatalf("%s: %+v is tested by what was trained on %+v", name, a, b)
					}
				}
			}
		}
		if tested != len(c.rows) {
			t.Errorf("%s: %d rows are tested, want each once", name, tested)
		}
	}
}

func TestRead(t *testing.T) {
	const good = "label,colour,path,use,source_repo,system,speaker,licence\nspoof,red,a.wav,train,s/r,HiFi,LJ,\"MIT, or so\"\nbonafide,,b.wav,validate,,,,\n"
	rows, skipped, err := Read(strings.NewReader(good), screen.Deepfake)
	if err != nil || len(skipped) > 0 {
		t.Fatal(err)
	}
	want := []Row{
		{Path: "a.wav", Label: "spoof", Positive: true, Use: "train", Source: "s/r", System: "HiFi", Speaker: "LJ", Licence: "MIT, or so"},
		{Path: "b.wav", Label: "bonafide", Use: "validate"},
	}
	if !reflect.DeepEqual(rows, want) {
		t.Errorf("got %+v, want %+v", rows, want)
	}
	rows, _, err = Read(strings.NewReader("path,label\na.wav,positive\nb.wav,negative\n"), screen.Depression)
	if err != nil || len(rows) != 2 || !rows[0].Positive || rows[1].Positive {
		t.Errorf("got %+v, %v", rows, err)
	}
	for name, c := range map[string]struct{ text, says string }{
		"empty":        {"", "header"},
		"no path":      {"file,label\na,spoof\n", "path"},
		"no label":     {"path,class\na,spoof\n", "label"},
		"no rows":      {"path,label\n", "no rows"},
		"empty path":   {"path,label\n,spoof\n", "line 2"},
		"other labels": {"path,label\na,spoof\nb,fake\nc,real\n", "2 of 3 rows cannot be read, the first: line 3"},
		"ragged":       {"path,label\na,spoof,x\n", "line 2"},
	} {
		_, _, err := Read(strings.NewReader(c.text), screen.Deepfake)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want ErrInvalid that says %q", name, err, c.says)
		}
	}
	if _, _, err := Read(strings.NewReader(good), 9); !errors.Is(err, ErrInvalid) {
		t.Errorf("unknown task: got %v, want ErrInvalid", err)
	}
}
