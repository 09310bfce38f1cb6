package voicescreen_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// These tests set the clock back by an hour, as somebody does who sets it by
// hand, or a machine that was a virtual one elsewhere.

// What waits when the clock is set back is not put off by an hour, nor is what
// waits for its next attempt, nor what a process had in work that is dead.
func TestAClockSetBackHoldsUpNoWork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	now := newClock()
	opts := testOptions()
	opts.Store.Now = now.Now
	opts.Workers = -1
	e := open(t, path, opts)
	var ids []string
	for range 3 {
		id := initiate(t, e, "u")
		submit(t, e, id, tiny)
		now.Add(time.Second)
		ids = append(ids, id)
	}
	closeEngine(t, e)
	st, err := bolt.Open(path, &bolt.Options{Now: now.Now})
	if err != nil {
		t.Fatal(err)
	}
	leaseAs(t, st, "dead", now.Now().Add(15*time.Second))
	_, err = st.Update(t.Context(), "", ids[1], func(s *store.Session, _ time.Time) error {
		s.Attempts, s.Due = 1, now.Now().Add(opts.Queue.RetryDelay)
		return nil
	})
	if err := errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	now.Add(-time.Hour)
	opts.Workers = 2
	e = open(t, path, opts)
	for _, id := range ids {
		if r := wait(t, e, id); r.Failure == nil || r.Failure.Code != screen.CodeAudioLength {
			t.Errorf("got %+v, want audio_length_error", r)
		}
	}
}

// What came after the clock was set back is not behind what waits from before.
func TestAClockSetBackLetsOthersGoFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	now := newClock()
	opts := testOptions()
	opts.Store.Now = now.Now
	opts.Workers = -1
	e := open(t, path, opts)
	var ids []string
	for range 2 {
		id := initiate(t, e, "u")
		submit(t, e, id, tiny)
		ids = append(ids, id)
		now.Add(-time.Hour)
	}
	now.Add(time.Hour + time.Second) // a moment after the second came
	closeEngine(t, e)
	done := make(chan string, len(ids))
	opts.Workers = 1
	opts.Results.OnResult = func(_ context.Context, _ string, r *voicescreen.Result) { done <- r.SessionID }
	e = open(t, path, opts)
	for _, id := range ids {
		wait(t, e, id)
	}
	if first, second := <-done, <-done; first != ids[1] || second != ids[0] {
		t.Errorf("got %v and then %v, want %v, which came last", first, second, ids[1])
	}
}

// What is in work when the clock is set back stays with who has it.
func TestAClockSetBackTakesNoLease(t *testing.T) {
	now := newClock()
	fake, entered, release := blocked()
	opts := testOptions()
	opts.Store.Now = now.Now
	opts.Scoring.Models = []models.Scorer{fake}
	e := open(t, filepath.Join(t.TempDir(), "test.db"), opts)
	id := initiate(t, e, "u")
	submit(t, e, id, speech())
	<-entered
	now.Add(-time.Hour)
	time.Sleep(30 * time.Millisecond) // several polls of the other worker
	close(release)
	if r := wait(t, e, id); r.Status != screen.StatusSuccess || fake.calls.Load() != 1 {
		t.Errorf("got %v after %d calls, want success after one", r.Status, fake.calls.Load())
	}
}

// Another process keeps its leases, however far ahead its clock is: it may have
// longer ones.
func TestAClockAheadKeepsItsLeases(t *testing.T) {
	st := newMemory(t)
	now := newClock()
	opts := testOptions()
	setClock(opts, st, now)
	opts.Workers = -1
	e := newEngine(t, st, opts)
	id := initiate(t, e, "u")
	submit(t, e, id, tiny)
	const ahead = time.Hour
	leased := leaseAs(t, st, "another", now.Now().Add(ahead+15*time.Second))
	opts.Workers = 2
	newEngine(t, st, opts)
	time.Sleep(30 * time.Millisecond) // several polls
	if s, err := st.Get(t.Context(), "", id); err != nil || s.Token != leased.Token {
		t.Errorf("got token %d and error %v, want %d as before", s.Token, err, leased.Token)
	}
}

