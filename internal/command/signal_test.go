package command

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// The exit code and the message are those of the signal, also if the command returns
// the cause of its context's end.
func TestSignaled(t *testing.T) {
	for _, c := range []struct {
		signal os.Signal
		code   int
		says   string
	}{{os.Interrupt, 130, "tool: interrupted\n"}, {syscall.SIGTERM, 143, "tool: terminated\n"}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(&signaled{c.signal})
		for name, result := range map[string]error{"error": ctx.Err(), "cause": context.Cause(ctx)} {
			root := &cobra.Command{Use: "tool", RunE: func(*cobra.Command, []string) error { return fmt.Errorf("read: %w", result) }}
			var out, errs bytes.Buffer
			code := Run(ctx, root, nil, strings.NewReader(""), &out, &errs)
			if code != c.code || errs.String() != c.says || out.Len() > 0 {
				t.Errorf("%v, %s: got code %d, %q, want %d, %q", c.signal, name, code, errs.String(), c.code, c.says)
			}
		}
	}
}
