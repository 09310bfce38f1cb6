package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
)

// A manifest as a spreadsheet writes it, of which one row is wrong, gives what the
// plain one without that row gives, and the row is named.
func TestManifestOfASpreadsheet(t *testing.T) {
	plain := labelled(t, 16, "0", "1")
	text := strings.ReplaceAll(string(read(t, plain)), "\n\"a, b\",", "\na;")
	text = strings.NewReplacer(",", ";", "note", "Note", "path", " Path", "label", "LABEL", "\n", "\r\n").Replace(text)
	sheet := filepath.Join(filepath.Dir(plain), "sheet.csv")
	write(t, sheet, []byte("\ufeff"+text+"a;clips/none.wav;canary;1\r\n"))
	dir := t.TempDir()
	for _, line := range []string{
		"evaluate --task depression --manifest M --scores OUT",
		"train --task depression --manifest M --out OUT",
	} {
		outputs := map[string]outcome{}
		files := map[string]string{}
		for _, m := range []string{plain, sheet} {
			out := filepath.Join(dir, "out")
			args := strings.NewReplacer(" M ", " "+m+" ", "OUT", out).Replace(line)
			outputs[m], files[m] = ok(t, strings.Fields(args)...), string(read(t, out))
			if err := os.Remove(out); err != nil {
				t.Fatal(err)
			}
		}
		if files[plain] != files[sheet] || outputs[plain].stdout != outputs[sheet].stdout {
			t.Errorf("%s: got\n%s\nwant that of the plain manifest\n%s", line, outputs[sheet].stdout, outputs[plain].stdout)
		}
		for _, want := range []string{"sheet.csv: line 18: 4 fields, want 3", "sheet.csv: 1 row left out, 16 read"} {
			if !strings.Contains(outputs[sheet].stderr, want) || strings.Contains(outputs[sheet].stderr, "canary") {
				t.Errorf("%s: got %q, want %q in it and no value", line, outputs[sheet].stderr, want)
			}
		}
		if strings.Contains(outputs[plain].stderr, "left out") {
			t.Errorf("%s: got %q, want no row left out of the plain manifest", line, outputs[plain].stderr)
		}
	}
	wrong := filepath.Join(dir, "wrong.csv")
	write(t, wrong, []byte("File;Class\na.wav;1\n"))
	o := cli(t, "evaluate", "--task", "depression", "--manifest", wrong)
	if o.code != command.ExitError || !strings.Contains(o.stderr, `the header found is ["File" "Class"]`) {
		t.Errorf("got %+v, want the header that was found", o)
	}
}

// Scores that a spreadsheet wrote are read; an unreadable one is an error.
func TestScoresOfASpreadsheet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scores.csv")
	write(t, path, []byte("Path;Label;Score;Group\na;1;0.75;p\nb;0;0.25;q\n"))
	s, err := readScores(path, screen.Depression)
	if err != nil || len(s.score) != 2 || s.score[0] != 0.75 || !s.positive[0] || s.group[1] != "q" {
		t.Errorf("got %+v and error %v, want both rows", s, err)
	}
	for text, says := range map[string]string{
		"path;class\na;1\n":                     `the header found is ["path" "class"]`,
		"label;score\n1;0.5\n0\n":               "line 3: 1 fields",
		"label;score\n1;0,5\n":                  "line 2: score",
		"Label;LABEL;score\n1;0;0.5\n":          "several columns are called label",
		"path,label,score\na,1,0.5\nb,0,0.5,\n": "line 3: 4 fields",
	} {
		write(t, path, []byte(text))
		if _, err := readScores(path, screen.Depression); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, want an error that says %q", text, err, says)
		}
	}
}
