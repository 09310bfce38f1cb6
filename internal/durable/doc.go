// Package durable has what the standard library lacks for files: locks between
// processes, names in a directory that survive a power failure, and small files
// that several processes change.
package durable

import (
	"errors"
	"time"
)

// ErrHeld says that another process kept a lock for longer than the time-out.
var ErrHeld = errors.New("another process holds it")

// retry is the pause between two attempts to take a lock. Chosen: about as long as
// a change of a file holds it.
const retry = 5 * time.Millisecond
