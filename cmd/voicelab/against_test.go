package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
)

// TestEvaluateAgainst compares a model that was trained on the recordings with the
// shipped one, in every form.
func TestEvaluateAgainst(t *testing.T) {
	manifest, dir := labelled(t, 12, "0", "1"), t.TempDir()
	mine, page, scores := filepath.Join(dir, "mine.json"), filepath.Join(dir, "report.html"), filepath.Join(dir, "scores.csv")
	ok(t, "train", "--task", "depression", "--manifest", manifest, "--out", mine, "--name", "mine")
	args := []string{"evaluate", "--task", "depression", "--manifest", manifest, "--model", mine, "--against", "shipped"}
	o := ok(t, append(args, "--report", page, "--scores", scores)...)
	for _, want := range []string{"model     mine", "against   ", "on 12 recordings with a score of both, 6 of them positive", "DeLong", "paired bootstrap", "Brier"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("got\n%s\nwant %q in it", o.stdout, want)
		}
	}
	if b := read(t, page); !strings.Contains(string(b), "<h2>Against ") {
		t.Error("the page has no comparison")
	}
	lines, err := csv.NewReader(strings.NewReader(string(read(t, scores)))).ReadAll()
	if err != nil || len(lines) != 13 || strings.Join(lines[0], ",") != "path,label,score,against" {
		t.Fatalf("got %v, %v, want the scores of both models", lines, err)
	}

	type report struct {
		Against struct {
			Figures []struct {
				Name                     string
				Value, Other, Difference float64
			}
		}
		Figures []struct {
			Name  string
			Value float64
		}
	}
	run := func(args ...string) (r report) {
		if err := json.Unmarshal([]byte(ok(t, args...).stdout), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	// The other way about, the differences change their sign, and the second model
	// has the figures that it has alone.
	there := run(append(args, "--json")...)
	back := run("evaluate", "--task", "depression", "--manifest", manifest, "--against", mine, "--json")
	for i, f := range there.Against.Figures {
		b := back.Against.Figures[i]
		if f.Difference != -b.Difference || f.Other != b.Value || f.Name != b.Name {
			t.Errorf("got %+v and the other way about %+v", f, b)
		}
	}
	if got, want := there.Against.Figures[0].Other, back.Figures[1].Value; got != want || back.Figures[1].Name != "auc" {
		t.Errorf("got AUC %v of the shipped model, want %v", got, want)
	}
}

func TestEvaluateAgainstErrors(t *testing.T) {
	const model = "../../models/shipped/files/depression.json"
	dir := t.TempDir()
	abs, err := filepath.Abs(short)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	both := file("both.csv", "path,label\n"+abs+",0\n"+abs+",1\n")
	one := file("one.csv", "path,label\n"+abs+",1\n"+abs+",1\n")
	anxiety := filepath.Join(dir, "anxiety.json")
	ok(t, "train", "--task", "anxiety", "--manifest", labelled(t, 8, "0", "1"), "--out", anxiety)
	for name, c := range map[string]struct {
		manifest, against, want string
	}{
		"a model of another category": {both, anxiety, "is for [anxiety], not for depression"},
		"no such model":               {both, filepath.Join(dir, "none.json"), "no such file"},
		"not a model":                 {both, both, "--against: model"},
		"one class":                   {one, "shipped", "all rows are of one class"},
	} {
		o := cli(t, "evaluate", "--task", "depression", "--manifest", c.manifest, "--model", model, "--against", c.against)
		if o.code != command.ExitError || o.stdout != "" || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: got %+v, want an error that says %q", name, o, c.want)
		}
	}
	// The gate may leave no pair. The scores, which took the time, are written.
	scores := filepath.Join(dir, "scores.csv")
	o := cli(t, "evaluate", "--task", "depression", "--manifest", labelled(t, 2, "0", "1"), "--model", model, "--against", "shipped", "--gate", "--scores", scores)
	if o.code != command.ExitError || !strings.Contains(o.stderr, "no recording has a score of both") || !strings.Contains(string(read(t, scores)), "against") {
		t.Errorf("no pairs: got %+v, want an error, and the scores", o)
	}
	o = cli(t, "evaluate", "--task", "depression", "--manifest", both, "--against", "shipped")
	if o.code != command.ExitUsage || !strings.Contains(o.stderr, "with itself") {
		t.Errorf("the shipped model on both sides: got %+v, want a usage error", o)
	}
	o = cli(t, "evaluate", "--task", "depression", "--corpus", "bridge2ai-free", "--root", voices(t, 1), "--model", model, "--against", "shipped")
	if o.code != command.ExitError || !strings.Contains(o.stderr, "all 1 sessions are of one class") {
		t.Errorf("a corpus of one class: got %+v, want an error", o)
	}
	o = cli(t, "evaluate", "--task", "deepfake", "--manifest", both, "--nested", "--against", "shipped")
	if o.code != command.ExitUsage || !strings.Contains(o.stderr, "--against does not go with --nested") {
		t.Errorf("nested: got %+v, want a usage error", o)
	}
}
