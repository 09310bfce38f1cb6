package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/internal/command"
)

const browser = "../../testdata/short_en.webm"

// A recording of a browser is measured under any name, alone, from standard input and in a folder.
func TestOtherFormatsAreReadByTheirContent(t *testing.T) {
	file := read(t, browser)
	dir := t.TempDir()
	renamed := filepath.Join(dir, "talk.wav")
	write(t, renamed, file)
	write(t, filepath.Join(dir, "b.WEBM"), file)
	write(t, filepath.Join(dir, "c.aac"), file) // a name of what is left out
	lines := func(s string) []string { return strings.Split(strings.TrimSpace(s), "\r\n") }
	want := ok(t, "features", "--csv", browser).stdout
	rows := lines(want)
	if len(rows) != 2 {
		t.Fatalf("got %q, want the names and the features", want)
	}
	measures := func(row string) string { _, rest, _ := strings.Cut(row, ","); return rest }
	if got := ok(t, "features", "--csv", renamed).stdout; measures(lines(got)[1]) != measures(rows[1]) {
		t.Errorf("renamed: got %q, want the measures of %q", got, want)
	}
	o := ok(t, "features", "--csv", dir)
	if got := lines(o.stdout); len(got) != 3 || measures(got[1]) != measures(rows[1]) || measures(got[2]) != measures(rows[1]) {
		t.Errorf("folder: got %q, want two recordings", o.stdout)
	}
	if !strings.Contains(o.stderr, "1 recording (.aac)") {
		t.Errorf("folder: got %q, want what was left out", o.stderr)
	}
	if got := ok(t, "analyze", browser).stdout; !strings.Contains(got, "encoded with loss") {
		t.Errorf("analyze: got %q, want the caution", got)
	}
}

func TestAcceptIsOneOfItsValues(t *testing.T) {
	for _, value := range []string{"mp3", "WAV", "ANY", "wav,any"} {
		if o := cli(t, "serve", "--dev", "--accept", value); o.code != command.ExitUsage || !strings.Contains(o.stderr, "--accept is") || !strings.Contains(o.stderr, "want wav or any") {
			t.Errorf("--accept %s: got %+v, want a usage error", value, o)
		}
	}
	for value, want := range map[string]bool{acceptWAV: false, acceptAny: true} {
		if got := (&limitFlags{accept: value}).handler(&httpadapter.Options{}).Limits.AnyFormat; got != want {
			t.Errorf("--accept %s: got AnyFormat %t", value, got)
		}
	}
	if o := ok(t, "__complete", "serve", "--accept", "a"); !strings.Contains(o.stdout, "any") {
		t.Errorf("got %q, want the values completed", o.stdout)
	}
}
