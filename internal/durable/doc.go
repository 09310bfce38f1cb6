// Package durable holds what several packages ask of the file system and the
// standard library does not have: locks between processes, names in a
// directory that survive a power failure, and small files that several
// processes change.
package durable

import (
	"errors"
	"time"
)

// ErrHeld says that a lock could not be had in time.
var ErrHeld = errors.New("another process holds it")

// retry is the pause between two attempts to take a lock. Chosen: about as
// long as those who take it for a change hold it.
const retry = 5 * time.Millisecond
