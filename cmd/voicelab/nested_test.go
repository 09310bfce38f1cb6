package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// --through needs --nested, and reads the recording of each row.
func TestThroughRefusesWhatHasNoMeaning(t *testing.T) {
	rows := labelled(t, 4, "bonafide", "spoof")
	o := cli(t, "evaluate", "--task", "deepfake", "--manifest", rows, "--through", t.TempDir())
	if o.code == 0 || !strings.Contains(o.stderr, "--through is for --nested") {
		t.Errorf("got code %d and %q", o.code, o.stderr)
	}
	absolute := filepath.Join(t.TempDir(), "absolute.csv")
	clip := filepath.Join(filepath.Dir(rows), "clips", "00.wav")
	if err := os.WriteFile(absolute, []byte("path,label\n"+clip+",bonafide\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o = cli(t, "evaluate", "--task", "deepfake", "--nested", "--manifest", absolute, "--through", t.TempDir())
	if o.code == 0 || !strings.Contains(o.stderr, "absolute path "+clip) {
		t.Errorf("an absolute path: got code %d and %q", o.code, o.stderr)
	}
}

func TestNestedRefusesWhatHasNoMeaning(t *testing.T) {
	rows := labelled(t, 4, "bonafide", "spoof")
	out := filepath.Join(t.TempDir(), "m.json")
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"another task", "--nested is for --task deepfake", []string{"train", "--task", "depression", "--manifest", rows, "--out", out}},
		{"another task to evaluate", "--nested is for --task deepfake", []string{"evaluate", "--task", "anxiety", "--manifest", rows}},
		{"a model", "--model does not go with --nested", []string{"evaluate", "--task", "deepfake", "--manifest", rows, "--model", out}},
		{"a threshold", "--threshold does not go with --nested", []string{"evaluate", "--task", "deepfake", "--manifest", rows, "--threshold", "0.4"}},
		{"few rows", "nested cross-validation needs 100 training rows of each class and 20 sources, got 2, 2 and 4", []string{"evaluate", "--task", "deepfake", "--manifest", rows}},
		{"few rows to train", "nested cross-validation needs 100 training rows", []string{"train", "--task", "deepfake", "--manifest", rows, "--out", out}},
	} {
		o := cli(t, append(c.args, "--nested")...)
		if o.code == 0 || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: got code %d and %q, want an error with %q", c.name, o.code, o.stderr, c.want)
		}
	}
}
