package voicescreen

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// Engine takes recordings, analyses them in the background and keeps the
// results. It embeds the [Account] of the name "", which is enough for a program
// with one tenant; [Engine.Tenant] returns the others. It is safe for concurrent
// use.
//
//	e, err := voicescreen.Open("clinic.db", nil)
//	…
//	id, err := e.Initiate(ctx, voicescreen.InitiateRequest{UserID: "patient-17", Consent: true})
//	ack, err := e.Submit(ctx, id, file, nil)
//	result, err := e.Wait(ctx, id)
type Engine struct {
	*Account // the account ""

	opts    Options // without zero fields
	store   *countedStore
	owned   bool         // whether Close closes the store
	uploads atomic.Int64 // submissions under way
	waiters watchers
	life    *lifetime

	analyzer *analyzer
	worker   *worker
	notifier *notifier
	sweeper  *sweeper
	learner  *learner
}

// Open opens or creates the bbolt store at path and returns an Engine on it
// with the shipped scorers. The Engine begins at once with the recordings that
// were queued or under analysis when the last process ended. Close closes the
// store too. One process can have a store open at a time. With Options.Store.Key
// the store is encrypted.
func Open(path string, opts *Options) (*Engine, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	st, err := bolt.Open(path, &o.Store)
	if err != nil {
		return nil, fmt.Errorf("voicescreen: open: %w", err)
	}
	e, err := newEngine(st, &o, true)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	e.start()
	return e, nil
}

// New returns an Engine on any store. It begins at once with the queue of the
// store. The caller closes the store after the Engine. The error is an InvalidError
// for a store that is nil and for options out of range, or internal.
func New(st store.Store, opts *Options) (*Engine, error) {
	e, err := newEngine(st, opts, false)
	if err != nil {
		return nil, err
	}
	e.start()
	return e, nil
}

// newEngine returns an Engine without background work.
func newEngine(st store.Store, opts *Options, owned bool) (*Engine, error) {
	if st == nil {
		return nil, &InvalidError{Fields: map[string]Problem{"store": Unprovided}, Detail: "the store is nil"}
	}
	o := opts.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	counted := newCountedStore(st)
	learner, err := newLearner(counted, &o)
	if err != nil {
		return nil, err
	}
	thresholds, err := newThresholds(counted, o.Scoring.Thresholds)
	if err != nil {
		return nil, err
	}
	e := &Engine{opts: o, store: counted, owned: owned, life: newLifetime(), learner: learner}
	e.Account = e.Tenant("")
	e.analyzer = newAnalyzer(counted, &o, learner.Scorers, thresholds)
	e.notifier = newNotifier(counted, &o)
	e.sweeper = newSweeper(counted, &o, e.waiters.wakeAll)
	e.worker = newWorker(counted, &o, e.analyzer.session, e.notifier.Wants, e.ended)
	return e, nil
}

// start starts the background work that the options ask for.
func (e *Engine) start() {
	for range e.opts.Workers {
		e.life.run(e.worker.Run)
	}
	if e.opts.Results.Notify.Send != nil {
		e.life.run(e.notifier.Run)
	}
	e.life.run(e.sweeper.Run)
	e.life.run(e.learner.Run)
	if st, ok := store.As[store.Watcher](e.store); ok {
		e.life.run(func(ctx context.Context, stop <-chan struct{}) {
			e.waiters.watch(ctx, stop, st, e.opts.Logger, e.worker.Hint)
		})
	}
}

// ended passes on that a session has its result: to calls of Wait, the notifier,
// and OnResult.
func (e *Engine) ended(ctx context.Context, s *store.Session) {
	e.waiters.wakeOne(s.Account, s.ID)
	if !s.Notify.IsZero() {
		e.notifier.Wake()
	}
	if e.opts.Results.OnResult == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			e.opts.Logger.Error("OnResult panicked", "session", s.ID, "panic", panicError(v))
		}
	}()
	e.opts.Results.OnResult(ctx, s.Account, newResult(s))
}

// internal turns an error of the store into one of this package.
func internal(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, store.ErrClosed):
		return ErrClosed
	case store.IsFull(err):
		return fmt.Errorf("%w: %s: %w", ErrFull, doing, err)
	case errors.Is(err, store.ErrUnavailable):
		return fmt.Errorf("%w: %s: %w", ErrUnavailable, doing, err)
	}
	return fmt.Errorf("voicescreen: %s: %w", doing, err)
}
