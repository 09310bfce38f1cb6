package store

import (
	"context"
	"io"
	"time"
)

// Audio keeps recordings that wait to be analysed. Package store/audio keeps them in
// a directory; a store may keep them otherwise. All methods are safe for concurrent
// use. The Audio that Store.Audio returns also knows which audio the sessions of the
// store refer to.
type Audio interface {
	// Put stores the content of r up to its end, durably, and returns a random
	// reference to it. The audio stays until Remove, Sweep, or a change or removal
	// of the session that refers to it. If reading r fails, Put stores nothing and
	// returns the error as it is.
	Put(ctx context.Context, r io.Reader) (ref string, err error)

	// Open opens stored audio for reading. It returns ErrNotFound if there is no
	// such audio, also for a malformed reference, and ErrDamaged if it can never be read.
	// Any other error says nothing about the audio: the engine tries again and again. The
	// caller closes the reader.
	Open(ctx context.Context, ref string) (io.ReadCloser, error)

	// Remove removes stored audio. It returns nil if there is no such audio. The
	// Audio of a store keeps audio that a session refers to and returns nil: Remove
	// is safe to call after an update of the session that may have failed.
	Remove(ctx context.Context, ref string) error

	// Sweep removes audio that was put at least age ago and for which referred
	// returns false, and the remains of interrupted calls of Put. The Audio of a
	// store also keeps audio that a session refers to; its referred may be nil. Age
	// must be longer than the time from the start of an upload until its session
	// refers to it. Audio that cannot be removed stays for the next Sweep.
	Sweep(ctx context.Context, age time.Duration, referred func(ref string) bool) error
}
