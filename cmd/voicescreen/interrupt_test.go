//go:build unix

package main

import (
	"bytes"
	"os/exec"
	"syscall"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
)

// A signal ends a command that waits for standard input: at once, with one message
// and the exit code of the signal.
func TestSignals(t *testing.T) {
	recording := read(t, interview) // more than a pipe holds: once it is written, the program is reading
	for _, c := range []struct {
		signal  syscall.Signal
		command string
		code    int
		says    string
	}{
		{syscall.SIGINT, "analyze", command.ExitInterrupted, "voicescreen: interrupted\n"},
		{syscall.SIGTERM, "features", command.ExitTerminated, "voicescreen: terminated\n"},
	} {
		var stdout, stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), built, c.command, short, "-")
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := stdin.Write(recording[:len(recording)/2]); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(c.signal); err != nil {
			t.Fatal(err)
		}
		cmd.Wait() // the error is the exit code
		if got := cmd.ProcessState.ExitCode(); got != c.code || stderr.String() != c.says {
			t.Errorf("%v: got code %d, %q, want %d, %q", c.signal, got, stderr.String(), c.code, c.says)
		}
	}
}
