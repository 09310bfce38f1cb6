package command_test

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
)

// run runs a command line of a program with the commands "plain", which is
// interrupted, and "group", which holds "inner".
func run(t *testing.T, ctx context.Context, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	root := command.Group(&cobra.Command{Use: "tool", Short: "Serve tests"})
	group := command.Group(&cobra.Command{Use: "group", Short: "Hold commands"})
	group.AddCommand(&cobra.Command{Use: "inner", Short: "Do nothing", RunE: func(*cobra.Command, []string) error { return nil }})
	root.AddCommand(group, command.NewVersion("tool"), &cobra.Command{Use: "plain", Short: "Do something",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Context().Err() }})
	var out, errs bytes.Buffer
	code = command.Run(ctx, root, args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestHelp(t *testing.T) {
	for line, want := range map[string]string{
		"help":             "Serve tests",
		"help plain":       "Do something",
		"help group":       "inner",
		"help group inner": "Do nothing",
		"help help":        "Show the help",
	} {
		code, out, errs := run(t, t.Context(), strings.Fields(line)...)
		if code != 0 || !strings.Contains(out, want) || errs != "" {
			t.Errorf("%s: got code %d, %q, %q, want help with %q", line, code, out, errs, want)
		}
	}
	for line, want := range map[string]string{
		"help plan":              `there is no command "plan", did you mean "plain"?`,
		"help something":         `there is no command "something"`,
		"help group nothing":     `there is no command "nothing"`,
		"help group inner extra": `there is no command "extra"`,
	} {
		code, out, errs := run(t, t.Context(), strings.Fields(line)...)
		if code != command.ExitUsage || out != "" || errs != "tool: "+want+"\nSee \"tool --help\".\n" {
			t.Errorf("%s: got code %d, %q, %q, want a usage error %q", line, code, out, errs, want)
		}
	}
	if _, out, _ := run(t, t.Context(), "__complete", "help", "pl"); !strings.HasPrefix(out, "plain\tDo something\n") {
		t.Errorf("got completions %q, want plain", out)
	}
}

func TestVersionFlag(t *testing.T) {
	_, version, _ := run(t, t.Context(), "version")
	first, _, _ := strings.Cut(version, "\n")
	for _, flag := range []string{"--version", "-v"} {
		code, out, errs := run(t, t.Context(), flag)
		if code != 0 || out != first+"\n" || errs != "" || !strings.Contains(out, runtime.Version()) {
			t.Errorf("%s: got code %d, %q, %q, want %q", flag, code, out, errs, first)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, out, errs := run(t, ctx, "plain"); code != command.ExitInterrupted || out != "" || errs != "tool: interrupted\n" {
		t.Errorf("got code %d, %q, %q, want an interrupt", code, out, errs)
	}
}
