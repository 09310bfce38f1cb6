package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
)

// TestReport checks the page, who can read it, and that no file is replaced.
func TestReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	ok(t, "report", "--output", path, "--speech", "free", short)
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>" + filepath.Base(short), screen.Disclaimer, "No score: 30 s of speech are needed", "would be synthetic", "<svg"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("want %q in the page", want)
		}
	}
	if info, err := os.Stat(path); err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o600) {
		t.Errorf("got %v, %v, want a file that its owner alone can read", info, err)
	}
	if o := cli(t, "report", "-o", path, short); o.code != command.ExitError || !strings.Contains(o.stderr, "exists") {
		t.Errorf("got %+v, want an error about the file that is there", o)
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != string(page) {
		t.Errorf("the page was changed: %v", err)
	}
	if o := ok(t, "report", "--title", "Visit 3", short); !strings.Contains(o.stdout, "<title>Visit 3") {
		t.Error("standard output has no page of that title")
	}
}

func TestReportErrors(t *testing.T) {
	stereo := writeTone(t, 1, 44100, 2, 200, 0.5)
	path := filepath.Join(t.TempDir(), "none", "report.html")
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no file":          {[]string{}, command.ExitUsage, "arg"},
		"two files":        {[]string{short, short}, command.ExitUsage, "arg"},
		"a missing file":   {[]string{"none.wav"}, command.ExitError, "no such file"},
		"two channels":     {[]string{stereo}, command.ExitError, "--channel"},
		"a bad channel":    {[]string{"--channel", "-1", short}, command.ExitUsage, "--channel"},
		"a missing folder": {[]string{"-o", path, short}, command.ExitError, "no such file"},
	} {
		if o := cli(t, append([]string{"report"}, c.args...)...); o.code != c.code || !strings.Contains(o.stderr, c.says) || o.stdout != "" {
			t.Errorf("%s: got %+v, want code %d and %q", name, o, c.code, c.says)
		}
	}
}
