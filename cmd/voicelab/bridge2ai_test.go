package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// voices writes made-up files in the layout of Bridge2AI-Voice: n participants, who
// speak freely for six seconds, at two syllables a second if their PHQ-9 is 18, and at
// four if it is 0.
func voices(t *testing.T, n int) string {
	t.Helper()
	root := t.TempDir()
	table := "participant_id\tsession_id\tno_interest\tfeeling_depressed\ttrouble_sleeping\tno_energy\tno_appetite\tfeeling_bad_self\ttrouble_concentrate\tmove_speak_slow\tthoughts_death\n"
	people := "participant_id\tage\tsex_at_birth\n"
	for i := range n {
		frequency, rate := "Not at all", 4.0
		if i%2 == 1 {
			frequency, rate = "More than half the days", 2
		}
		table += fmt.Sprintf("%03d\ts%d%s\n", i, i, strings.Repeat("\t"+frequency, 9))
		people += fmt.Sprintf("%03d\t%d\t%s\n", i, 30+i, []string{"Female", "Male"}[i/2%2])
		dir := filepath.Join(root, fmt.Sprintf("sub-%03d/ses-s%d/audio", i, i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		x := babble(6, func(float64) float64 { return rate + 0.1*float64(i%5) }, 110+7*(i%11))
		write(t, filepath.Join(dir, fmt.Sprintf("sub-%03d_ses-s%d_task-free-speech-1.wav", i, i)), x)
	}
	for name, text := range map[string]string{"questionnaire/phq9.tsv": table, "demographics/demographics.tsv": people} {
		path := filepath.Join(root, "phenotype", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, []byte(text))
	}
	return root
}

// TestBridge2AIInOneCommand trains and evaluates on made-up files, with a command each.
func TestBridge2AIInOneCommand(t *testing.T) {
	root, model := voices(t, 20), filepath.Join(t.TempDir(), "model.json")
	o := ok(t, "train", "--task", "depression", "--corpus", "bridge2ai-free", "--root", root, "--out", model)
	if !strings.Contains(o.stdout, "Bridge2AI-Voice, free speech: 20 sessions, 0 left out; positive is PHQ-9 of 10 or more") {
		t.Errorf("got\n%s", o.stdout)
	}
	if v := figure(t, o.stdout, "voice, regression +([0-9.]+) "); v < 0.9 {
		t.Errorf("got AUC %v for voices of half the speed, want more than 0.9\n%s", v, o.stdout)
	}
	o = ok(t, "evaluate", "--task", "depression", "--corpus", "bridge2ai-free", "--root", root, "--model", model, "--against", "shipped")
	if !strings.Contains(o.stdout, "rows      20, 10 of them positive") || !strings.Contains(o.stdout, "on 20 recordings with a score of both") {
		t.Errorf("got\n%s", o.stdout)
	}
}
