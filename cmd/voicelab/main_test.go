package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"go.uber.org/goleak"

	"github.com/voicescreen/voicescreen/internal/command"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == scorerHelper {
		helpToScore()
	}
	goleak.VerifyTestMain(m)
}

const (
	interview = "../../testdata/interview_en.wav" // 41 s of speech
	short     = "../../testdata/short_en.wav"     // 4.7 s of speech
)

// outcome is what a command line gave.
type outcome struct {
	stdout, stderr string
	code           int
}

// cli runs a command line in this process.
func cli(t *testing.T, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := command.Run(t.Context(), newRoot(), args, strings.NewReader(""), &stdout, &stderr)
	return outcome{stdout.String(), stderr.String(), code}
}

// ok runs a command line that must succeed.
func ok(t *testing.T, args ...string) outcome {
	t.Helper()
	o := cli(t, args...)
	if o.code != 0 {
		t.Fatalf("%v: got code %d, want 0; standard error:\n%s", args, o.code, o.stderr)
	}
	return o
}

func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			return
		}
		if cmd.Short == "" || cmd.Example == "" {
			t.Errorf("%s: has no description or no example", cmd.CommandPath())
		}
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		if o := ok(t, args...); !strings.Contains(o.stdout, "Examples:") || o.stderr != "" {
			t.Errorf("%s: help has no example, or writes to standard error", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot())
}

func TestUsageErrors(t *testing.T) {
	for _, line := range []string{
		"trian",
		"--bogus",
		"train",
		"train --task depression",
		"train --task depression --manifest m.csv",
		"train --task happiness --manifest m.csv --out m.json",
		"evaluate",
		"evaluate --task Depression --manifest m.csv",
		"evaluate --task anxiety",
		"evaluate --task anxiety --manifest m.csv extra",
		"evaluate --task anxiety --manifest m.csv --deepfake-prior 0.5",
		"evaluate --task deepfake --manifest m.csv --deepfake-prior 1",
		"thresholds --task anxiety",
		"thresholds --task anxiety --scores s.csv --undecided 1.5",
		"thresholds --task anxiety --scores s.csv --undecided nan",
		"thresholds --task anxiety --scores s.csv --account a",
		"thresholds --task anxiety --scores s.csv --model m",
		"thresholds --task anxiety --scores s.csv --version 1.0.0",
		"priors",
		"priors --dir shipped extra",
		"norms",
		"norms --manifest m.csv",
		"norms --out n.json",
		"norms --manifest m.csv --out n.json --rows -1",
		"version now",
	} {
		o := cli(t, strings.Fields(line)...)
		if o.code != command.ExitUsage || o.stdout != "" || !strings.HasPrefix(o.stderr, "voicelab: ") || !strings.Contains(o.stderr, "--help") {
			t.Errorf("%s: got %+v, want a usage error", line, o)
		}
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := command.Run(ctx, newRoot(), []string{"evaluate", "--task", "anxiety", "--manifest", labelled(t, 2, "0", "1")}, strings.NewReader(""), &stdout, &stderr)
	if code != command.ExitInterrupted || stdout.Len() > 0 || stderr.String() != "voicelab: interrupted\n" {
		t.Errorf("got code %d, %q, want a message about the interrupt", code, &stderr)
	}
}

// A flag whose help lists its values completes them.
func TestValuesAreCompleted(t *testing.T) {
	for line, want := range map[string]string{
		"train --task ":         "deepfake",
		"evaluate --corpus ":    "modma",
		"thresholds --classes ": "macro-f1",
		"simulate --task ":      "anxiety",
		"priors --dir ":         ":16", // folders
		"help pri":              "priors",
	} {
		o := ok(t, append([]string{"__complete"}, strings.Split(line, " ")...)...)
		if !strings.Contains(o.stdout, want) {
			t.Errorf("%s: got %q, want %q in it", line, o.stdout, want)
		}
	}
}

// A recording of a manifest with several channels is named with what helps, and not
// with a flag that the command does not have.
func TestStereoNamesTheConversion(t *testing.T) {
	dir := t.TempDir()
	stereo := "RIFF\x34\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00\x80\x3e\x00\x00\x00\xfa\x00\x00\x04\x00\x10\x00data\x10\x00\x00\x00" + strings.Repeat("\x00", 16)
	for name, text := range map[string]string{"call.wav": stereo, "m.csv": "path,label\ncall.wav,1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := cli(t, "evaluate", "--task", "depression", "--manifest", filepath.Join(dir, "m.csv"))
	const want = "recording has 2 channels, want 1; mix them with \"ffmpeg -i in.wav -ac 1 out.wav\"\n"
	if o.code != command.ExitError || !strings.Contains(o.stderr, want) || strings.Contains(o.stderr, "--channel") {
		t.Errorf("got %+v, want %q", o, want)
	}
}
