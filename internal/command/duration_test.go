package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
)

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"30d":       30 * day,
		"1d12h":     36 * time.Hour,
		"0.5d":      12 * time.Hour,
		"-1d":       -day,
		"-1d1h":     -25 * time.Hour,
		"0d":        0,
		"0":         0,
		"720h":      30 * day,
		"1m30s":     90 * time.Second,
		"-5s":       -5 * time.Second,
		"106751d":   106751 * day,
		"100000d1s": 100000*day + time.Second,
	} {
		if got, err := command.ParseDuration(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "30", "30 d", "1d1d", "1h1d", "1d-1h", "nand", "infd", "1e3d", "0x1d", "1_0d", "106752d", "1e400d", "30days", "--1d"} {
		if got, err := command.ParseDuration(text); err == nil || !strings.HasPrefix(err.Error(), "want ") {
			t.Errorf("%q: got %v, %v, want an error that says what is wanted", text, got, err)
		}
	}
}

func TestDurationVar(t *testing.T) {
	for value, want := range map[time.Duration]string{0: "usage\n", 24 * time.Hour: "(default 1d)", 36 * time.Hour: "(default 36h)", 90 * time.Second: "(default 1m30s)"} {
		cmd := &cobra.Command{}
		command.DurationVar(cmd, &value, "keep", "usage")
		if got := cmd.Flags().FlagUsages(); !strings.Contains(got, want) {
			t.Errorf("got help %q, want %q in it", got, want)
		}
	}
}
