package voicescreen

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// Engine takes recordings, analyses them in the background and keeps the
// results. It embeds an [Account], the one named "", and so has all of its
// methods, which is all that a program with one tenant needs. It is safe for
// concurrent use.
//
//	e, err := voicescreen.Open("clinic.db", nil)
//	…
//	id, err := e.Initiate(ctx, voicescreen.InitiateRequest{UserID: "patient-17", Consent: true})
//	ack, err := e.Submit(ctx, id, file, nil)
//	result, err := e.Wait(ctx, id)
type Engine struct {
	*defaultAccount

	opts      Options // without zero fields
	store     store.Store
	owned     bool                    // whether the store is this engine's alone, and closed with it
	models    atomic.Pointer[scorers] // made with what learned held at some time
	learned   *learned
	learning  sync.Mutex     // one Calibrate at a time
	measurers chan *Measurer // one for each analysis at a time; nil entries are made on first use
	owner     string         // of the leases of this engine
	watchers  watchers
	notifier  notifier

	wake     chan struct{} // one token for each worker that should look for work
	closing  chan struct{} // closed when no more work is taken
	ctx      context.Context
	cancel   context.CancelFunc // ends calls and analyses that outlast Close
	workers  sync.WaitGroup
	uploads  atomic.Int64 // submissions under way
	jobs     jobs         // analyses under way
	closeErr error        // what the first Close returned; valid once closed is closed
	closed   chan struct{}

	damagedWork, damagedNotices seldom // in the queues

	mu    sync.Mutex // protects the two below
	done  bool       // Close was called: no call may begin
	calls sync.WaitGroup
}

// defaultAccount is Account by another name: an embedded field of the name
// Account would stand in the way of the method.
type defaultAccount = Account

// Open opens or creates the bbolt store at path and returns an Engine on it
// with the shipped scorers. It begins at once with what was queued or in work
// when the last process ended. Close closes the store too. One process can
// have a store open at a time. With Options.Store.Key what it stores is
// encrypted.
func Open(path string, opts *Options) (*Engine, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	st, err := bolt.Open(path, &o.Store)
	if err != nil {
		return nil, fmt.Errorf("voicescreen: open: %w", err)
	}
	e, err := start(st, &o, true)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return e, nil
}

// New returns an Engine on any store. It begins at once with what is queued
// there. The caller closes the store after the Engine.
func New(st store.Store, opts *Options) (*Engine, error) { return start(st, opts, false) }

func start(st store.Store, opts *Options, owned bool) (*Engine, error) {
	o := opts.withDefaults()
	if err := o.Results.check(); err != nil {
		return nil, err
	}
	if err := o.Scoring.check(); err != nil {
		return nil, err
	}
	o.Scoring.Thresholds = o.Scoring.Thresholds.Clone()
	o.Scoring.BaseRates = maps.Clone(o.Scoring.BaseRates)
	learned, err := openLearned(context.Background(), st)
	if err != nil {
		return nil, err
	}
	scorers, err := newScorers(&o, learned.value.Load())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &Engine{
		opts:      o,
		store:     st,
		owned:     owned,
		learned:   learned,
		measurers: make(chan *Measurer, measurerCount(o.Workers)),
		owner:     newID(),
		wake:      make(chan struct{}, max(o.Workers, 1)),
		closing:   make(chan struct{}),
		closed:    make(chan struct{}),
		ctx:       ctx,
		cancel:    cancel,
		notifier:  newNotifier(),
	}
	e.models.Store(scorers)
	e.defaultAccount = e.Account("")
	for range cap(e.measurers) {
		e.measurers <- nil
	}
	for range o.Workers {
		e.workers.Go(e.work)
	}
	if o.Results.Notify.Send != nil {
		e.workers.Go(e.notify)
	}
	if o.Workers > 0 {
		e.workers.Go(e.sweepOrphans)
	}
	if o.Results.Retain > 0 {
		e.workers.Go(e.sweep)
	}
	return e, nil
}

// Account returns the part of the engine that a tenant sees: sessions and
// users of one account do not exist for another. Any name is an account,
// known to nobody until it is used; "" is the one that Engine embeds.
func (e *Engine) Account(name string) *Account { return &Account{engine: e, name: name} }