// The lease of a process that died, on a store that others share, ends when the
// clock says so.
func TestAClockSetBackMakesTheLeasesOfTheDeadLonger(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		now := newClock()
		opts := testOptions()
		setClock(opts, st, now)
		opts.Workers = -1
		e := newEngine(t, st, opts)
		id := initiate(t, e, "u")
		submit(t, e, id, tiny)
		leaseAs(t, st, "dead", now.Now().Add(time.Minute))
		now.Add(-time.Hour)
		opts.Workers = 1
		e = newEngine(t, st, opts)
		for _, d := range []time.Duration{0, time.Hour, 59 * time.Second} {
			now.Add(d)
			time.Sleep(30 * time.Millisecond) // several polls
			if r, err := e.Result(t.Context(), id); err != nil || r.Status != screen.StatusProcessing {
				t.Fatalf("%v later: got %+v and error %v, want processing", d, r, err)
			}
		}
		now.Add(time.Second)
		wait(t, e, id)
	})
}

// A notice that was due waits until the clock is there again.
func TestAClockSetBackPutsNoticesOff(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		in := inbox{fail: true}
		now := newClock()
		e := newEngine(t, st, in.options(st, now, ""))
		id := initiate(t, e, "u")
		submit(t, e, id, tiny)
		in.wait(t, 1)
		due := settled(t, st, id, 1, now.Now()).Notify // seconds later
		closeEngine(t, e)
		now.Add(due.Sub(now.Now()))
		now.Add(-time.Hour)
		newEngine(t, st, in.options(st, now, ""))
		for _, d := range []time.Duration{0, time.Hour - time.Second} {
			now.Add(d)
			time.Sleep(50 * time.Millisecond) // ten polls
			if got := in.notices(); len(got) != 1 {
				t.Fatalf("before the clock is there again: got %d notices, want 1", len(got))
			}
		}
		now.Add(time.Second)
		if got := in.wait(t, 2); got[1].SessionID != id || got[1].Attempt != 2 {
			t.Errorf("got %+v, want the second attempt", got[1])
		}
	})
}

// Periods are those of the clock: after it was set back they last an hour
// longer, and nothing is refused or erased too early.
func TestAClockSetBackMakesPeriodsLonger(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		now := newClock()
		opts := testOptions()
		setClock(opts, st, now)
		opts.Results.Retain = retain
		e := newEngine(t, st, opts)
		labelled, kept := initiate(t, e, "u"), initiate(t, e, "u")
		submit(t, e, labelled, tiny)
		wait(t, e, labelled)
		now.Add(-time.Hour)
		label := voicescreen.Feedback{PHQ2: []int{1, 2}}
		if err := e.Feedback(t.Context(), labelled, label); err != nil {
			t.Errorf("a label from before the submission: %v", err)
		}
		now.Add(voicescreen.FeedbackWindow + time.Hour)
		if err := e.Feedback(t.Context(), labelled, label); err != nil {
			t.Errorf("25 hours after the submission, of which the clock shows 24: %v", err)
		}
		now.Add(time.Second)
		if err := e.Feedback(t.Context(), labelled, label); !errors.Is(err, voicescreen.ErrTooLate) {
			t.Errorf("a second later: got error %v, want %v", err, voicescreen.ErrTooLate)
		}
		advance(t, st, e, now, retain-voicescreen.FeedbackWindow-2*time.Second)
		if _, err := e.Result(t.Context(), kept); err != nil {
			t.Errorf("before the period of the clock is over: %v", err)
		}
		now.Add(voicescreen.SweepEvery)
		gone(t, e, kept)
	})
}

// A store that was written by a clock that was ahead opens, and its listing is
// in the order of the times that were written.
func TestAClockSetBackReordersNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	now := newClock()
	opts := testOptions()
	opts.Store.Now = now.Now
	e := open(t, path, opts)
	var ids []string
	for range 2 {
		id := initiate(t, e, "u")
		submit(t, e, id, tiny)
		wait(t, e, id)
		ids = append(ids, id)
		now.Add(-time.Hour)
	}
	closeEngine(t, e)
	e = open(t, path, opts)
	list, _, err := e.Results(t.Context(), "u", voicescreen.Page{})
	if err != nil || len(list) != 2 || list[0].SessionID != ids[0] || list[1].SessionID != ids[1] {
		t.Errorf("got %v and error %v, want the session of the later time first", list, err)
	}
	closeEngine(t, e)
	if _, err := bolt.Check(t.Context(), path, nil, func(fault string) error { return errors.New(fault) }); err != nil {
		t.Error(err)
	}
}
