package voicescreen

import (
	"errors"
	"fmt"
	"time"
)

const (
	// SweepEvery is how long a session may be there after the end of
	// ResultOptions.Retain. Chosen: periods are days.
	SweepEvery = time.Hour

	// sweepStep is how many sessions are erased in one transaction. Chosen: it
	// takes a few milliseconds, for which others wait.
	sweepStep = 100

	// sweepPause is the pause between two steps. Chosen: long enough for the
	// calls that came meanwhile to have their turn, and still 5,000 sessions a
	// second.
	sweepPause = 20 * time.Millisecond
)

// check returns ErrInvalid, with the fault, for options that cannot be meant.
func (o *ResultOptions) check() error {
	switch {
	case o.Retain != 0 && o.Retain < FeedbackWindow:
		return fmt.Errorf("%w: results are retained for %v, want 0 or %v and more: labels are taken until then", ErrInvalid, o.Retain, FeedbackWindow)
	case (o.Notify.Accounts == nil) != (o.Notify.Send == nil):
		return fmt.Errorf("%w: of NotifyOptions one function is set and the other is not", ErrInvalid)
	}
	return nil
}

// sweep erases what was retained for long enough: at the start, every
// SweepEvery by the engine's clock, and until the engine closes.
func (e *Engine) sweep() {
	poll := time.NewTicker(e.opts.Queue.Poll)
	defer poll.Stop()
	var swept time.Time
	for {
		if now := e.now(); now.Sub(swept) >= SweepEvery || now.Before(swept) { // the clock was set back
			if e.expire(e.opts.Results.Retain) {
				swept = now
			}
		}
		select {
		case <-e.closing:
			return
		case <-poll.C:
		}
	}
}

// expire erases, step by step, all sessions that have been kept for age or
// longer. It returns false if that was not to be done now.
func (e *Engine) expire(age time.Duration) bool {
	erased := 0
	defer func() {
		if erased > 0 {
			e.opts.Logger.Info("erased what was retained for long enough", "sessions", erased)
			e.watchers.wakeAll() // who waits for the audio of one learns that it is gone
		}
	}()
	for {
		n, err := e.expireStep(age)
		erased += n
		switch {
		case err != nil && e.ctx.Err() != nil:
			return false
		case err != nil:
			e.opts.Logger.Error("erase what was retained for long enough", "error", err)
			return true // tried again at the next sweep: an error of the disk does not fill the log
		case n < sweepStep:
			return true
		}
		select {
		case <-e.closing:
			return false
		case <-time.After(sweepPause):
		}
	}
}

// expireStep erases at most sweepStep sessions and tells which.
func (e *Engine) expireStep(age time.Duration) (n int, err error) {
	tell := e.opts.Results.Erased
	if tell != nil {
		if err := tell(nil); err != nil {
			return 0, fmt.Errorf("nobody could be told: %w", err)
		}
	}
	list, err := e.store.Expire(e.ctx, age, sweepStep)
	if tell != nil && len(list) > 0 {
		if terr := tell(list); terr != nil {
			err = errors.Join(err, fmt.Errorf("%d sessions were erased and nobody was told: %w", len(list), terr))
		}
	}
	return len(list), err
}
