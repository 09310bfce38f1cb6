package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/process"
)

// ScorerFlags are the flags about a program of the user's that scores: --scorer-command and
// its like.
type ScorerFlags struct {
	command string
	env     []string
	dir     string
	timeout time.Duration
}

// Add adds the flags to a command.
func (f *ScorerFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.command, "scorer-command", "", "a program and its arguments, with absolute paths, that replaces the shipped models of its categories: see docs/SCORERS.md (default none)")
	cmd.Flags().StringArrayVar(&f.env, "scorer-env", nil, "the name of an environment variable that this program gets, such as PATH (repeatable; default none)")
	cmd.Flags().StringVar(&f.dir, "scorer-dir", "", "working directory of this program (default a new empty one)")
	f.timeout = 2 * time.Minute
	DurationVar(cmd, &f.timeout, "scorer-timeout", "how long this program may take for its start, and for a recording")
	NoValues(cmd, "scorer-command", "scorer-env")
	Folders(cmd, "scorer-dir")
}

// Given reports whether there is a program.
func (f *ScorerFlags) Given() bool { return f.command != "" }

// Open starts the program; nil if there is none. Opts has what is not set by a flag. The
// caller calls CloseModels.
func (f *ScorerFlags) Open(ctx context.Context, opts process.Options) (*process.Scorer, error) {
	if f.command == "" {
		if len(f.env) > 0 || f.dir != "" {
			return nil, Usagef("--scorer-env and --scorer-dir are for --scorer-command")
		}
		return nil, nil
	}
	words, err := splitWords(f.command)
	if err != nil {
		return nil, Usagef("--scorer-command %w", err)
	}
	if f.timeout <= 0 {
		return nil, Usagef("--scorer-timeout is %v, want more than 0", f.timeout)
	}
	opts.Timeout, opts.StartTimeout, opts.Dir = f.timeout, f.timeout, f.dir
	for _, name := range f.env {
		value, ok := os.LookupEnv(name)
		if !ok {
			return nil, Usagef("--scorer-env is %q, want the name of an environment variable that is set", name)
		}
		opts.Env = append(opts.Env, name+"="+value)
	}
	return process.Open(ctx, words, &opts)
}

// splitWords splits a command line at spaces and tabs. What stands between two ' or two "
// belongs to one word. Nothing else is special, as $ and \ are in a shell.
func splitWords(line string) (words []string, err error) {
	var word strings.Builder
	quote, in := rune(0), false
	for _, r := range line {
		switch {
		case r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ' || r == '\t':
			if in {
				words = append(words, word.String())
				word.Reset()
			}
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, errors.New("has a quotation mark without its second one")
	}
	if in {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("names no program")
	}
	return words, nil
}

// CloseModels closes the scorers that are to be closed. Nothing may use them any more.
func CloseModels(scorers []models.Scorer) error {
	var errs []error
	for _, s := range scorers {
		if c, ok := s.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// WithDetail adds to the error of a scoring program what the program wrote. That may be
// about a patient: the text is for the terminal of the person who has the recording.
func WithDetail(err error) error {
	var e *process.Error
	if !errors.As(err, &e) || e.Detail == "" || strings.Contains(err.Error(), e.Detail) {
		return err
	}
	return fmt.Errorf("%w; it wrote: %s", err, e.Detail)
}
