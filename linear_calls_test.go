package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// one makes one call.
func (c *concurrent) one(client int, r *rand.Rand) {
	e := c.engines[r.IntN(len(c.engines))].Tenant("clinic")
	c.mu.Lock()
	recent := c.sessions[max(0, len(c.sessions)-linearWindow):]
	id := ""
	if len(recent) > 0 {
		id = recent[r.IntN(len(recent))]
	}
	user := c.users[id]
	c.mu.Unlock()
	n := r.IntN(100)
	if id == "" || n < 8 {
		c.initiate(client, e, fmt.Sprint("user", r.IntN(40)))
		return
	}
	from := c.now()
	switch {
	case n < 26:
		file := [][]byte{tiny, worldRecordings[0].file}[r.IntN(2)]
		_, err := e.Submit(c.t.Context(), id, bytes.NewReader(file), nil)
		c.record(client, id, call{name: "submit"}, from, answer{err: c.sentinel(err)})
	case n < 30:
		_, err := e.Submit(c.t.Context(), id, bytes.NewReader(tiny[:100]), nil)
		c.record(client, id, call{name: "submit what is no audio"}, from, answer{err: c.sentinel(err)})
	case n < 55:
		f := randomLabel(r)
		err := e.Feedback(c.t.Context(), id, f)
		c.record(client, id, call{"feedback", f}, from, answer{err: c.sentinel(err)})
	case n < 80:
		result, err := e.Result(c.t.Context(), id)
		c.saw(client, id, "read", from, result, err)
	case n < 88:
		ctx, cancel := context.WithTimeout(c.t.Context(), 20*time.Millisecond)
		defer cancel()
		result, err := e.Wait(ctx, id)
		if !errors.Is(err, context.DeadlineExceeded) {
			c.saw(client, id, "wait", from, result, err)
		}
	case n < 96:
		list, _, err := e.Results(c.t.Context(), user, voicescreen.Page{})
		c.listed(client, user, from, list, err)
	case n < 99:
		err := e.Delete(c.t.Context(), id)
		c.record(client, id, call{name: "delete"}, from, answer{err: c.sentinel(err)})
	default:
		err := e.Forget(c.t.Context(), user)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.forgets = append(c.forgets, forgetting{user, client, from, c.now(), c.sentinel(err)})
	}
}

func (c *concurrent) initiate(client int, e *voicescreen.Account, user string) {
	from := c.now()
	id, err := e.Initiate(c.t.Context(), voicescreen.InitiateRequest{UserID: user, Consent: true})
	c.record(client, id, call{name: "initiate"}, from, answer{err: c.sentinel(err)})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions = append(c.sessions, id)
	c.users[id] = user
	c.made[id] = from
}

// of returns the sessions of a user that were made so far.
func (c *concurrent) of(user string) (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, u := range c.users {
		if u == user {
			ids = append(ids, id)
		}
	}
	return ids
}

// saw records what a call showed of a session.
func (c *concurrent) saw(client int, id, name string, from int64, r *voicescreen.Result, err error) {
	out := answer{err: c.sentinel(err)}
	if err == nil {
		out.seen = see(r)
	}
	c.record(client, id, call{name: name}, from, out)
}

// listed records a listing as one read of each session of the user: those of
// one listing need not be of one moment.
func (c *concurrent) listed(client int, user string, from int64, list []*voicescreen.Result, err error) {
	if err != nil {
		c.t.Errorf("Results: %v", err)
		return
	}
	shown := map[string]seenSession{}
	for _, r := range list {
		if _, twice := shown[r.SessionID]; twice {
			c.t.Errorf("session %s stands twice in a listing", r.SessionID)
		}
		shown[r.SessionID] = see(r)
	}
	for _, id := range c.of(user) {
		c.record(client, id, call{name: "list"}, from, answer{seen: shown[id]})
		delete(shown, id)
	}
	for id := range shown {
		c.t.Errorf("a listing shows session %s, which is nobody's", id)
	}
}

func randomLabel(r *rand.Rand) (f voicescreen.Feedback) {
	items := make([]int, 9)
	for i := range items {
		items[i] = r.IntN(4)
	}
	switch r.IntN(4) {
	case 0:
		f.PHQ2 = items[:2]
	case 1:
		f.PHQ9 = items
	case 2:
		f.GAD7 = items[:7]
	default:
		f.Depression = screen.Interview(1 + r.IntN(3))
	}
	return f
}

// concurrentFaults are planted one at a time. What they break shows only when
// calls meet.
var concurrentFaults = map[string]func(store.Store) store.Store{
	"labels are read and written apart": func(st store.Store) store.Store {
		return &faultyStore{Store: st, update: func(account, id string, change store.Change) (*store.Session, error) {
			s, err := st.Get(context.Background(), account, id)
			if err != nil {
				return nil, err
			}
			before := s.Labels.UpdatedAt
			if err := change(s, time.Now()); err != nil || s.Labels.UpdatedAt.Equal(before) {
				return st.Update(context.Background(), account, id, change)
			}
			time.Sleep(100 * time.Microsecond)
			return st.Update(context.Background(), account, id, func(now *store.Session, _ time.Time) error { now.Labels = s.Labels; return nil })
		}}
	},
	"reads are a moment old": func(st store.Store) store.Store {
		var mu sync.Mutex
		seen := map[string]*store.Session{}
		return &faultyStore{Store: st, get: func(account, id string) (*store.Session, error) {
			s, err := st.Get(context.Background(), account, id)
			if err != nil {
				return nil, err
			}
			mu.Lock()
			defer mu.Unlock()
			old := seen[id]
			seen[id] = s
			if old != nil {
				s = old
			}
			return s.Clone(), nil
		}}
	},
	"a label is lost when a result comes": onUpdate(func(s *store.Session, now time.Time, change store.Change) error {
		leased := s.Leased()
		err := change(s, now)
		if leased && s.Status.Final() {
			s.Labels = screen.Labels{}
		}
		return err
	}),
	"a label opens a session again": onUpdate(func(s *store.Session, now time.Time, change store.Change) error {
		err := change(s, now)
		if s.Status.Final() && s.Labels.GAD7 != nil {
			s.Status = screen.StatusInitiated
		}
		return err
	}),
	"two submissions win": faults["two submissions win"],
}

// TestLinearizabilityFindsFaults runs the check once for each fault.
func TestLinearizabilityFindsFaults(t *testing.T) {
	if *fault != "" {
		return // this is such a process
	}
	for _, name := range slices.Sorted(maps.Keys(concurrentFaults)) {
		t.Run(name, func(t *testing.T) { wantFault(t, "TestLinearizable", name, "-linear.ops=2000") })
	}
	t.Run("races", func(t *testing.T) { wantFault(t, "TestSubmissionRaceHasOneWinner", "two submissions win") })
}
