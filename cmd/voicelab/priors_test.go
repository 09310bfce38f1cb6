package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
)

// TestPriorsWritesTheShippedFiles writes the shipped models and cards into a
// copy that lacks the models and the tables: the result is the stored bytes.
func TestPriorsWritesTheShippedFiles(t *testing.T) {
	const shipped = "../../models/shipped"
	names := []string{"files/depression.json", "files/anxiety.json", "DEPRESSION.md", "ANXIETY.md"}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "files"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range names[2:] {
		var kept []string
		for line := range strings.Lines(string(read(t, filepath.Join(shipped, name)))) {
			if !strings.HasPrefix(line, "| speech_rate") {
				kept = append(kept, line)
			}
		}
		write(t, filepath.Join(dir, name), []byte(strings.Join(kept, "")))
	}
	if o := ok(t, "priors", "--dir", dir); strings.Count(o.stdout, ": written\n") != 4 {
		t.Errorf("got %q, want four files written", o.stdout)
	}
	for _, name := range names {
		if !bytes.Equal(read(t, filepath.Join(dir, name)), read(t, filepath.Join(shipped, name))) {
			t.Errorf("%s: got other bytes than the stored ones; run voicelab priors", name)
		}
	}
	if o := ok(t, "priors", "--dir", dir, "--norms", "../../lab/prior/norms.json"); strings.Count(o.stdout, ": unchanged\n") != 4 {
		t.Errorf("got %q, want nothing changed by the same norms", o.stdout)
	}
	bad := filepath.Join(dir, "norms.json")
	write(t, bad, []byte(`{"features": [], "colour": 1}`))
	if o := cli(t, "priors", "--dir", dir, "--norms", bad); o.code != command.ExitError || !strings.Contains(o.stderr, "colour") {
		t.Errorf("unknown field: got %+v, want an error about it", o)
	}
	if o := cli(t, "priors", "--dir", filepath.Join(dir, "files")); o.code != command.ExitError || !strings.Contains(o.stderr, "card") {
		t.Errorf("no cards: got %+v, want an error about a card", o)
	}
}

// TestNormsWantsVoices measures too few voices, and more rows than there are.
func TestNormsWantsVoices(t *testing.T) {
	dir := t.TempDir()
	file, err := filepath.Abs(short)
	if err != nil {
		t.Fatal(err)
	}
	manifest, out := filepath.Join(dir, "manifest.csv"), filepath.Join(dir, "norms.json")
	write(t, manifest, []byte("path,label,use,speaker\n"+file+",0,train,a\n"+file+",1,train,b\n"))
	for args, want := range map[string]string{
		"--rows 3": "has 2 rows",
		"--rows 1": "does not tell two sexes apart",
	} {
		o := cli(t, append([]string{"norms", "--manifest", manifest, "--out", out}, strings.Fields(args)...)...)
		if o.code != command.ExitError || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: got %+v, want an error that says %q", args, o, want)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file of norms was written")
	}
}
