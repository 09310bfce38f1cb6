package voicescreen

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/voicescreen/voicescreen/internal/throttle"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// worker takes sessions from the queue under a lease, analyses their
// recordings and stores the results. It is safe for concurrent use: an Engine
// has one worker, and runs it in as many goroutines as Options.Workers says.
type worker struct {
	store   store.Store
	opts    QueueOptions // without zero fields
	log     *slog.Logger
	owner   string                                                       // of its leases
	analyze func(ctx context.Context, s *store.Session) (outcome, error) // an error is an attempt that failed
	wanted  func(account string) bool                                    // whether the account wants notices
	ended   func(ctx context.Context, s *store.Session)                  // called once a final status is stored
	wake    chan struct{}                                                // one token for each goroutine that should look for work
	jobs    jobs                                                         // analyses under way
	owed    owed                                                         // attempts
	seldom  throttle.Line                                                // errors of the queue
	hinted  atomic.Bool                                                  // whether a hint waits for its pause
}

// newWorker returns a worker with the options of an Engine, without zero fields.
func newWorker(st store.Store, o *Options, analyze func(context.Context, *store.Session) (outcome, error), wanted func(account string) bool, ended func(context.Context, *store.Session)) *worker {
	return &worker{
		store: st, opts: o.Queue, log: o.Logger, owner: newID(),
		analyze: analyze, wanted: wanted, ended: ended,
		wake: make(chan struct{}, max(o.Workers, 1)),
	}
}

// Wake makes one idle goroutine, if there is one, look for work at once.
func (w *worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default: // as many tokens as goroutines are waiting already
	}
}

// hintPause is how long hints are collected. Chosen: short for a recording that waits,
// and an idle worker of a busy service asks for work 20 times a second.
const hintPause = 50 * time.Millisecond

// Hint makes the idle goroutines look for work soon: another process may have queued a
// recording.
func (w *worker) Hint() {
	if w.opts.Poll <= hintPause || !w.hinted.CompareAndSwap(false, true) {
		return
	}
	time.AfterFunc(hintPause, func() {
		w.hinted.Store(false)
		for range cap(w.wake) {
			w.Wake()
		}
	})
}

// Run takes and analyses sessions until stop is closed. Ctx ends the analysis
// under way.
func (w *worker) Run(ctx context.Context, stop <-chan struct{}) {
	poll := time.NewTicker(w.opts.Poll)
	defer poll.Stop()
	for {
		select {
		case <-stop:
			return
		default:
		}
		if w.Step(ctx) {
			continue
		}
		select {
		case <-stop:
			return
		case <-w.wake:
		case <-poll.C:
		}
	}
}

// Step takes a session, if one is due, and makes an attempt at it. It returns
// false if there was none.
func (w *worker) Step(ctx context.Context) (worked bool) {
	s, err := w.Lease(ctx)
	switch {
	case errors.Is(err, store.ErrNoneDue):
		return false
	case err != nil:
		logInQueue(w.log, "take a session from the queue", err, &w.seldom)
		return false
	case s.Status.Final():
		w.ended(ctx, s)
	default:
		w.run(ctx, s)
	}
	return true
}

// logInQueue logs an error of a queue. A damaged record is found at each search, and a
// store that does not answer, or has no room, is asked by every worker: they are logged
// seldom.
func logInQueue(log *slog.Logger, what string, err error, seldom *throttle.Line) {
	if errors.Is(err, store.ErrDamaged) || mayPass(err) {
		seldom.Log(log, slog.LevelError, what, "error", err)
		return
	}
	log.Error(what, "error", err)
}

// run makes one attempt at a leased session and stores the outcome.
func (w *worker) run(base context.Context, s *store.Session) {
	w.jobs.add(s)
	defer w.jobs.remove(s)
	ctx, cancel := context.WithCancel(base)
	defer cancel()
	beating, stop := context.WithCancel(ctx)
	var heart sync.WaitGroup
	heart.Go(func() { w.beat(beating, s, cancel) })

	out, err := w.attempt(ctx, s)
	stop()
	heart.Wait()
	if base.Err() != nil { // Close gave up waiting, perhaps before it saw this job
		late, cancel := context.WithTimeout(context.Background(), closeGrace)
		defer cancel()
		w.release(late, s, 0)
	}
	if ctx.Err() != nil {
		return // the lease was lost or released: the outcome is dropped
	}
	w.complete(ctx, s, out, err)
}

