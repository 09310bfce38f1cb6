package voicescreen

import (
	"time"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/store"
)

// What follows lets a test take the part of an engine's goroutines, one step at
// a time, on an engine that has none: Workers is negative and neither Retain
// nor Notify is set in its Options.

// NewOwned is New of an engine that has the store to itself, as Open makes it.
func NewOwned(st store.Store, opts *Options) (*Engine, error) { return start(st, opts, true) }

// SetResults sets what New would start goroutines for.
func (e *Engine) SetResults(r ResultOptions) { e.opts.Results = r }

// SetMeasurers makes the engine use these, one for each of its analyses at a
// time.
func (e *Engine) SetMeasurers(ms ...*features.Measurer) {
	e.measurers = make(chan *features.Measurer, len(ms))
	for _, m := range ms {
		e.measurers <- m
	}
}

// Step is what a worker does between two looks at whether the engine closes: it
// takes a session and analyses it. It returns false where there was none.
func (e *Engine) Step() bool {
	e.workers.Add(1)
	defer e.workers.Done()
	return e.step()
}

// Lease is what a worker does that dies right after.
func (e *Engine) Lease() { _, _ = e.lease() }

// Renew renews the leases of the analyses under way.
func (e *Engine) Renew() {
	for _, s := range e.jobs.all() {
		_ = e.renew(e.ctx, s)
	}
}

// Expire erases what was retained for long enough by now.
func (e *Engine) Expire() { e.expire(e.opts.Results.Retain) }

// SendNotices is what a sender of the account's notices does. It returns false
// where there may be none now.
func (e *Engine) SendNotices(account string) bool {
	if !e.notifier.begin(account, e.now()) {
		return false
	}
	e.sendAll(account)
	return true
}

// SetClock sets the clock by which the engine paces itself, and that of the
// store that Open opens.
func (o *Options) SetClock(now func() time.Time) { o.clock, o.Store.Now = now, now }
