package store

import (
	"context"
	"sync"
)

// Calls counts the calls in progress in an implementation of Store, so that Close can
// wait for them. The zero value is ready for use. It is safe for concurrent use.
type Calls struct {
	mu     sync.Mutex // protects closed, and orders Begin and Close
	closed bool
	active sync.WaitGroup
}

// Begin begins a call. It returns ErrClosed after Close, and the context's error if
// ctx is done. If it returns nil, the caller must call End.
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

// Close makes later calls of Begin fail, and waits until the last call has ended. A
// second Close returns ErrClosed.
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
