package store

import (
	"context"
	"io"
	"time"
)

// Audio keeps the audio that waits to be analysed: a directory (package
// store/audio), or what a store has for it. All methods are safe for concurrent
// use. Store.Audio returns that of a store, which also knows which audio its
// sessions refer to.
type Audio interface {
	// Put stores all that r gives and returns a reference to it, which is
	// random. The audio is durable when Put returns. It stays until Remove,
	// Sweep, or until the session that refers to it lets go of it. If reading r
	// fails, Put keeps nothing and returns the error as it is.
	Put(ctx context.Context, r io.Reader) (ref string, err error)

	// Open opens stored audio for reading. It returns ErrNotFound if there is
	// none, whatever the reference looks like.
	Open(ctx context.Context, ref string) (io.ReadCloser, error)

	// Remove removes stored audio. Removing what is not there is no error. That
	// of a Store keeps audio that a session refers to, without an error: it is
	// safe to call after a failed hand-over.
	Remove(ctx context.Context, ref string) error

	// Sweep removes audio that was put at least age ago and for which referred
	// returns false, and what interrupted calls of Put left. That of a Store
	// also keeps what its sessions refer to; there referred may be nil. Age
	// must be longer than an upload takes and its session needs to refer to it.
	// Audio that cannot be removed stays for the next Sweep.
	Sweep(ctx context.Context, age time.Duration, referred func(ref string) bool) error
}
