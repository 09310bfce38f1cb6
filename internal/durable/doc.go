// Package durable adds to the standard library locks between processes, names in a
// directory that survive a power failure, and small files that several processes
// change.
package durable

import (
	"errors"
	"time"
)

// ErrHeld is returned by Lock if another process keeps the lock for longer than the
// time-out.
var ErrHeld = errors.New("another process holds it")

// retry is the pause between two attempts to take a lock. Chosen: about as long as a
// change of a file takes.
const retry = 5 * time.Millisecond
