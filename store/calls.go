package store

import (
	"context"
	"sync"
)

// Calls counts the calls under way in an implementation of Store, so that its
// Close can wait for them. The zero value is open. It is safe for concurrent
// use.
type Calls struct {
	mu     sync.Mutex // protects closed, and orders Begin and Close
	closed bool
	active sync.WaitGroup
}

// Begin counts a call. It returns ErrClosed after Close, and the error of a
// context that is done. If it returns nil, End must follow.
func (c *Calls) Begin(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.active.Add(1)
	return nil
}

// End ends a call that Begin counted.
func (c *Calls) End() { c.active.Done() }

// Close makes Begin fail from now on, and waits until the last call has ended. It
// returns ErrClosed if it was called before.
func (c *Calls) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return ErrClosed
	}
	c.closed = true
	c.mu.Unlock()
	c.active.Wait()
	return nil
}
