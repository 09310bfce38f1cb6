// Command voicescreen scores recordings of voices from the command line,
// serves the scores over HTTP, and trains and evaluates the models behind
// them. "voicescreen help" lists its commands, "voicescreen help COMMAND"
// shows one with an example.
//
// Results go to standard output, everything else to standard error. The exit
// code is 0, 1 after an error, and 2 for a command line that is wrong.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

const (
	exitError = 1
	exitUsage = 2
)

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	if !errors.Is(err, errReported) {
		fmt.Fprintf(stderr, "voicescreen: %s\n", plain(err))
	}
	var usage *usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(stderr, "See \"%s --help\".\n", cmd.CommandPath())
		return exitUsage
	}
	return exitError
}

// plain is the text of an error without the name of the program, which stands
// before it anyway.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "voicescreen: ") }

var (
	errReported    = errors.New("errors were reported") // ends a command whose errors have been printed already
	errInterrupted = errors.New("interrupted")
)

// usageError is a mistake in the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// usageIfInvalid makes a usage error of one about an argument.
func usageIfInvalid(err error) error {
	if errors.Is(err, voicescreen.ErrInvalid) {
		return &usageError{err}
	}
	return err
}

// given returns the first of some flags that stands in the command line, "" for
// none.
func given(cmd *cobra.Command, flags ...string) string {
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// usageArgs makes the errors of a check of arguments usage errors.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return &usageError{err}
		}
		return nil
	}
}

// group is the RunE and Args of a command that only holds others.
func group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		hint := ""
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			hint = fmt.Sprintf(", did you mean %q?", near[0])
		}
		return usagef("there is no command %q%s", args[0], hint)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return cmd.Help() }
	cmd.SuggestionsMinimumDistance = 2
	return cmd
}

func newRoot() *cobra.Command {
	root := group(&cobra.Command{
		Use:   "voicescreen",
		Short: "Screening scores from recordings of a voice",
		Long: "voicescreen listens to recordings of a person speaking and gives scores for signs of\n" +
			"depression, signs of anxiety, and the risk that the voice is synthetic.\n\n" + screen.Disclaimer,
		Example:       "  voicescreen analyze testdata/interview_en.wav",
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		newAnalyze(), newFeatures(),
		newServe(), newKeys(), newDB(), newWebhooks(), newAudit(),
		newTrain(), newEvaluate(), newCalibrate(), newSimulate(), newThresholds(), newModel(),
		newVersion(),
	)
	return root
}
