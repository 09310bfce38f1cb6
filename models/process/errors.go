package process

import (
	"errors"
	"fmt"
	"strings"
)

// The faults of programs, which an [Error] wraps.
var (
	ErrTimeout  = errors.New("no answer in time")
	ErrExit     = errors.New("the program ended")
	ErrFlood    = errors.New("the program writes too much")
	ErrProtocol = errors.New("the program breaks the protocol")
	ErrAnswer   = errors.New("the answer cannot be right")
	ErrReported = errors.New("the program reported an error")
	// ErrClosed: the Scorer was closed.
	ErrClosed = errors.New("process: the scorer is closed")
)

// Error is a fault of a program.
type Error struct {
	Command string // program and arguments
	Err     error

	// Detail is the error that the program reported, or the end of what it wrote to
	// standard error: at most 4 KiB. It may be about a patient, and is not part of the
	// message, unless the program had not got a recording yet.
	Detail string

	before bool // whether the program had not got a recording yet
}

// Error names the command and the fault.
func (e *Error) Error() string {
	text := fmt.Sprintf("process: %q: %v", e.Command, e.Err)
	if e.before && e.Detail != "" {
		text += "; it wrote: " + e.Detail
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// maxName is how many bytes of a command stand in messages. Chosen: a line.
const maxName = 200

// nameOf returns a command as it stands in messages.
func nameOf(command []string) string {
	name := strings.Join(command, " ")
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return name
}
