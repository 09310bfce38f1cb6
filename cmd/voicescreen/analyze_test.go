package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
)

// analysis is what a program reads of a line of "analyze --json".
type analysis struct {
	File      string              `json:"file"`
	Error     string              `json:"error"`
	Duration  float64             `json:"duration_s"`
	Speech    float64             `json:"speech_s"`
	Rate      int                 `json:"sample_rate_hz"`
	Truncated bool                `json:"truncated"`
	Quality   map[string]*float64 `json:"quality"`
	Scores    []screen.Score      `json:"scores"`
	Failures  map[string]struct {
		Code string `json:"error"`
	} `json:"failures"`
	Features   map[string]*float64 `json:"features"`
	Disclaimer string              `json:"disclaimer"`
}

func parseLines(t *testing.T, out string) []analysis {
	t.Helper()
	var all []analysis
	for line := range strings.Lines(out) {
		var a analysis
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, a)
	}
	return all
}

// analyses is what "analyze --json" prints of two recordings. The program runs once.
var analyses = sync.OnceValues(func() (stdout []byte, err error) {
	return exec.Command(built, "analyze", "--json", interview, short).Output()
})

// analyzed returns the two lines of analyses.
func analyzed(t *testing.T) []analysis {
	t.Helper()
	stdout, err := analyses()
	if err != nil {
		t.Fatal(err)
	}
	return parseLines(t, string(stdout))
}

func TestAnalyzeJSON(t *testing.T) {
	all := analyzed(t)
	if len(all) != 2 || all[0].File != interview || all[1].File != short {
		t.Fatalf("got %d lines, want one for each file in order", len(all))
	}
	a := all[0]
	if a.Rate != 44100 || a.Duration < 55 || a.Duration > 56 || a.Speech < 33 || a.Speech > a.Duration || a.Disclaimer == "" || a.Truncated {
		t.Errorf("got %+v, want the 55.3 s at 44.1 kHz with at least 33 s of speech", a)
	}
	want := []screen.Category{screen.Depression, screen.Anxiety, screen.Deepfake}
	if len(a.Scores) != len(want) {
		t.Fatalf("got %d scores, want %d", len(a.Scores), len(want))
	}
	for i, s := range a.Scores {
		if s.Category != want[i] || !(s.Low <= s.Probability && s.Probability <= s.High) || len(s.Contributions) == 0 {
			t.Errorf("score %d: got %+v, want one of %v", i, s, want[i])
		}
	}
	b := all[1]
	if len(b.Scores) != 1 || b.Scores[0].Category != screen.Deepfake ||
		b.Failures["depression"].Code != "audio_length_error" || b.Failures["anxiety"].Code != "audio_length_error" {
		t.Errorf("short recording: got scores %v, failures %v, want only deepfake", b.Scores, b.Failures)
	}
}

func TestAnalyzeForPeople(t *testing.T) {
	o := program(t, "analyze", interview)
	for _, want := range []string{interview, "depression", "anxiety", "deepfake", "of 100", "weighs most", "signal to noise", screen.Disclaimer} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("got\n%s\nwant %q in it", o.stdout, want)
		}
	}
	if o.code != 0 || o.stderr != "" {
		t.Errorf("got code %d and standard error %q, want none", o.code, o.stderr)
	}
	for _, want := range []string{"people who sound like this would score 10 or more on the PHQ-9; in this population 8 of 100 do", "than usual ("} {
		if !strings.Contains(o.stdout, want) || strings.Contains(o.stdout, " SD ") {
			t.Errorf("got\n%s\nwant %q in it, and no numbers of measures", o.stdout, want)
		}
	}
	if all := ok(t, "analyze", "--verbose", short).stdout; !strings.Contains(all, " SD ") || !strings.Contains(all, "thresholds") {
		t.Errorf("--verbose: got\n%s\nwant the numbers too", all)
	}
	if o := cli(t, "analyze", "--verbose", "--json", interview); o.code != command.ExitUsage || !strings.Contains(o.stderr, "--verbose") {
		t.Errorf("--verbose --json: got %+v, want a usage error", o)
	}
	o = ok(t, "analyze", short)
	for _, part := range []string{"no score: 30 s of speech are needed", "s; 60 to 90 s are recommended\n"} {
		if n := strings.Count(o.stdout, part); n != 2 {
			t.Errorf("got\n%s\nwant %q twice", o.stdout, part)
		}
	}
}

