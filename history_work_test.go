package voicescreen_test

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// hookedStore tells the history what workers and senders take, which no call
// returns.
type hookedStore struct {
	store.Store
	h *history
}

// planted returns the store with the fault that the flag names, if any.
func planted(st store.Store) store.Store {
	if plant := faults[*fault]; plant != nil {
		return plant(st)
	}
	return st
}

func (st *hookedStore) Audio() store.Audio {
	return hookedAudio{Audio: st.Store.Audio(), put: st.putAudio}
}

func (st *hookedStore) putAudio(ctx context.Context, r io.Reader) (string, error) {
	var copied []byte
	ref, err := st.Store.Audio().Put(ctx, readerFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		copied = append(copied, p[:n]...)
		return n, err
	}))
	if err == nil {
		st.h.audio[ref] = copied
	}
	return ref, err
}

// Next changes the model by the lease that was taken.
func (st *hookedStore) Next(ctx context.Context, change store.Change) (*store.Session, error) {
	s, err := st.Store.Next(ctx, change)
	if err == nil {
		st.h.leased(s)
	}
	return s, err
}

func (st *hookedStore) NextNotice(ctx context.Context, without []string, change store.Change) (*store.Session, error) {
	for _, s := range st.h.sessions {
		st.h.settle(s)
	}
	unwanted := false
	s, err := st.Store.NextNotice(ctx, without, func(s *store.Session, now time.Time) error {
		err := change(s, now)
		if unwanted = err != nil; unwanted && slices.Contains(st.h.wanted, s.Account) {
			st.h.Fatalf("the notice of session %s is of an account that wants it, and was left", s.ID)
		}
		return err
	})
	if !unwanted { // else the notifier asks again, without that account
		st.h.noticed(s, err)
	}
	return s, err
}

// attempt is a step of a worker that is under way.
type attempt struct {
	p      *player
	dies   bool      // right after it took the session
	s      *expected // what it took; nil if nothing
	lease  expected  // as it was then
	called bool      // whether the scorer was
	err    error     // of the scorer
}

// holds says whether the session is still under the lease of the attempt.
func (a *attempt) holds(h *history) bool {
	s := h.find(a.lease.account, a.lease.id)
	return s != nil && s.state == screen.StatusProcessing && s.owner == a.lease.owner && s.token == a.lease.token
}

// leased checks that a session was one to be taken, and takes it in the model.
func (h *history) leased(got *store.Session) {
	a, now := h.attempts[len(h.attempts)-1], h.time()
	p, s := a.p, h.find(got.Account, got.ID)
	if s == nil {
		h.Fatalf("a worker took session %s, which there is not", got.ID)
	}
	longest := h.earliest(func(s *expected) time.Time { return s.due })
	if !s.due.Equal(longest) || s.due.After(now) {
		h.Fatalf("a worker took a session due at %v at %v, want the one due at %v", s.due, now, longest)
	}
	if s.attempts >= worldAttempts { // whoever had it the last time died
		h.final(s, screen.StatusFailed, screen.CodeInternal, now)
		if !a.dies {
			h.announce(s)
		}
		a.s, a.lease = s, *s
		reached["a recording has killed its workers"]++
		return
	}
	if p.owner == "" {
		p.owner = got.Owner
		if slices.Contains(h.owners, p.owner) {
			h.Fatalf("two engines lease as %q", p.owner)
		}
		h.owners = append(h.owners, p.owner)
	}
	s.owner, s.due = p.owner, now.Add(worldLease)
	s.token++
	s.attempts++
	a.s, a.lease = s, *s
}

// work is one step of a worker.
func (h *history) work() {
	p := h.player()
	if p == nil {
		return
	}
	if h.depth == 0 {
		for i, e := range h.engines { // a scorer that panics cost the engine one
			e.SetMeasurers(measurers[2*i : 2*i+2]...)
		}
	}
	a := &attempt{p: p}
	h.attempts = append(h.attempts, a)
	worked := p.Step()
	h.attempts = h.attempts[:len(h.attempts)-1]
	if worked != (a.s != nil) {
		h.Fatalf("a worker says that it worked: %v, and took %+v", worked, a.s)
	}
	if !worked {
		h.idle()
	}
	switch {
	case !a.holds(h):
		if a.s != nil && a.s.state != screen.StatusFailed {
			reached["a lease is lost"]++
		}
	case a.lease.recording.code != "":
		h.final(a.s, screen.StatusFailed, a.lease.recording.code, h.time())
		h.announce(a.s)
	case !a.called:
		h.Fatalf("session %s was not scored", a.lease.id)
	case a.err == nil:
		reached["a recording is scored"]++
		h.final(a.s, screen.StatusSuccess, "", h.time())
		h.announce(a.s)
	default:
		reached["an attempt fails"]++
		h.attemptFailed(a.s, h.time())
	}
	if p.closed {
		h.restarted(p)
	}
}

