package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// leaseAs takes the session that is due as a worker of another process would.
func leaseAs(t *testing.T, st store.Store, owner string, until time.Time) *store.Session {
	t.Helper()
	s, err := st.Next(t.Context(), func(s *store.Session, _ time.Time) error {
		s.Status = screen.StatusProcessing
		s.Owner = owner
		s.Token++
		s.Attempts++
		s.Due = until
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWorkOfADeadWorkerGoesOn(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		now := newClock()
		opts := testOptions()
		setClock(opts, st, now)
		opts.Workers = -1
		id := initiate(t, newEngine(t, st, opts), "u")
		submit(t, newEngine(t, st, opts), id, tiny)
		dead := leaseAs(t, st, "dead", now.Now().Add(time.Minute))

		opts.Workers = 1
		e := newEngine(t, st, opts)
		time.Sleep(30 * time.Millisecond) // several polls
		if r, err := e.Result(t.Context(), id); err != nil || r.Status != screen.StatusProcessing {
			t.Fatalf("within the lease: got %+v, %v, want processing", r, err)
		}
		now.Add(time.Minute)
		if r := wait(t, e, id); r.Failure == nil || r.Failure.Code != screen.CodeAudioLength {
			t.Errorf("after the lease: got %+v, want audio_length_error", r)
		}
		s, err := st.Get(t.Context(), "", id)
		if err != nil || s.Attempts != 2 || s.Token != dead.Token+1 {
			t.Errorf("got %+v, %v, want the second attempt under the next token", s, err)
		}
	})
}

func TestWorkThatKilledItsWorkersFails(t *testing.T) {
	st := newMemory(t)
	now := newClock()
	opts := testOptions()
	setClock(opts, st, now)
	opts.Workers = -1
	e := newEngine(t, st, opts)
	id := initiate(t, e, "u")
	submit(t, e, id, speech())
	for range 3 {
		leaseAs(t, st, "dead", now.Now().Add(time.Minute))
		now.Add(time.Minute)
	}
	fake := newFake(nil)
	opts.Workers, opts.Scoring.Models = 1, []models.Scorer{fake}
	r := wait(t, newEngine(t, st, opts), id)
	if r.Failure == nil || r.Failure.Code != screen.CodeInternal || fake.calls.Load() != 0 {
		t.Errorf("got %+v after %d calls, want internal_error without a fourth attempt", r, fake.calls.Load())
	}
}

// blocked returns a scorer that says on entered when it is called, and waits
// for release.
func blocked() (fake *fakeScorer, entered, release chan struct{}) {
	entered, release = make(chan struct{}, 10), make(chan struct{})
	fake = newFake(func(ctx context.Context, in *features.Recording) ([]screen.Score, error) {
		entered <- struct{}{}
		<-release
		return newFake(nil).Score(ctx, in)
	})
	return fake, entered, release
}

func TestResultUnderAnOldTokenIsDropped(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		now := newClock()
		fake, entered, release := blocked()
		opts := testOptions()
		setClock(opts, st, now)
		opts.Workers, opts.Scoring.Models = 1, []models.Scorer{fake}
		e := newEngine(t, st, opts)
		id := initiate(t, e, "u")
		submit(t, e, id, speech())
		<-entered
		// The worker is cut off for longer than its lease, and another one
		// takes the session.
		now.Add(time.Hour)
		other := leaseAs(t, st, "other", now.Now().Add(time.Hour))
		close(release)
		submit(t, e, initiate(t, e, "u"), speech())
		<-entered // the worker is through with the first
		s, err := st.Get(t.Context(), "", id)
		if err != nil || s.Status != screen.StatusProcessing || s.Owner != "other" || s.Token != other.Token || s.Scores != nil || s.Audio == "" {
			t.Errorf("got %+v, %v, want the session as the other worker has it", s, err)
		}
	})
}

