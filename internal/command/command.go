// Package command is shared by the two programs of this module. It runs command lines,
// reports errors in them, writes output files, shows progress, reads recordings and model
// files, and defines the flags about scores.
package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes after an error.
const (
	ExitError       = 1
	ExitUsage       = 2   // an error in the command line
	ExitInterrupted = 130 // 128 + SIGINT, as in a shell
	ExitTerminated  = 143 // 128 + SIGTERM
)

// Main runs the command line of the process and ends the process. The first interrupt or
// SIGTERM cancels the context of the command. A second one ends the process at once.
func Main(root *cobra.Command) {
	log.SetOutput(withoutFLAC{os.Stderr})
	os.Exit(Run(untilSignal(), root, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// withoutFLAC drops what the decoder of FLAC prints of each frame at a rate that its own tests
// lack, such as 24 kHz.
type withoutFLAC struct{ io.Writer }

func (w withoutFLAC) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("The flac library test cases do not yet include")) {
		return len(p), nil
	}
	return w.Writer.Write(p)
}

// Run runs the command line args of root and returns the exit code. Errors are
// printed to stderr. A command that ends with context.Canceled after the end of ctx
// was interrupted: this is printed once, and the exit code is that of the signal.
func Run(ctx context.Context, root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(newHelp())
	setVersion(root)
	completeNumbers(root)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		end := &signaled{os.Interrupt}
		errors.As(context.Cause(ctx), &end)
		fmt.Fprintf(stderr, "%s: %s\n", root.Name(), end)
		return end.code()
	}
	if !errors.Is(err, ErrReported) {
		fmt.Fprintf(stderr, "%s: %s\n", root.Name(), Plain(err))
	}
	if IsUsage(err) {
		if cmd.Name() == "help" {
			cmd = root
		}
		fmt.Fprintf(stderr, "See \"%s --help\".\n", cmd.CommandPath())
		return ExitUsage
	}
	return ExitError
}

// Plain returns the text of an error without the prefix "voicescreen: ", for output that
// begins with the name of the program.
func Plain(err error) string { return Printable(strings.TrimPrefix(err.Error(), "voicescreen: ")) }

// ErrReported is returned by a command that has printed its errors. Run then prints none.
var ErrReported = errors.New("errors were reported")

// usageError is an error in the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// Usage returns err as an error in the command line: the exit code is ExitUsage.
func Usage(err error) error { return &usageError{err} }

// Usagef returns a formatted error in the command line: the exit code is ExitUsage.
func Usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// IsUsage reports whether err is an error in the command line.
func IsUsage(err error) bool {
	var usage *usageError
	return errors.As(err, &usage)
}

// Given returns the first of the named flags that is set in the command line, "" if none
// is.
func Given(cmd *cobra.Command, flags ...string) string {
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// Args returns check with its errors as errors in the command line.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return &usageError{err}
		}
		return nil
	}
}

// Group makes cmd a command that only contains others. It prints its help if none is
// named, and suggests a similar name for an unknown one.
func Group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknownCommand(cmd, args[0])
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return cmd.Help() }
	cmd.SuggestionsMinimumDistance = 2
	return cmd
}