// idle checks that there was nothing for a worker to take.
func (h *history) idle() {
	now := h.time()
	longest := h.earliest(func(s *expected) time.Time { return s.due })
	if !longest.IsZero() && !longest.After(now) {
		h.Fatalf("a worker found nothing at %v, want the session due at %v", now, longest)
	}
}

// score is the scorer of p. In its course other things happen, and then it
// succeeds or not.
func (h *history) score(p *player) func(ctx context.Context, in *features.Recording) ([]screen.Score, error) {
	return func(ctx context.Context, in *features.Recording) ([]screen.Score, error) {
		a := h.attempts[len(h.attempts)-1]
		a.called = true
		h.meanwhile(func() { h.renew(a) }, func() { h.closeDuring(a) }, h.overtake)
		switch rapid.IntRange(0, 3).Draw(h.T, "scorer") {
		case 0:
			a.err = errBroken
			return nil, errBroken
		case 1:
			a.err = errBroken
			panic("scorer")
		}
		return newFake(nil).Score(ctx, in)
	}
}

// renew renews the lease of an attempt, as its heart does.
func (h *history) renew(a *attempt) {
	if a.p.closed {
		return
	}
	_ = a.p.worker.Renew(a.p.work) // the lease may be another's
	if a.holds(h) {
		a.s.due = h.time().Add(worldLease)
	}
}

// closeDuring closes the engine of an attempt without waiting for it: the
// session goes back as if it had not been taken.
func (h *history) closeDuring(a *attempt) {
	if a.p.closed {
		return
	}
	reached["an engine is closed during an analysis"]++
	held := a.holds(h)
	a.p.closed = true
	ctx, cancel := context.WithCancel(h.ctx)
	cancel()
	h.want("Close during an analysis", a.p.Close(ctx), context.Canceled)
	if held {
		a.s.owner, a.s.due = "", h.time()
		a.s.attempts--
	}
}

// die is a worker that takes a session and is never heard of again.
func (h *history) die() {
	if p := h.player(); p != nil {
		h.dieAs(p)
	}
}

func (h *history) dieAs(p *player) {
	h.attempts = append(h.attempts, &attempt{p: p, dies: true})
	_, _ = p.worker.Lease(p.work)
	h.attempts = h.attempts[:len(h.attempts)-1]
}

// overtake has another worker take what was not heard of for too long.
func (h *history) overtake() {
	h.now.Add(worldLease)
	rapid.SampledFrom([]func(){h.work, h.die}).Draw(h.T, "by")()
}

// expire erases what was retained for long enough.
func (h *history) expire() {
	p := h.player()
	if p == nil {
		return
	}
	p.sweeper.Sweep(p.work, nil)
	before := h.time().Add(-worldRetain)
	for id, s := range h.sessions {
		if s.state != screen.StatusProcessing && !s.updated.After(before) {
			reached["a session expires"]++
			delete(h.sessions, id)
		}
	}
}

// restart ends one engine, in order or not, and starts another.
func (h *history) restart() {
	p := h.player()
	if p == nil {
		return
	}
	if rapid.IntRange(0, 3).Draw(h.T, "in order") == 3 {
		h.want("Close", p.Close(h.ctx), nil)
	} else {
		h.dieAs(p)
		if h.owned {
			h.want("Close of the store", h.st.Close(), nil)
		}
	}
	h.restarted(p)
}

// restarted starts an engine in the place of one that ended, and opens the
// store if that was closed with it.
func (h *history) restarted(p *player) {
	if h.owned {
		h.openAgain()
	}
	h.start(p)
}

func (h *history) openAgain() {
	st, err := h.open()
	if err != nil {
		h.Fatalf("open the store again: %v", err)
	}
	h.st.Store = planted(st)
	h.release()
}

// release is what a store does when it is opened: whoever put a session off into
// the future is gone.
func (h *history) release() {
	var late []*expected
	now := h.time()
	for _, s := range h.sessions {
		if s.due.After(now) {
			late = append(late, s)
		}
	}
	slices.SortFunc(late, func(a, b *expected) int { return cmp.Or(a.due.Compare(b.due), strings.Compare(a.id, b.id)) })
	for i, s := range late {
		if s.owner != "" {
			reached["the lease of a dead process is released"]++
		}
		s.owner, s.due = "", now.Add(-time.Duration(len(late)-1-i)*time.Microsecond)
	}
}

// reopen closes everything and opens it again.
func (h *history) reopen() {
	if h.open == nil || h.owned {
		return
	}
	for _, p := range h.engines {
		h.want("Close", p.Close(h.ctx), nil)
	}
	h.want("Close of the store", h.st.Close(), nil)
	h.openAgain()
	for _, p := range h.engines {
		h.start(p)
	}
}