// beat renews the lease of s until ctx is done. It calls lost if the session is
// no longer under the lease.
func (w *worker) beat(ctx context.Context, s *store.Session, lost func()) {
	tick := time.NewTicker(w.opts.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := w.renew(ctx, s)
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, errLeaseLost), errors.Is(err, store.ErrNotFound):
			lost()
			return
		default:
			w.log.Warn("renew a lease", "session", s.ID, "error", err)
		}
	}
}

// attempt analyses the recording of s. A panic, of a scorer for example, fails
// this attempt and nothing else.
func (w *worker) attempt(ctx context.Context, s *store.Session) (out outcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
			w.log.Error("analysis panicked", "session", s.ID, "panic", err, "stack", string(debug.Stack()))
		}
	}()
	return w.analyze(ctx, s)
}

// mayPass reports whether a later call may succeed after an error of a store: its server does
// not answer, or no room is left.
func mayPass(err error) bool { return errors.Is(err, store.ErrUnavailable) || store.IsFull(err) }

// complete stores the outcome of an attempt under the token of the lease. If another
// worker has leased the session since, nothing is stored. Where there is no room for it
// the session goes back into the queue: the recording has not failed.
func (w *worker) complete(ctx context.Context, s *store.Session, out outcome, failed error) {
	final, err := w.insist(ctx, s, func(r *store.Session, now time.Time) error {
		if !holds(r, s) {
			return errLeaseLost
		}
		switch {
		case failed == nil && out.failure == nil:
			w.finish(r, now)
			r.Status = screen.StatusSuccess
			r.Scores = out.scores
			r.Features = out.features
			r.Analysed = out.analysed
		case failed == nil:
			w.fail(r, now, out.failure)
			r.Analysed = out.analysed
		case errors.Is(failed, store.ErrUnavailable): // nothing was found out about the recording
			putBack(r, now.Add(w.pause()))
		case r.Attempts >= w.opts.Attempts:
			w.fail(r, now, internalFailure())
		default:
			r.Owner = ""
			r.Due = now.Add(w.opts.RetryDelay << (r.Attempts - 1))
		}
		return nil
	})
	log := w.log.With("session", s.ID, "attempt", s.Attempts)
	if failed != nil {
		log.Error("analysis failed", "error", failed)
	}
	switch {
	case err == nil && final.Status.Final():
		w.ended(ctx, final)
	case err == nil:
	case errors.Is(err, errLeaseLost):
		log.Warn("the lease was lost; the result is dropped")
	case errors.Is(err, store.ErrNotFound):
		log.Info("the session was deleted; the result is dropped")
	default:
		log.Error("store a result", "error", err)
		if mayPass(err) {
			w.owed.add(s)
			if w.release(ctx, s, w.pause()) {
				w.owed.remove(leaseOf(s))
			}
		}
	}
}

// insistEvery is the pause between two attempts to store an outcome. Chosen: a database
// that starts again takes some seconds.
const insistEvery = 500 * time.Millisecond

// insist is an Update of s, again and again while the store is not available or full, for
// the length of a lease: it is cheaper than another analysis. An update whose answer was
// lost may have been made: a session that is final under the token of s is then the result.
func (w *worker) insist(ctx context.Context, s *store.Session, change store.Change) (*store.Session, error) {
	over := time.NewTimer(w.opts.Lease)
	defer over.Stop()
	for again := false; ; again = true {
		final, err := w.store.Update(ctx, s.Account, s.ID, change)
		if again && errors.Is(err, errLeaseLost) {
			r, gerr := w.store.Get(ctx, s.Account, s.ID)
			if gerr == nil && r.Status.Final() && r.Token == s.Token {
				return r, nil
			}
		}
		if !mayPass(err) {
			return final, err
		}
		if store.IsFull(err) { // there may be room for a lease, and so for another attempt
			_ = w.renew(ctx, s)
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-over.C:
			return nil, err
		case <-time.After(insistEvery):
		}
	}
}

// jobs are the analyses under way. The zero value is ready.
type jobs struct {
	mu sync.Mutex // protects m
	m  map[*store.Session]struct{}
}

func (js *jobs) add(s *store.Session) {
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.m == nil {
		js.m = map[*store.Session]struct{}{}
	}
	js.m[s] = struct{}{}
}

func (js *jobs) remove(s *store.Session) {
	js.mu.Lock()
	defer js.mu.Unlock()
	delete(js.m, s)
}

func (js *jobs) all() []*store.Session {
	js.mu.Lock()
	defer js.mu.Unlock()
	list := make([]*store.Session, 0, len(js.m))
	for s := range js.m {
		list = append(list, s)
	}
	return list
}