func TestAnalyzeTruncated(t *testing.T) {
	whole, err := os.ReadFile(short)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.wav")
	if err := os.WriteFile(path, whole[:len(whole)-101], 0o600); err != nil {
		t.Fatal(err)
	}
	o := ok(t, "analyze", "--json", path)
	if a := parseLines(t, o.stdout)[0]; !a.Truncated || len(a.Scores) != 1 || !strings.Contains(o.stderr, "cut short") {
		t.Errorf("got %+v and %q, want a score and a warning", a, o.stderr)
	}
}

func TestAnalyzeErrors(t *testing.T) {
	stereo := writeTone(t, 1, 44100, 2, 200, 0.5)
	text := filepath.Join(t.TempDir(), "text.wav")
	if err := os.WriteFile(text, []byte("this is no sound"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := cli(t, "analyze", "--json", stereo, text, "none.wav", short)
	all := parseLines(t, o.stdout)
	if o.code != command.ExitError || len(all) != 4 {
		t.Fatalf("got %+v, want a line for each file and code 1", o)
	}
	for i, says := range []string{"channels", "RIFF", "no such file"} {
		if !strings.Contains(all[i].Error, says) || !strings.Contains(o.stderr, all[i].Error) {
			t.Errorf("%s: got %q, want an error that says %q, also on standard error", all[i].File, all[i].Error, says)
		}
	}
	if all[3].Error != "" || len(all[3].Scores) != 1 {
		t.Errorf("got %+v, want the score of the good file", all[3])
	}
	if o := cli(t, "analyze", "--model", text, short); o.code != command.ExitError || !strings.Contains(o.stderr, "model") {
		t.Errorf("got %+v, want an error about the model file", o)
	}
}

// The chosen channel alone counts: two copies of a recording score as it does.
func TestAnalyzeChannel(t *testing.T) {
	stereo := writeTone(t, 3, 16000, 2, 150, 0.5)
	for channel := range map[string]bool{"1": true, "2": true} {
		a := parseLines(t, ok(t, "analyze", "--json", "--channel", channel, stereo).stdout)[0]
		if a.Rate != 16000 || a.Duration < 2.99 || a.Duration > 3.01 {
			t.Errorf("channel %s: got %+v, want 3 s", channel, a)
		}
	}
}

// TestAnalyzeSaysWhatItWasTold checks the flags about the recording.
func TestAnalyzeSaysWhatItWasTold(t *testing.T) {
	t.Parallel()
	const file = interview
	plain := analyzed(t)[0]
	told := parseLines(t, ok(t, "analyze", "--json", "--gender", "male", "--base-rate", "depression=0.39", "--fixed-gain", "--baseline", file, file).stdout)[0]
	if plain.Scores[0].Baseline != 0 || told.Scores[0].Baseline != 1 || told.Scores[0].Probability < 2*plain.Scores[0].Probability {
		t.Errorf("got %+v, and told more %+v, want one earlier recording and a higher probability", plain.Scores[0], told.Scores[0])
	}
	read := parseLines(t, ok(t, "analyze", "--json", "--speech", "reading", file).stdout)[0]
	free := parseLines(t, ok(t, "analyze", "--json", "--speech", "free", file).stdout)[0]
	if read.Scores[0].Probability == free.Scores[0].Probability || free.Scores[0].Probability == plain.Scores[0].Probability {
		t.Errorf("got %+v read, %+v free and %+v unknown, want three probabilities", read.Scores[0], free.Scores[0], plain.Scores[0])
	}
	for _, bad := range [][]string{{"--gender", "x"}, {"--base-rate", "deepfake=0.1"}, {"--base-rate", "anxiety"}, {"--speech", "song"}} {
		if o := cli(t, append(append([]string{"analyze"}, bad...), file)...); o.code != command.ExitUsage {
			t.Errorf("%v: got %+v, want a usage error", bad, o)
		}
	}
}

func TestAnalyzeHasNoBaselineFromStandardInput(t *testing.T) {
	t.Chdir(t.TempDir())
	if o := cli(t, "analyze", "--baseline", "-", "x.wav"); o.code != command.ExitError || !strings.Contains(o.stderr, "baseline -: ") {
		t.Errorf("got %+v, want an error about the baseline", o)
	}
}