func TestLeaseIsRenewed(t *testing.T) {
	st := newMemory(t)
	fake, entered, release := blocked()
	opts := testOptions()
	opts.Workers, opts.Scoring.Models = 1, []models.Scorer{fake}
	opts.Queue.Lease = 300 * time.Millisecond
	e := newEngine(t, st, opts)
	id := initiate(t, e, "u")
	submit(t, e, id, speech())
	<-entered
	first, err := st.Get(t.Context(), "", id)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the lease is renewed", func() bool {
		s, err := st.Get(t.Context(), "", id)
		return err == nil && s.Due.After(first.Due) && s.Token == first.Token
	})
	close(release)
	if r := wait(t, e, id); r.Status != screen.StatusSuccess {
		t.Errorf("got %+v, want success", r)
	}
}

// The disk stalls for longer than the lease while it is taken and renewed.
func TestALeaseLastsFromWhenItIsStored(t *testing.T) {
	now := newClock()
	st := &faultyStore{Store: newMemory(t)}
	st.update = func(account, id string, change store.Change) (*store.Session, error) {
		now.Add(time.Hour)
		return st.Store.Update(t.Context(), account, id, change)
	}
	st.next = func(change store.Change) (*store.Session, error) {
		now.Add(time.Hour)
		return st.Store.Next(t.Context(), change)
	}
	fake, entered, release := blocked()
	opts := testOptions()
	setClock(opts, st.Store, now)
	opts.Workers, opts.Scoring.Models = -1, []models.Scorer{fake}
	opts.Queue.Lease = 15 * time.Second
	e := newEngine(t, st, opts)
	ctx, worker, _, _ := e.Background()
	id := initiate(t, e, "u")
	submit(t, e, id, speech())
	done := make(chan bool)
	go func() { done <- e.Step() }()
	<-entered
	lasts := func() {
		t.Helper()
		s, err := st.Get(t.Context(), "", id)
		if err != nil || s.Due.Sub(now.Now()) != opts.Queue.Lease {
			t.Errorf("got a lease until %v and error %v, want %v from %v on", s.Due, err, opts.Queue.Lease, now.Now())
		}
	}
	lasts()
	if err := worker.Renew(ctx); err != nil {
		t.Error(err)
	}
	lasts()
	close(release)
	<-done
}

func TestLostLeaseEndsTheAnalysis(t *testing.T) {
	st := newMemory(t)
	ended := make(chan error, 1)
	entered := make(chan struct{})
	opts := testOptions()
	opts.Workers, opts.Queue.Lease = 1, 30*time.Millisecond
	opts.Scoring.Models = []models.Scorer{newFake(func(ctx context.Context, _ *features.Recording) ([]screen.Score, error) {
		close(entered)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	})}
	e := newEngine(t, st, opts)
	id := initiate(t, e, "u")
	submit(t, e, id, speech())
	<-entered
	if err := e.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(soon):
		t.Error("the scorer's context does not end")
	}
	if _, err := e.Result(t.Context(), id); !errors.Is(err, voicescreen.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestFailedAttempts(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		failures int // of the scorer, before it works
		fail     func() ([]screen.Score, error)
		calls    int64
		want     screen.Status
	}{
		"one error":         {1, func() ([]screen.Score, error) { return nil, broken }, 2, screen.StatusSuccess},
		"two errors":        {2, func() ([]screen.Score, error) { return nil, broken }, 3, screen.StatusSuccess},
		"three errors":      {3, func() ([]screen.Score, error) { return nil, broken }, 3, screen.StatusFailed},
		"a panic":           {1, func() ([]screen.Score, error) { panic("scorer") }, 2, screen.StatusSuccess},
		"a runtime panic":   {1, func() ([]screen.Score, error) { var x []int; _ = x[len(x)]; return nil, nil }, 2, screen.StatusSuccess},
		"three panics":      {9, func() ([]screen.Score, error) { panic("scorer") }, 3, screen.StatusFailed},
		"too few scores":    {9, func() ([]screen.Score, error) { return nil, nil }, 3, screen.StatusFailed},
		"another category":  {9, func() ([]screen.Score, error) { return make([]screen.Score, 2), nil }, 3, screen.StatusFailed},
		"not a probability": {9, notProbable, 3, screen.StatusFailed},
	} {
		t.Run(name, func(t *testing.T) {
			var fake *fakeScorer
			fake = newFake(func(ctx context.Context, in *features.Recording) ([]screen.Score, error) {
				if int(fake.calls.Load()) <= c.failures {
					return c.fail()
				}
				return newFake(nil).Score(ctx, in)
			})
			opts := testOptions()
			opts.Scoring.Models = []models.Scorer{fake}
			e := newEngine(t, newMemory(t), opts)
			id := initiate(t, e, "u")
			submit(t, e, id, speech())
			r := wait(t, e, id)
			if r.Status != c.want || fake.calls.Load() != c.calls {
				t.Errorf("got %v after %d calls, want %v after %d", r.Status, fake.calls.Load(), c.want, c.calls)
			}
			if r.Status == screen.StatusFailed && (r.Failure.Code != screen.CodeInternal || r.Scores != nil || r.Features != nil) {
				t.Errorf("got %+v, want internal_error and nothing else", r)
			}
		})
	}
}

