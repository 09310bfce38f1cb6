package voicescreen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

const (
	// SweepEvery is how long a session may be there after the end of
	// ResultOptions.Retain. Chosen: periods are days.
	SweepEvery = time.Hour

	// sweepStep is how many sessions are erased in one transaction. Chosen: it
	// takes a few milliseconds, for which others wait.
	sweepStep = 100

	// sweepPause is the pause between two steps. Chosen: long enough for the
	// waiting calls to have their turn, and still 5,000 sessions a second.
	sweepPause = 20 * time.Millisecond

	// audioAge is the age at which audio that no session refers to is removed: a
	// crash between an upload and its transaction leaves such audio. Chosen: far
	// longer than any upload takes.
	audioAge = 24 * time.Hour
)

// sweeper erases sessions after their retention period, and audio that no
// session refers to.
type sweeper struct {
	store  store.Store
	retain time.Duration                            // ResultOptions.Retain; 0 for ever
	report func(sessions []screen.SessionKey) error // ResultOptions.Erased; nil for none
	erased func()                                   // called after sessions were erased
	poll   time.Duration                            // of the clock
	log    *slog.Logger
	now    func() time.Time // paces the sweeps
}

// newSweeper returns a sweeper with the options of an Engine, without zero
// fields.
func newSweeper(st store.Store, o *Options, erased func()) *sweeper {
	return &sweeper{
		store: st, retain: o.Results.Retain, report: o.Results.Erased, erased: erased,
		poll: o.Queue.Poll, log: o.Logger, now: o.Store.Now,
	}
}

// Run sweeps at once and every SweepEvery, until stop is closed. Ctx ends the
// call of the store under way.
func (s *sweeper) Run(ctx context.Context, stop <-chan struct{}) {
	poll := time.NewTicker(s.poll)
	defer poll.Stop()
	var swept time.Time
	for {
		if now := s.now(); now.Sub(swept) >= SweepEvery || now.Before(swept) { // the clock was set back
			if s.Sweep(ctx, stop) {
				swept = now
			}
		}
		select {
		case <-stop:
			return
		case <-poll.C:
		}
	}
}

// Sweep erases all sessions whose retention period is over, and removes
// audio that no session refers to. It returns false if stop or ctx ended it.
func (s *sweeper) Sweep(ctx context.Context, stop <-chan struct{}) bool {
	if s.retain > 0 && !s.expire(ctx, stop) {
		return false
	}
	if err := s.store.Audio().Sweep(ctx, audioAge, nil); err != nil && ctx.Err() == nil {
		s.log.Error("remove audio that no session refers to", "error", err)
	}
	return ctx.Err() == nil
}

// expire erases, step by step, all sessions whose retention period is over.
// It returns false if stop or ctx ended it.
func (s *sweeper) expire(ctx context.Context, stop <-chan struct{}) bool {
	sessions := 0
	defer func() {
		if sessions > 0 {
			s.log.Info("erased sessions after their retention period", "sessions", sessions)
			s.erased()
		}
	}()
	for {
		n, err := s.step(ctx)
		sessions += n
		switch {
		case err != nil && ctx.Err() != nil:
			return false
		case err != nil:
			s.log.Error("erase sessions after their retention period", "error", err)
			return true // tried again at the next sweep: an error of the disk does not fill the log
		case n < sweepStep:
			return true
		}
		select {
		case <-stop:
			return false
		case <-time.After(sweepPause):
		}
	}
}

// step erases at most sweepStep sessions and reports which.
func (s *sweeper) step(ctx context.Context) (n int, err error) {
	if s.report != nil {
		if err := s.report(nil); err != nil {
			return 0, fmt.Errorf("nothing was erased, as no report of it can be made: %w", err)
		}
	}
	list, err := s.store.Expire(ctx, s.retain, sweepStep)
	if s.report != nil && len(list) > 0 {
		if rerr := s.report(list); rerr != nil {
			err = errors.Join(err, fmt.Errorf("%d sessions were erased and not reported: %w", len(list), rerr))
		}
	}
	return len(list), err
}
