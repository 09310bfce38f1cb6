package voicescreen

import (
	"context"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/store"
)

// The types of the background work, whose methods tests call.
type (
	Worker   = worker
	Notifier = notifier
	Sweeper  = sweeper
)

// NewIdle returns an Engine that has the parts that its options ask for, and
// starts none of them. Owned says whether Close closes the store.
func NewIdle(st store.Store, opts *Options, owned bool) (*Engine, error) {
	return newEngine(st, opts, owned)
}

// Background returns the context of the background work, and who does it.
func (e *Engine) Background() (context.Context, *Worker, *Notifier, *Sweeper) {
	return e.life.ctx, e.worker, e.notifier, e.sweeper
}

// Step is Worker.Step as background work: Close waits for it.
func (e *Engine) Step() (worked bool) {
	e.life.background.Add(1)
	defer e.life.background.Done()
	return e.worker.Step(e.life.ctx)
}

// SetMeasurers makes the engine use these, one for each of its analyses at a
// time.
func (e *Engine) SetMeasurers(ms ...*features.Measurer) { e.analyzer.measurers = newMeasurers(ms...) }
