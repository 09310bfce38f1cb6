package command

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// signaled is the cause of the end of a command's context: a signal.
type signaled struct{ signal os.Signal }

func (s *signaled) Error() string {
	if s.signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

// Is returns true for context.Canceled: some packages return the cause of the end of a
// context where others return context.Canceled.
func (s *signaled) Is(target error) bool { return target == context.Canceled }

// code is the exit code as a shell has it for a process that the signal ended.
func (s *signaled) code() int {
	if s.signal == syscall.SIGTERM {
		return ExitTerminated
	}
	return ExitInterrupted
}

// untilSignal returns a context that the first interrupt or SIGTERM cancels. A
// second one ends the process at once.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals)
		cancel(&signaled{s})
	}()
	return ctx
}