// Ready returns nil if the engine can do what it is for: the store can be
// written to, the queue is below its limit and there is a scorer for every
// category. The error is ErrClosed, ErrBusy, or internal.
func (e *Engine) Ready(ctx context.Context) error {
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := e.store.Ping(ctx); err != nil {
		return e.internal("ping the store", err)
	}
	for _, c := range allCategories {
		if _, ok := e.scorers().of[c]; !ok {
			return fmt.Errorf("voicescreen: no model for %v", c)
		}
	}
	return e.checkQueue(ctx, 0)
}

// Busy returns ErrBusy if the queue is full, counting submissions on their way:
// Submit would refuse a recording now. Other errors are ErrClosed and internal.
func (e *Engine) Busy(ctx context.Context) error {
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return e.checkQueue(ctx, int(e.uploads.Load()))
}

// Queued returns how many recordings wait or are being analysed, in all
// accounts together and by whatever engine on the store.
func (e *Engine) Queued(ctx context.Context) (int, error) {
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	n, err := e.store.Due(ctx)
	return n, e.internal("count the queue", err)
}

// Backup makes a store at path of what the engine's holds at one moment, while
// calls and analyses go on: see [bolt.Store.Backup], which says what may be at
// path. The error is errors.ErrUnsupported if the store has no such method, as
// bolt's has.
func (e *Engine) Backup(ctx context.Context, path string) error {
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	st, ok := e.store.(interface {
		Backup(ctx context.Context, path string) error
	})
	if !ok {
		return fmt.Errorf("voicescreen: back up the store: %w", errors.ErrUnsupported)
	}
	return e.internal("back up the store", st.Backup(ctx, path))
}

// closeGrace is how long Close goes on after its ctx, to hand back leases and
// to close the store. Chosen: a few transactions on a slow disk.
const closeGrace = 2 * time.Second

// Close stops taking work and calls, which are ErrClosed from here on, and
// waits for the analyses, notices and calls under way. If ctx is done first, the
// sessions in work go back to the queue, as if no attempt had been made, for
// the next start or another process; Close then returns ctx's error. What is
// queued stays queued. Further calls of Close wait for the first and return
// what it returned.
//
// An analysis that ctx cut off may use the processor for a moment longer. Its
// result is dropped. What goes back to the queue waits for the store, whatever
// ctx says: a store whose calls do not return, as on a disk that does not
// answer, holds Close up.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	first := !e.done
	e.done = true
	e.mu.Unlock()
	if first {
		close(e.closing)
		e.closeErr = e.shutdown(ctx)
		close(e.closed)
	}
	<-e.closed
	return e.closeErr
}

func (e *Engine) shutdown(ctx context.Context) error {
	defer e.cancel()
	e.watchers.wakeAll() // Wait returns ErrClosed
	idle := make(chan struct{})
	go func() {
		e.workers.Wait()
		e.calls.Wait()
		close(idle)
	}()
	var err error
	select {
	case <-idle:
	case <-ctx.Done():
		err = fmt.Errorf("voicescreen: close: %w", ctx.Err())
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeGrace)
		defer cancel()
		for _, s := range e.jobs.all() {
			e.handBack(grace, s)
		}
		e.cancel()
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
		return errors.Join(err, errors.New("voicescreen: close: the store waits for a call that goes on"))
	}
}

// afterDone returns a channel that is closed grace after ctx is done.
func afterDone(ctx context.Context, grace time.Duration) <-chan struct{} {
	late := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(grace, func() { close(late) }) })
	return late
}

// enter begins a call. Its context ends with ctx, and when Close gives up
// waiting for the call. Leave must be called when the call is over.
func (e *Engine) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done {
		return nil, nil, ErrClosed
	}
	e.calls.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(e.ctx, cancel)
	return ctx, func() { stop(); cancel(); e.calls.Done() }, nil
}

// now is the time by which the engine paces itself. What is stored has the
// store's.
func (e *Engine) now() time.Time { return e.opts.clock().UTC().Round(0) }

// internal turns an error of the store into one of this package.
func (e *Engine) internal(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, store.ErrClosed):
		return ErrClosed
	}
	return fmt.Errorf("voicescreen: %s: %w", doing, err)
}
