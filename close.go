package voicescreen

import (
	"context"
	"errors"
	"fmt"
)

// Close stops taking work and calls, which return ErrClosed from then on, and
// waits for the analyses, notices and calls under way. If ctx is done first, the
// sessions under analysis go back to the queue, without counting the attempt,
// for the next start or another process; Close then returns ctx's error.
// Recordings in the queue stay there. Further calls of Close wait for the first
// and return its error.
//
// An analysis that ctx cut off may use the processor for a moment longer. Its
// result is dropped. Sessions go back to the queue through the store, whatever
// ctx says: a store whose calls do not return, as on a disk that does not
// answer, delays Close.
func (e *Engine) Close(ctx context.Context) error {
	return e.life.end(func() error { return e.shutdown(ctx) })
}

func (e *Engine) shutdown(ctx context.Context) error {
	e.waiters.wakeAll() // Wait returns ErrClosed
	var err error
	select {
	case <-e.life.idle():
	case <-ctx.Done():
		err = fmt.Errorf("voicescreen: close: %w", ctx.Err())
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeGrace)
		defer cancel()
		e.worker.Release(grace)
		e.life.cancel()
	}
	if !e.owned {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- e.store.Close() }()
	select {
	case cerr := <-done:
		return errors.Join(err, cerr)
	case <-afterDone(ctx, closeGrace):
		return errors.Join(err, errors.New("voicescreen: close: the store waits for a call that has not returned"))
	}
}
