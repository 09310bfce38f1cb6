package voicescreen_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/store"
)

// noticePauses are those between the attempts at a notice, as NotifyOptions has
// them.
var noticePauses = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	worldNoticeLease = time.Minute        // a notice that is being sent is not sent again
	worldNoticeAge   = 7 * 24 * time.Hour // an older one is not sent
)

// receiver is what an engine must know of an account that has notices.
type receiver struct {
	senders int
	rest    time.Duration // after failures: from one second on twice as long each time, a minute at most
	until   time.Time
}

// sending is a step of a notifier that is under way.
type sending struct {
	p *player
	s *expected // of the notice; nil if it found none
}

// tell draws anew who is to be told.
func (h *history) tell() {
	h.wanted = rapid.SampledFrom([][]string{nil, {""}, worldAccounts}).Draw(h.T, "wanted")
}

// notices sends the notices that are due, one after the other.
func (h *history) notices() {
	p := h.player()
	if p == nil {
		return
	}
	for again := true; again; {
		n := &sending{p: p}
		h.sending = append(h.sending, n)
		again = p.notifier.Step(p.work)
		h.sending = h.sending[:len(h.sending)-1]
		if again != (n.s != nil) {
			h.Fatalf("a notifier says that it sent a notice: %v, and took that of %+v", again, n.s)
		}
		if n.s != nil {
			p.receivers[n.s.account].senders--
		}
	}
}

// mayTake says whether an engine may take the notice of a session when that is
// due.
func (h *history) mayTake(p *player, s *expected) bool {
	if r := p.receivers[s.account]; r != nil && r.rest > 0 && (r.senders > 0 || h.time().Before(r.until)) {
		return false
	}
	return slices.Contains(h.wanted, s.account) || h.tooOld(s)
}

// isBehind says whether the account of a session wants no notices and has one that is due
// before that of the session and is not too old: an engine looks no further in the account.
func (h *history) isBehind(s *expected) bool {
	if slices.Contains(h.wanted, s.account) {
		return false
	}
	for _, t := range h.sessions {
		if t.account == s.account && !t.notify.IsZero() && t.notify.Before(s.notify) && !h.tooOld(t) {
			return true
		}
	}
	return false
}

func (h *history) tooOld(s *expected) bool { return h.time().Sub(s.updated) > worldNoticeAge }

// noticed checks that a notice was the one to be taken, or that there was none,
// and takes it in the model.
func (h *history) noticed(got *store.Session, err error) {
	n, now := h.sending[len(h.sending)-1], h.time()
	longest := h.earliest(func(s *expected) time.Time {
		if !h.mayTake(n.p, s) || h.isBehind(s) {
			return time.Time{}
		}
		return s.notify
	})
	if errors.Is(err, store.ErrNoneDue) {
		if !longest.IsZero() && !longest.After(now) {
			h.Fatalf("no notice was found at %v, want the one due at %v", now, longest)
		}
		return
	}
	h.want("NextNotice", err, nil)
	s := h.find(got.Account, got.ID)
	if s == nil || !h.mayTake(n.p, s) || !s.notify.Equal(longest) || s.notify.After(now) {
		h.Fatalf("the notice of %+v was taken at %v, want the one due at %v", s, now, longest)
	}
	if h.tooOld(s) {
		reached["a notice was too old"]++
		s.notify = time.Time{}
		return
	}
	s.notices++
	s.notify = time.Time{}
	if s.notices <= len(noticePauses) { // else it is the last attempt
		s.notify = now.Add(worldNoticeLease)
	}
	n.s = s
	if n.p.receivers[s.account] == nil {
		n.p.receivers[s.account] = &receiver{}
	}
	n.p.receivers[s.account].senders++
}

// send receives a notice. In its course other things happen, and then it takes
// the notice or not.
func (h *history) send(p *player) func(context.Context, voicescreen.Notice) error {
	return func(_ context.Context, n voicescreen.Notice) error {
		s := h.sending[len(h.sending)-1].s
		if want := (voicescreen.Notice{Account: s.account, SessionID: s.id, Status: s.state, UpdatedAt: s.updated, Attempt: s.notices}); n != want {
			h.Fatalf("got %+v, want %+v", n, want)
		}
		if !slices.Contains(h.wanted, n.Account) {
			h.Fatalf("got a notice of account %q, want those of %q", n.Account, h.wanted)
		}
		again := func() { h.now.Add(worldNoticeLease); h.notices() }
		h.meanwhile(h.notices, again, again, again, again, again, again)
		r, now := p.receivers[n.Account], h.time()
		fails := rapid.IntRange(0, 2).Draw(h.T, "receiver")
		if fails == 0 {
			r.rest = 0
		} else {
			r.rest = min(max(2*r.rest, time.Second), time.Minute)
			r.until = now.Add(r.rest)
		}
		if s := h.find(n.Account, n.SessionID); s != nil && s.notices != n.Attempt {
			reached["a notice is sent by two"]++ // and the other one says how it goes on
		} else if s != nil {
			reached["a result is told"]++
			s.notify = time.Time{}
			if fails > 0 && n.Attempt <= len(noticePauses) {
				pause := noticePauses[n.Attempt-1]
				s.notify, s.jitter = now.Add(pause), pause/5+1
			}
		}
		if fails == 1 {
			panic("receiver")
		}
		if fails == 2 {
			return errBroken
		}
		return nil
	}
}
