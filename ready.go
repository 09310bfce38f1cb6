package voicescreen

import (
	"context"
	"fmt"

	"github.com/voicescreen/voicescreen/screen"
)

// Ready returns nil if the engine can accept recordings: the store can be
// written to, the queue is below its limit and there is a scorer for every
// category. The error is ErrClosed, ErrBusy, ErrFull, ErrUnavailable, or internal.
func (e *Engine) Ready(ctx context.Context) error {
	ctx, leave, err := e.life.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := e.store.Ping(ctx); err != nil {
		return internal("ping the store", err)
	}
	for _, c := range screen.Categories() {
		if _, ok := e.learner.Scorers().of[c]; !ok {
			return fmt.Errorf("voicescreen: no model for %v", c)
		}
	}
	return e.checkQueue(ctx, 0)
}

// Busy returns ErrBusy if the queue is full, counting the submissions under way:
// Submit would refuse a recording now. Other errors are ErrClosed and internal.
func (e *Engine) Busy(ctx context.Context) error {
	ctx, leave, err := e.life.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return e.checkQueue(ctx, int(e.uploads.Load()))
}

// Queued returns how many recordings wait or are under analysis, in all accounts
// together and by any engine on the store.
func (e *Engine) Queued(ctx context.Context) (int, error) {
	ctx, leave, err := e.life.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	n, err := e.store.Due(ctx)
	return n, internal("count the queue", err)
}

// Notices returns how many notices wait to be sent, by account: those of the
// first attempt, and those that failed and are sent again. The error wraps
// errors.ErrUnsupported if the store is no [store.NoticeCounter].
func (e *Engine) Notices(ctx context.Context) (map[string]int, error) {
	ctx, leave, err := e.life.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	n, err := e.store.Notices(ctx)
	return n, internal("count the notices", err)
}

// checkQueue returns ErrBusy if the queue is at its limit, counting so many
// submissions on their way.
func (e *Engine) checkQueue(ctx context.Context, coming int) error {
	due, err := e.store.Due(ctx)
	if err != nil {
		return internal("count the queue", err)
	}
	if due+coming >= e.opts.Queue.Limit {
		return ErrBusy
	}
	return nil
}
