package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/models/ssl"
)

const (
	tinyCheckpoint = "../../models/ssl/testdata/tiny.ckpt" // of AntiDeepfake's names
	tinyDetector   = "../../models/ssl/testdata/detector"  // of Hugging Face
)

// TestDetector goes the way of a user on seeded weights: a detector is converted,
// evaluated on recordings and calibrated on their scores.
func TestDetector(t *testing.T) {
	dir := t.TempDir()
	model, calibrated, scores := filepath.Join(dir, "d.model"), filepath.Join(dir, "c.model"), filepath.Join(dir, "scores.csv")
	o := ok(t, "model", "convert", "--heads", "2", "--name", "tiny detector", tinyCheckpoint, model)
	for _, want := range []string{"licence CC BY-NC-SA 4.0", "AntiDeepfake", "sha256 ", "warning: model tiny detector", "non-commercial"} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("convert: got %q, want %q in it", o.stderr, want)
		}
	}
	o = ok(t, "evaluate", "--task", "deepfake", "--manifest", labelled(t, 4, "bonafide", "spoof"), "--model", model, "--scores", scores)
	if !strings.Contains(o.stdout, "tiny detector") || !strings.Contains(o.stderr, "non-commercial") {
		t.Errorf("evaluate: got %+v, want the model and its licence", o)
	}
	if text, err := os.ReadFile(scores); err != nil || strings.Count(string(text), "\n") != 5 {
		t.Errorf("got the scores %q, %v, want four", text, err)
	}

	o = ok(t, "evaluate", "--task", "deepfake", "--manifest", labelled(t, 4, "bonafide", "spoof"), "--model", model, "--model-share", "undecided")
	if !strings.Contains(o.stdout, "+tiny detector") || !strings.Contains(o.stdout, " of 4 recordings went to the model") {
		t.Errorf("evaluate: got %+v, want the figures of a cascade", o)
	}
	if o = cli(t, "evaluate", "--task", "deepfake", "--manifest", scores, "--model-share", "0.5"); o.code != command.ExitUsage {
		t.Errorf("--model-share without a detector: got %+v, want a usage error", o)
	}

	small := filepath.Join(dir, "small.model")
	ok(t, "model", "convert", "--int8", "--heads", "2", tinyCheckpoint, small)
	if o := ok(t, "model", "info", model, small); strings.Count(o.stdout, "int8: weights are rounded to eight bits") != 1 || !strings.Contains(o.stdout, "-int8, [deepfake]") {
		t.Errorf("info: got %+v, want one of two in integers", o)
	}
	if o := cli(t, "model", "convert", "--int8", model, filepath.Join(dir, "no.model")); o.code != command.ExitError || !strings.Contains(o.stderr, "needs the published file") {
		t.Errorf("--int8 of a converted model: got %+v, want an error", o)
	}
	o = ok(t, "evaluate", "--task", "deepfake", "--manifest", labelled(t, 4, "bonafide", "spoof"), "--model", small)
	if !strings.Contains(o.stdout, "-int8") {
		t.Errorf("evaluate: got %+v, want the version to name the integers", o)
	}

	// Scores whose logit is off by a factor of 2 and by 1.
	text := "path,label,score\n"
	for i := range 200 {
		raw := float64(i%20)/4 - 2.5
		label := "bonafide"
		if p := dsp.Logistic(2*raw - 1); float64(i/20)+0.5 < 10*p {
			label = "spoof"
		}
		text += fmt.Sprintf("%d.wav,%s,%v\n", i, label, dsp.Logistic(raw))
	}
	if err := os.WriteFile(scores, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o = ok(t, "model", "calibrate", "--scores", scores, "--on", "two hundred numbers", model, calibrated)
	if !strings.Contains(o.stdout, "calibration  logit = ") {
		t.Errorf("calibrate: got %+v", o)
	}
	m, err := ssl.Open(calibrated, nil)
	if err != nil {
		t.Fatal(err)
	}
	const rounding = 0.35 // of labels to whole recordings, and Platt's targets
	c := m.Card().Calibration
	if c == nil || math.Abs(c.A-2) > rounding || math.Abs(c.B+1) > rounding || c.Prior != float64(strings.Count(text, "spoof"))/200 {
		t.Errorf("got the calibration %+v, want the slope 2 and the offset −1", c)
	}
	if o := ok(t, "model", "info", calibrated, tinyDetector); !strings.Contains(o.stdout, "calibrated on two hundred numbers") || !strings.Contains(o.stdout, "class 1, spoof: synthetic") {
		t.Errorf("info: got %+v", o)
	}
}

func TestDetectorErrors(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out.model")
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	few := write("few.csv", "path,label,score\na.wav,spoof,0.5\nb.wav,bonafide,0.4\n")
	wrong := write("wrong.csv", "path,label,score\n"+strings.Repeat("a.wav,spoof,0.1\nb.wav,bonafide,0.9\n", 20))
	for name, c := range map[string]struct {
		code int
		want string
		args []string
	}{
		"no such file":         {command.ExitError, "no such file", []string{"convert", filepath.Join(dir, "none"), out}},
		"heads not stated":     {command.ExitError, "must be stated", []string{"convert", tinyCheckpoint, out}},
		"negative heads":       {command.ExitUsage, "--heads is -1", []string{"convert", "--heads", "-1", tinyCheckpoint, out}},
		"no such class":        {command.ExitError, "no class \"fake\"", []string{"convert", "--synthetic", "fake", tinyDetector, out}},
		"another checksum":     {command.ExitError, "another checksum", []string{"convert", "--sha256", "00", tinyDetector, out}},
		"not a detector":       {command.ExitUsage, "--synthetic is for a detector", []string{"convert", "--synthetic", "fake", few, out}},
		"not a model":          {command.ExitError, "not a readable checkpoint", []string{"convert", few, out}},
		"no scores":            {command.ExitUsage, "--scores and --on are needed", []string{"calibrate", tinyDetector, out}},
		"few scores":           {command.ExitError, "at least 10 of each", []string{"calibrate", "--scores", few, "--on", "two", tinyDetector, out}},
		"scores the wrong way": {command.ExitError, "calibrate nothing", []string{"calibrate", "--scores", wrong, "--on", "forty", tinyDetector, out}},
	} {
		o := cli(t, append([]string{"model"}, c.args...)...)
		if o.code != c.code || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: got %+v, want code %d and %q", name, o, c.code, c.want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "out*")); err != nil || len(left) > 0 {
		t.Errorf("got %v, %v, want nothing written", left, err)
	}
}
