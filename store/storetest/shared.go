package storetest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// RunShared runs the cases of stores that outlive the process, and that several
// processes may hold at a time. Open opens the store in a directory, which stands
// for a new store the first time and for the same one later, with the clock now.
func RunShared(t *testing.T, open func(t *testing.T, dir string, now func() time.Time) store.Store) {
	runReopened(t, open, append([]durableCase{
		{"leases last when the store is opened", leasesLast},
	}, durableCases...))
	for _, c := range []struct {
		promise string
		test    func(t *testing.T, one, other *subject)
	}{
		{"what one process stores the other one sees", seenByTheOther},
		{"of updates in two processes that look at the state one wins", oneOfTwoWins},
		{"no two processes take the same Due of a session", takenOnce},
		{"one process keeps audio that a session of the other refers to", keptByTheOther},
		{"one process hears of changes in the other", heardByTheOther},
		{"histories of two processes are as the model says", historiesOfTwo},
	} {
		t.Run(c.promise, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			clock := newClock()
			var both [2]*subject
			for i := range both {
				both[i] = &subject{open(t, dir, clock.now), clock}
				t.Cleanup(func() {
					if err := both[i].Close(); err != nil && !errors.Is(err, store.ErrClosed) {
						t.Errorf("Close: %v", err)
					}
				})
			}
			c.test(t, both[0], both[1])
		})
	}
}

// leasesLast opens a store in which sessions are leased or put off: another
// process may have done so.
func leasesLast(t *testing.T, st *subject, reopen func(*subject) *subject) {
	leased := queued("a", "s", at(2000))
	leased.Owner, leased.Token, leased.Attempts = "worker", 7, 2
	late := noticed("a", "n", at(100).Add(2*store.MaxDelay))
	create(t, st, leased, late)
	st.clock.set(at(100))
	st = reopen(st)
	wantSame(t, "Get", get(t, st, "a", "s"), leased)
	wantSame(t, "Get", get(t, st, "a", "n"), late)
	_, err := st.nextAt(t.Context(), at(1999), never(t))
	wantErr(t, "Next", err, store.ErrNoneDue)
}

// historiesOfTwo lets the calls of a history go to the one process and then to the
// other.
func historiesOfTwo(t *testing.T, one, other *subject) {
	checkHistories(t, one, func(st *subject) *subject {
		if st == one {
			return other
		}
		return one
	}, func(*history) {})
}

func seenByTheOther(t *testing.T, one, other *subject) {
	want := full()
	create(t, one, want)
	wantSame(t, "Get", get(t, other, want.Account, want.ID), want)
	wantErr(t, "Create", other.Create(t.Context(), session("b", want.ID, "v")), store.ErrExists)
	revision := putDocument(t, one, "d", 0, []byte("first"))
	wantDocument(t, other, "d", []byte("first"), revision)
	_, err := other.PutDocument(t.Context(), "d", 0, nil)
	wantErr(t, "PutDocument", err, store.ErrConflict)
	ref := put(t, one, strings.NewReader("audio"))
	wantAudio(t, other, ref, []byte("audio"))
	wantErr(t, "Delete", other.Delete(t.Context(), want.Account, want.ID), nil)
	_, err = one.Get(t.Context(), want.Account, want.ID)
	wantErr(t, "Get", err, store.ErrNotFound)
}

func oneOfTwoWins(t *testing.T, one, other *subject) {
	for i := range 10 {
		create(t, one, session("a", numbered(i), "u"))
		var won atomic.Int32
		race(racers, func(j int) {
			_, err := []*subject{one, other}[j%2].Update(t.Context(), "a", numbered(i), func(s *store.Session, _ time.Time) error {
				if s.Status != screen.StatusInitiated {
					return errChange
				}
				s.Status = screen.StatusProcessing
				return nil
			})
			if err == nil {
				won.Add(1)
			} else if err != errChange { // as it is
				t.Errorf("Update: %v", err)
			}
		})
		if n := won.Load(); n != 1 {
			t.Errorf("got %d winners, want 1", n)
		}
	}
}

func takenOnce(t *testing.T, one, other *subject) {
	const sessions, leases = 12, 4
	for i := range sessions {
		create(t, one, queued(numbered(i%3), numbered(i), at(i%2)))
	}
	takeAll(t, "Next", sessions*leases, func(i int, took func(id string, at time.Time)) error {
		_, err := []*subject{one, other}[i%2].nextAt(t.Context(), at(1000), func(s *store.Session, _ time.Time) error {
			took(s.ID, s.Due)
			s.Attempts++
			s.Due = s.Due.Add(2 * time.Second)
			if s.Attempts == leases {
				s.Due = time.Time{}
			}
			return nil
		})
		return err
	})
	wantDue(t, other, 0)
}

func keptByTheOther(t *testing.T, one, other *subject) {
	create(t, one, session("a", "s", "u"))
	ref, orphan := put(t, one, strings.NewReader("audio")), put(t, one, strings.NewReader("orphan"))
	setAudio(t, one, "s", ref)
	wantErr(t, "Remove", other.Audio().Remove(t.Context(), ref), nil)
	wantErr(t, "Sweep", other.Audio().Sweep(t.Context(), 0, nil), nil)
	wantAudio(t, one, ref, []byte("audio"))
	wantNoAudio(t, one, orphan)
}

// heardByTheOther is about stores that are a store.Watcher.
func heardByTheOther(t *testing.T, one, other *subject) {
	w, ok := other.Store.(store.Watcher)
	if !ok {
		return
	}
	heard := make(chan screen.SessionKey, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- w.Watch(ctx, func(key screen.SessionKey) { heard <- key }) }()
	key := screen.SessionKey{Account: "a 1", ID: "2 s\n"}
	hears := func(within time.Duration) bool {
		for deadline := time.After(within); ; {
			select {
			case got := <-heard:
				if got == key {
					return true
				}
			case <-deadline:
				return false
			}
		}
	}
	wait := func(call string) {
		t.Helper()
		if !hears(10 * time.Second) { // chosen: what was lost does not come at all
			t.Fatalf("%s: not heard of", call)
		}
	}
	create(t, one, session(key.Account, key.ID, "u"))
	for try := 0; !hears(50 * time.Millisecond); try++ { // until the other one listens
		if try == 200 {
			t.Fatal("nothing is heard")
		}
		_, err := one.Update(t.Context(), key.Account, key.ID, func(s *store.Session, _ time.Time) error { s.Attempts++; return nil })
		wantErr(t, "Update", err, nil)
	}
	for hears(200 * time.Millisecond) { // what is still on its way
	}
	_, err := one.Update(t.Context(), key.Account, key.ID, func(s *store.Session, _ time.Time) error { s.Attempts++; return nil })
	wantErr(t, "Update", err, nil)
	wait("Update")
	wantErr(t, "Delete", one.Delete(t.Context(), key.Account, key.ID), nil)
	wait("Delete")
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Watch: got error %v, want %v", err, context.Canceled)
	}
	go func() { ended <- w.Watch(t.Context(), func(screen.SessionKey) {}) }()
	time.Sleep(20 * time.Millisecond) // chosen: it has mostly begun by then, and ends either way
	wantErr(t, "Close", other.Close(), nil)
	wantErr(t, "Watch of a closed store", <-ended, store.ErrClosed)
}
