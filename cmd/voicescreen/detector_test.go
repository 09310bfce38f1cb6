package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
)

// tinyDetector is a detector of Hugging Face with weights drawn from a seed.
const tinyDetector = "../../models/ssl/testdata/detector"

// TestAnalyzeWithADetector replaces the shipped deepfake model by a directory.
func TestAnalyzeWithADetector(t *testing.T) {
	o := ok(t, "analyze", "--json", "--model", tinyDetector, short)
	if !strings.Contains(o.stderr, "voicescreen: model detector ") || !strings.Contains(o.stderr, "licence mit") || strings.Contains(o.stderr, "warning") {
		t.Errorf("got %q, want the licence of the model", o.stderr)
	}
	for _, s := range parseLines(t, o.stdout)[0].Scores {
		if s.Category == screen.Deepfake && (s.Model != "detector" || s.Calibrated || len(s.Contributions) == 0) {
			t.Errorf("got %+v, want the score of the model", s)
		}
	}
	if text := ok(t, "analyze", "--model", tinyDetector, short).stdout; !strings.Contains(text, "the part from 0.0 to ") {
		t.Errorf("got %q, want the parts of the recording", text)
	}
}

// TestModelShare asks the detector only where the shipped model is in doubt.
func TestModelShare(t *testing.T) {
	by := func(share ...string) string {
		args := append([]string{"analyze", "--json", "--model", tinyDetector}, share...)
		for _, s := range parseLines(t, ok(t, append(args, voice16k)...).stdout)[0].Scores {
			if s.Category == screen.Deepfake {
				return s.Model
			}
		}
		return ""
	}
	alone := parseLines(t, ok(t, "analyze", "--json", voice16k).stdout)[0].Scores[0]
	if alone.Decision == screen.Indeterminate || alone.Probability < 0.6 || alone.Probability > 0.99 {
		t.Fatalf("got %+v of the shipped model, want a decision that is not near one half", alone)
	}
	for share, want := range map[string]string{"undecided": alone.Model, "0.05": alone.Model, "0.95": "detector"} {
		if got := by("--model-share", share); got != want {
			t.Errorf("--model-share %s: got the score of %s, want %s", share, got, want)
		}
	}
	for _, args := range [][]string{{"--model-share", "0.5"}, {"--model", tinyDetector, "--model-share", "1"}, {"--model", tinyDetector, "--model-share", "often"}} {
		if o := cli(t, append(append([]string{"analyze"}, args...), voice16k)...); o.code != command.ExitUsage || !strings.Contains(o.stderr, "--model-share") {
			t.Errorf("%q: got %+v, want a usage error", args, o)
		}
	}
}

// TestServeLogsTheDetector checks what serve and work log of a model.
func TestServeLogsTheDetector(t *testing.T) {
	var text bytes.Buffer
	o := engineFlags{models: command.ModelFlags{Paths: []string{tinyDetector}}}
	opts, err := o.options(t.Context(), slog.New(slog.NewTextHandler(&text, nil)), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(opts.Scoring.Models) != 1 || !strings.Contains(text.String(), "licence=mit") || !strings.Contains(text.String(), "sha256=") {
		t.Errorf("got %d models and the log %q", len(opts.Scoring.Models), &text)
	}
	info := opts.Scoring.Models[0].Info()
	info.NonCommercial, info.Licence = true, "CC BY-NC 4.0"
	if w := command.LicenceWarning(info); !strings.Contains(w, "CC BY-NC 4.0, is non-commercial") {
		t.Errorf("got the warning %q", w)
	}
}
