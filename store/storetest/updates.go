package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// racers is the number of goroutines that race in a case. Chosen: more than the
// processors of most machines, and few enough for a slow disk.
const racers = 24

var errChange = errors.New("the change failed")

var updateCases = []testCase{
	{"change sees the current record, and its result is stored and returned", func(t *testing.T, st *subject) {
		want := full()
		create(t, st, want)
		s, err := st.Update(t.Context(), want.Account, want.ID, func(s *store.Session, _ time.Time) error {
			wantSame(t, "change", s, headOf(want))
			s.Attempts = 41
			s.Labels.PHQ9 = []int{0, 1, 2, 3, 0, 1, 2, 3, 0}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want.Attempts = 41
		want.Labels.PHQ9 = []int{0, 1, 2, 3, 0, 1, 2, 3, 0}
		wantSame(t, "Update", s, headOf(want))
		wantSame(t, "Get", get(t, st, want.Account, want.ID), want)
	}},
	{"change and the caller own the sessions that they receive", func(t *testing.T, st *subject) {
		want := full()
		create(t, st, want)
		var held *store.Session
		s, err := st.Update(t.Context(), want.Account, want.ID, func(s *store.Session, _ time.Time) error {
			held = s
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, "Update", s, headOf(want))
		overwriteSession(held)
		overwriteSession(s)
		wantSame(t, "Get", get(t, st, want.Account, want.ID), want)
	}},
	{"scores and features that a change sets replace both", func(t *testing.T, st *subject) {
		for name, set := range map[string]func(from, to *store.Session){
			"both":     func(from, to *store.Session) { to.Scores, to.Features = from.Scores, from.Features },
			"scores":   func(from, to *store.Session) { to.Scores, to.Features = from.Scores, nil },
			"features": func(from, to *store.Session) { to.Scores, to.Features = nil, from.Features },
		} {
			want, other := full(), full()
			want.ID, other.ID = name, name
			create(t, st, want)
			other.Scores[0].Probability, other.Features = 0.25, map[string]float64{"another": 1}
			held := other.Clone()
			s, err := st.Update(t.Context(), want.Account, want.ID, func(s *store.Session, _ time.Time) error { set(held, s); return nil })
			if err != nil {
				t.Fatal(err)
			}
			set(other, want)
			wantSame(t, "Update of "+name, s, want)
			overwriteSession(held)
			overwriteSession(s)
			wantSame(t, "Get", get(t, st, want.Account, want.ID), want)
		}
	}},
	{"scores and features stay when a change does not set them", func(t *testing.T, st *subject) {
		want := full()
		want.Account, want.Due, want.Notify = "a", at(1), at(1)
		create(t, st, want)
		for name, call := range map[string]func(change store.Change) (*store.Session, error){
			"Update": func(change store.Change) (*store.Session, error) {
				return st.Update(t.Context(), "a", want.ID, change)
			},
			"Next": func(change store.Change) (*store.Session, error) {
				return st.nextAt(t.Context(), at(99), change)
			},
			"NextNotice": func(change store.Change) (*store.Session, error) {
				return st.noticeAt(t.Context(), nil, at(99), change)
			},
		} {
			got, err := call(func(s *store.Session, _ time.Time) error {
				wantSame(t, "change of "+name, s, headOf(want))
				s.Attempts++
				s.Due, s.Notify = s.Due.Add(time.Second), s.Notify.Add(time.Second)
				s.Scores, s.Features = []screen.Score{}, map[string]float64{} // empty ones count as not set
				return nil
			})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want.Attempts++
			want.Due, want.Notify = want.Due.Add(time.Second), want.Notify.Add(time.Second)
			wantSame(t, name, got, headOf(want))
			wantSame(t, "Get after "+name, get(t, st, "a", want.ID), want)
		}
	}},
	{"the error of change is returned as it is and nothing is stored", func(t *testing.T, st *subject) {
		want := full()
		create(t, st, want)
		_, err := st.Update(t.Context(), want.Account, want.ID, func(s *store.Session, _ time.Time) error {
			overwriteSession(s)
			return errChange
		})
		if err != errChange { // as it is
			t.Errorf("got error %v, want the error itself", err)
		}
		wantSame(t, "Get", get(t, st, want.Account, want.ID), want)
	}},
	{"a change that panics stores nothing and leaves the store usable", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		func() {
			defer func() {
				if recover() != errChange { // as it is
					t.Error("Update did not panic with the panic of change")
				}
			}()
			_, _ = st.Update(t.Context(), "a", "s", func(s *store.Session, _ time.Time) error {
				s.Attempts = 1
				panic(errChange)
			})
		}()
		if got := get(t, st, "a", "s").Attempts; got != 0 {
			t.Errorf("got %d attempts, want 0", got)
		}
		create(t, st, session("a", "t", "u"))
	}},
	{"change is not called for an unknown session", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		for _, key := range [][2]string{{"a", "t"}, {"b", "s"}, {"", "s"}, {"a", ""}} {
			_, err := st.Update(t.Context(), key[0], key[1], func(*store.Session, time.Time) error {
				t.Errorf("change was called for %q", key)
				return nil
			})
			wantErr(t, "Update", err, store.ErrNotFound)
		}
	}},
	{"account, ID, user and creation time stay", func(t *testing.T, st *subject) {
		want := queued("a", "s", at(1))
		create(t, st, want)
		for name, invalidate := range map[string]func(*store.Session){
			"account":       func(s *store.Session) { s.Account = "b" },
			"ID":            func(s *store.Session) { s.ID = "t" },
			"user":          func(s *store.Session) { s.UserID = "v" },
			"creation time": func(s *store.Session) { s.CreatedAt = s.CreatedAt.Add(time.Microsecond) },
			"state":         func(s *store.Session) { s.Status = 0 },
		} {
			_, err := st.Update(t.Context(), "a", "s", func(s *store.Session, _ time.Time) error { invalidate(s); return nil })
			wantErr(t, "Update of "+name, err, store.ErrInvalid)
			_, err = st.nextAt(t.Context(), at(1), func(s *store.Session, _ time.Time) error { s.Due = at(9); invalidate(s); return nil })
			wantErr(t, "Next with a change of "+name, err, store.ErrInvalid)
			wantSame(t, "Get", get(t, st, "a", "s"), want)
		}
	}},
	{"concurrent updates happen one after the other", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		race(racers, func(int) {
			_, err := st.Update(t.Context(), "a", "s", func(s *store.Session, _ time.Time) error { s.Attempts++; return nil })
			if err != nil {
				t.Errorf("Update: %v", err)
			}
		})
		if got := get(t, st, "a", "s").Attempts; got != racers {
			t.Errorf("got %d updates, want %d", got, racers)
		}
	}},
	{"of racing updates that check the state one wins", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		var won atomic.Int32
		var winner atomic.Value
		race(racers, func(i int) {
			_, err := st.Update(t.Context(), "a", "s", func(s *store.Session, _ time.Time) error {
				if s.Status != screen.StatusInitiated {
					return errChange
				}
				s.Status, s.Owner = screen.StatusProcessing, numbered(i)
				return nil
			})
			switch {
			case err == nil:
				won.Add(1)
				winner.Store(numbered(i))
			case err != errChange: // as it is
				t.Errorf("Update: %v", err)
			}
		})
		if won.Load() != 1 {
			t.Fatalf("got %d winners, want 1", won.Load())
		}
		if got := get(t, st, "a", "s").Owner; got != winner.Load() {
			t.Errorf("got the change of %v stored, want that of the winner %v", got, winner.Load())
		}
	}},
	{"of racing creations of an ID one wins", func(t *testing.T, st *subject) {
		var won atomic.Int32
		race(racers, func(i int) {
			switch err := st.Create(t.Context(), session(numbered(i%2), "s", "u")); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, store.ErrExists):
				t.Errorf("Create: %v", err)
			}
		})
		if won.Load() != 1 {
			t.Errorf("got %d winners, want 1", won.Load())
		}
	}},
	{"a failing update does not affect concurrent ones", failingAmongMany},
}

// failingAmongMany mixes updates that succeed, fail and panic.
func failingAmongMany(t *testing.T, st *subject) {
	for i := range racers {
		create(t, st, session("a", numbered(i), "u"))
	}
	race(racers, func(i int) {
		defer func() { _ = recover() }()
		_, err := st.Update(t.Context(), "a", numbered(i), func(s *store.Session, _ time.Time) error {
			time.Sleep(time.Millisecond) // so that other calls wait
			s.Attempts = 1
			switch i % 4 {
			case 1:
				return errChange
			case 2:
				panic(errChange)
			case 3:
				s.Status = 0
			}
			return nil
		})
		if i%4 == 0 && err != nil {
			t.Errorf("Update: %v", err)
		}
	})
	for i := range racers {
		want := 0
		if i%4 == 0 {
			want = 1
		}
		if got := get(t, st, "a", numbered(i)).Attempts; got != want {
			t.Errorf("session %d: got %d attempts, want %d", i, got, want)
		}
	}
}

// race calls f(0) to f(n-1) concurrently and waits for all of them.
func race(n int, f func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	all.Wait()
}