func notProbable() ([]screen.Score, error) {
	return []screen.Score{{Category: screen.Depression, Probability: 1.01}, {Category: screen.Anxiety}}, nil
}

func TestMissingOrBrokenAudio(t *testing.T) {
	st := newMemory(t)
	opts := testOptions()
	opts.Workers = -1
	e := newEngine(t, st, opts)
	lost, broken := initiate(t, e, "u"), initiate(t, e, "u")
	submit(t, e, lost, speech())
	submit(t, e, broken, speech())
	ref, err := st.Audio().Put(t.Context(), bytes.NewReader([]byte("no WAV file")))
	if err != nil {
		t.Fatal(err)
	}
	for id, audio := range map[string]string{lost: "none", broken: ref} {
		if _, err := st.Update(t.Context(), "", id, func(s *store.Session, _ time.Time) error { s.Audio = audio; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	worker := newEngine(t, st, testOptions())
	for id, want := range map[string]string{lost: screen.CodeInternal, broken: screen.CodeAudioDecode} {
		if r := wait(t, worker, id); r.Failure == nil || r.Failure.Code != want {
			t.Errorf("got %+v, want %s", r, want)
		}
	}
}

// A session that is due and cannot be read is first in the queue. Behind it is
// one that a dead process had in work, or one from before the clock was set
// back.
func TestDamageInTheQueueHoldsUpNothing(t *testing.T) {
	for name, back := range map[string]time.Duration{"a dead process": 0, "a clock set back": time.Hour} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.db")
			now := newClock()
			opts := testOptions()
			opts.Store.Now = now.Now
			opts.Workers = -1
			e := open(t, path, opts)
			damaged, id := initiate(t, e, "u"), initiate(t, e, "u")
			submit(t, e, damaged, tiny)
			now.Add(2 * time.Hour)
			submit(t, e, id, tiny)
			closeEngine(t, e)
			damage(t, path, damaged)
			st, err := bolt.Open(path, &bolt.Options{Now: now.Now})
			if err != nil {
				t.Fatal(err)
			}
			leaseAs(t, st, "dead", now.Now().Add(14*time.Second))
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			now.Add(-back)
			var log bytes.Buffer
			opts.Workers, opts.Logger = 2, slog.New(slog.NewTextHandler(&log, nil))
			e = open(t, path, opts)
			if r := wait(t, e, id); r.Failure == nil || r.Failure.Code != screen.CodeAudioLength {
				t.Errorf("got %+v, want audio_length_error", r)
			}
			time.Sleep(50 * time.Millisecond) // several polls
			closeEngine(t, e)
			if n := strings.Count(log.String(), "take a session"); n != 1 {
				t.Errorf("got %d lines of the session that cannot be read, want one a minute:\n%s", n, &log)
			}
		})
	}
}
