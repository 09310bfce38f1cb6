package voicescreen

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// errLeaseLost says that a session is no longer under the worker's lease: the
// lease ran out and another worker has one, or it was released.
var errLeaseLost = errors.New("voicescreen: the lease was lost")

// Lease takes the session that has been due longest. One whose last allowed
// attempt ended without an outcome, with its process for example, comes back
// failed. The error is store.ErrNoneDue, or store.ErrDamaged where a record in
// the queue cannot be read and there is no other to take.
func (w *worker) Lease(ctx context.Context) (*store.Session, error) {
	var before owedLease
	s, err := w.store.Next(ctx, func(s *store.Session, now time.Time) error {
		if before = leaseOf(s); s.Owner == w.owner && w.owed.has(s) {
			s.Attempts--
		}
		if s.Attempts >= w.opts.Attempts {
			w.fail(s, now, internalFailure())
			return nil
		}
		s.Owner = w.owner
		s.Token++
		s.Attempts++
		s.Due = now.Add(w.opts.Lease)
		return nil
	})
	if err == nil {
		w.owed.remove(before)
	}
	return s, err
}

// owed are the leases of this process whose attempt does not count, as neither their
// outcome nor that could be stored. The zero value is ready.
type owed struct {
	mu sync.Mutex // protects m
	m  map[owedLease]time.Time
}

// owedLease is a lease: a session has no other with its token.
type owedLease struct {
	session screen.SessionKey
	token   uint64
}

// owedFor is how long a lease is kept in mind: another process may have taken the session, or
// its user may be erased. Chosen: longer than a disk stays full unseen.
const owedFor = 24 * time.Hour

func (o *owed) add(s *store.Session) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(o.m, func(_ owedLease, since time.Time) bool { return now.Sub(since) > owedFor })
	if o.m == nil {
		o.m = map[owedLease]time.Time{}
	}
	o.m[leaseOf(s)] = now
}

// has says whether a record is still under a lease that is owed.
func (o *owed) has(s *store.Session) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, is := o.m[leaseOf(s)]
	return is
}

func (o *owed) remove(l owedLease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.m, l)
}

func leaseOf(s *store.Session) owedLease {
	return owedLease{screen.SessionKey{Account: s.Account, ID: s.ID}, s.Token}
}

// holds says whether the record r is still under the lease of s.
func holds(r, s *store.Session) bool {
	return r.Leased() && r.Owner == s.Owner && r.Token == s.Token
}

// Renew renews the leases of all analyses under way.
func (w *worker) Renew(ctx context.Context) error {
	var errs []error
	for _, s := range w.jobs.all() {
		errs = append(errs, w.renew(ctx, s))
	}
	return errors.Join(errs...)
}

// renew extends the lease of s to its full length from now. The error is
// errLeaseLost or store.ErrNotFound where s is no longer under it.
func (w *worker) renew(ctx context.Context, s *store.Session) error {
	_, err := w.store.Update(ctx, s.Account, s.ID, func(r *store.Session, now time.Time) error {
		if !holds(r, s) {
			return errLeaseLost
		}
		r.Due = now.Add(w.opts.Lease)
		return nil
	})
	return err
}

// Release puts all sessions under analysis back into the queue.
func (w *worker) Release(ctx context.Context) {
	for _, s := range w.jobs.all() {
		w.release(ctx, s, 0)
	}
}

// release puts a leased session back into the queue, due after a time, and reports whether
// it is no longer under the lease. The token stays, so that the outcome of the attempt is
// dropped.
func (w *worker) release(ctx context.Context, s *store.Session, after time.Duration) bool {
	_, err := w.store.Update(ctx, s.Account, s.ID, func(r *store.Session, now time.Time) error {
		if !holds(r, s) {
			return errLeaseLost
		}
		putBack(r, now.Add(after))
		return nil
	})
	switch {
	case err == nil, errors.Is(err, errLeaseLost), errors.Is(err, store.ErrNotFound):
		return true
	case !errors.Is(err, store.ErrClosed):
		w.log.Error("release a session", "session", s.ID, "error", err)
	}
	return false
}

// unavailableDelays is how many times QueueOptions.RetryDelay a session waits whose
// recording could not be read because a server does not answer, or whose outcome could not
// be stored for lack of room. Chosen: with the default the queue asks a server that is down
// for each recording every 4 s.
const unavailableDelays = 4

// pause is how long such a session waits.
func (w *worker) pause() time.Duration { return unavailableDelays * w.opts.RetryDelay }

// putBack puts a leased session back into the queue without counting the attempt.
func putBack(s *store.Session, due time.Time) {
	s.Owner = ""
	s.Due = due
	s.Attempts--
}

// finish takes a session out of the queue for good, and puts a notice into the
// queue of notices in the same transaction. The store removes the audio that the
// session no longer refers to.
func (w *worker) finish(s *store.Session, now time.Time) {
	s.Audio = ""
	s.Owner = ""
	s.Due = time.Time{}
	s.UpdatedAt = now
	if w.wanted(s.Account) {
		s.Notify = now
	}
}

func (w *worker) fail(s *store.Session, now time.Time, why *screen.Failure) {
	w.finish(s, now)
	s.Status = screen.StatusFailed
	s.Failure = why
}
