package voicescreen

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// errLeaseLost says that the session is no longer this worker's: the lease ran
// out and another one has it, or it was handed back.
var errLeaseLost = errors.New("voicescreen: the lease was lost")

// wakeWorker makes one idle worker, if there is one, look for work at once.
func (e *Engine) wakeWorker() {
	select {
	case e.wake <- struct{}{}:
	default: // as many tokens as workers are waiting already
	}
}

// work is one worker: it leases sessions and analyses them until the engine
// closes.
func (e *Engine) work() {
	poll := time.NewTicker(e.opts.Queue.Poll)
	defer poll.Stop()
	for {
		select {
		case <-e.closing:
			return
		default:
		}
		if e.step() {
			continue
		}
		select {
		case <-e.closing:
			return
		case <-e.wake:
		case <-poll.C:
		}
	}
}

// step takes a session, if one is due, and makes an attempt at it.
func (e *Engine) step() (worked bool) {
	s, err := e.lease()
	switch {
	case errors.Is(err, store.ErrNoneDue):
		return false
	case err != nil:
		if !errors.Is(err, store.ErrDamaged) || e.damagedWork.due() {
			e.opts.Logger.Error("take a session from the queue", "error", err)
		}
		return false
	case s.Status.Final():
		e.finished(s)
	default:
		e.run(s)
	}
	return true
}

// seldom says when to log again what each poll finds. The zero value is ready,
// and safe for concurrent use.
type seldom struct{ last atomic.Pointer[time.Time] }

// logEvery is how often that is. Chosen: an operator sees that it goes on, and
// finds the rest of the log.
const logEvery = time.Minute

// due says whether it is time, by a clock that nobody sets back.
func (s *seldom) due() bool {
	now, last := time.Now(), s.last.Load()
	return (last == nil || now.Sub(*last) >= logEvery) && s.last.CompareAndSwap(last, &now)
}

// lease takes the session that has been due longest. One whose last allowed
// attempt ended without a word, with the process perhaps, comes back Failed.
// The error is store.ErrDamaged where one in the queue cannot be read, and there
// is no other to take.
func (e *Engine) lease() (*store.Session, error) {
	return e.store.Next(e.ctx, func(s *store.Session, now time.Time) error { e.take(s, now); return nil })
}

// retryDelay is the pause after so many attempts.
func (e *Engine) retryDelay(attempts int) time.Duration {
	return e.opts.Queue.RetryDelay << (attempts - 1)
}

// take puts a session under a lease, or out of the queue after its attempts.
func (e *Engine) take(s *store.Session, now time.Time) {
	if s.Attempts >= e.opts.Queue.Attempts {
		e.finish(s, now)
		s.Status = screen.StatusFailed
		s.Failure = internalFailure()
		return
	}
	s.Owner = e.owner
	s.Token++
	s.Attempts++
	s.Due = now.Add(e.opts.Queue.Lease)
}

// finish takes a session out of the queue for good. The store removes the
// audio that it lets go of.
func (e *Engine) finish(s *store.Session, now time.Time) {
	s.Audio = ""
	s.Owner = ""
	s.Due = time.Time{}
	s.UpdatedAt = now
	if e.wanted(s.Account) {
		s.Notify = now
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

// run makes one attempt at a leased session and stores what came of it.
func (e *Engine) run(s *store.Session) {
	e.jobs.add(s)
	defer e.jobs.remove(s)
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	beating, stop := context.WithCancel(ctx)
	var heart sync.WaitGroup
	heart.Go(func() { e.beat(beating, s, cancel) })

	out, err := e.attempt(ctx, s)
	stop()
	heart.Wait()
	if e.ctx.Err() != nil { // Close gave up waiting, perhaps before it saw this job
		late, cancel := context.WithTimeout(context.Background(), closeGrace)
		defer cancel()
		e.handBack(late, s)
	}
	if ctx.Err() != nil {
		return // the lease was lost or handed back: what came of it is dropped
	}
	e.complete(ctx, s, out, err)
}

// beat renews the lease of s until ctx is done. It calls lost if somebody else
// has the session, or nobody.
func (e *Engine) beat(ctx context.Context, s *store.Session, lost func()) {
	tick := time.NewTicker(e.opts.Queue.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := e.renew(ctx, s)
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, errLeaseLost), errors.Is(err, store.ErrNotFound):
			lost()
			return
		default:
			e.opts.Logger.Warn("renew a lease", "session", s.ID, "error", err)
		}
	}
}

// renew makes the lease of s last from now on. The error is errLeaseLost or
// store.ErrNotFound where s is no longer under it.
func (e *Engine) renew(ctx context.Context, s *store.Session) error {
	_, err := e.store.Update(ctx, s.Account, s.ID, func(r *store.Session, now time.Time) error {
		if !holds(r, s) {
			return errLeaseLost
		}
		r.Due = now.Add(e.opts.Queue.Lease)
		return nil
	})
	return err
}

// holds says whether the record r is still under the lease by which s was
// taken.
func holds(r, s *store.Session) bool {
	return r.Leased() && r.Owner == s.Owner && r.Token == s.Token
}

// attempt analyses the recording of s. A panic, of a scorer for example, is an
// error of this attempt and of nothing else.
func (e *Engine) attempt(ctx context.Context, s *store.Session) (out outcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
			e.opts.Logger.Error("analysis panicked", "session", s.ID, "panic", err, "stack", string(debug.Stack()))
		}
	}()
	return e.analyzeSession(ctx, s)
}

// panicError describes a panic. Only the text of the runtime's own is used:
// another may hold anything, a sample or a name.
func panicError(v any) error {
	if err, ok := v.(runtime.Error); ok {
		return fmt.Errorf("voicescreen: panic: %w", err)
	}
	return fmt.Errorf("voicescreen: panic with a value of type %T", v)
}

// complete stores what came of an attempt, under the token of the lease: if
// somebody else has the session by now, nothing happens.
func (e *Engine) complete(ctx context.Context, s *store.Session, out outcome, failed error) {
	final, err := e.store.Update(ctx, s.Account, s.ID, func(r *store.Session, now time.Time) error {
		if !holds(r, s) {
			return errLeaseLost
		}
		switch {
		case failed == nil && out.failure == nil:
			e.finish(r, now)
			r.Status = screen.StatusSuccess
			r.Scores = out.scores
			r.Features = out.features
		case failed == nil:
			e.finish(r, now)
			r.Status = screen.StatusFailed
			r.Failure = out.failure
		case r.Attempts >= e.opts.Queue.Attempts:
			e.finish(r, now)
			r.Status = screen.StatusFailed
			r.Failure = internalFailure()
		default:
			release(r, now.Add(e.retryDelay(r.Attempts)))
		}
		return nil
	})
	log := e.opts.Logger.With("session", s.ID, "attempt", s.Attempts)
	if failed != nil {
		log.Error("analysis failed", "error", failed)
	}
	switch {
	case err == nil && final.Status.Final():
		e.finished(final)
	case err == nil:
	case errors.Is(err, errLeaseLost):
		log.Warn("the lease was lost; the result is dropped")
	case errors.Is(err, store.ErrNotFound):
		log.Info("the session was deleted; the result is dropped")
	default:
		log.Error("store a result", "error", err)
	}
}

// release puts a session under lease back into the queue.
func release(s *store.Session, due time.Time) {
	s.Owner = ""
	s.Due = due
}

// handBack puts a session in work back into the queue, as if it had not been
// taken. The token stays, so that a result that still comes is dropped.
func (e *Engine) handBack(ctx context.Context, s *store.Session) {
	_, err := e.store.Update(ctx, s.Account, s.ID, func(r *store.Session, now time.Time) error {
		if !holds(r, s) {
			return errLeaseLost
		}
		release(r, now)
		r.Attempts--
		return nil
	})
	switch {
	case err == nil, errors.Is(err, errLeaseLost), errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrClosed):
	default:
		e.opts.Logger.Error("hand a session back", "session", s.ID, "error", err)
	}
}

// finished tells those who wait that a session has its result.
func (e *Engine) finished(s *store.Session) {
	e.watchers.wakeOne(s.Account, s.ID)
	if !s.Notify.IsZero() {
		e.notifier.tell(s.Account)
	}
	if e.opts.OnResult == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			e.opts.Logger.Error("OnResult panicked", "session", s.ID, "panic", panicError(v))
		}
	}()
	e.opts.OnResult(e.ctx, s.Account, newResult(s))
}
