package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

var queueCases = []testCase{
	{"Next takes the session due longest, of any account", func(t *testing.T, st *subject) {
		create(t, st, queued("b", "s1", at(30)), queued("a", "s2", at(10)), queued("a", "s3", at(20)), session("a", "s0", "u"))
		create(t, st, queued("c", "s4", at(10).Add(-time.Microsecond)), queued("c", "s5", time.Unix(0, 0)))
		for _, want := range []string{"s5", "s4", "s2", "s3", "s1"} {
			if got := next(t, st, at(30)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		_, err := st.nextAt(t.Context(), at(30), never(t))
		wantErr(t, "Next", err, store.ErrNoneDue)
	}},
	{"a session is due from its time on", func(t *testing.T, st *subject) {
		create(t, st, queued("a", "s", at(10)))
		_, err := st.nextAt(t.Context(), at(10).Add(-time.Microsecond), never(t))
		wantErr(t, "Next before the time", err, store.ErrNoneDue)
		if got := next(t, st, at(10)); got != "s" {
			t.Errorf("got %q, want %q", got, "s")
		}
	}},
	{"Next stores and returns the changed session", func(t *testing.T, st *subject) {
		want := full()
		create(t, st, want)
		got, err := st.nextAt(t.Context(), want.Due, func(s *store.Session, _ time.Time) error {
			wantSame(t, "change", s, headOf(want))
			s.Status, s.Owner, s.Due = screen.StatusProcessing, "worker", at(1_000_000)
			s.Token++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want.Status, want.Owner, want.Due = screen.StatusProcessing, "worker", at(1_000_000)
		want.Token++
		wantSame(t, "Next", got, headOf(want))
		wantSame(t, "Get", get(t, st, want.Account, want.ID), want)
	}},
	{"a session stays due if change fails", func(t *testing.T, st *subject) {
		create(t, st, queued("a", "s", at(10)))
		_, err := st.nextAt(t.Context(), at(10), func(s *store.Session, _ time.Time) error { s.Due = at(99); return errChange })
		if err != errChange { // as it is
			t.Errorf("got error %v, want the error itself", err)
		}
		if got := next(t, st, at(10)); got != "s" {
			t.Errorf("got %q, want %q", got, "s")
		}
	}},
	{"a change that leaves Due unchanged is refused", func(t *testing.T, st *subject) {
		create(t, st, queued("a", "s", at(10)))
		_, err := st.nextAt(t.Context(), at(10), func(s *store.Session, _ time.Time) error { s.Attempts++; return nil })
		wantErr(t, "Next", err, store.ErrInvalid)
		if got := get(t, st, "a", "s").Attempts; got != 0 {
			t.Errorf("got %d attempts, want 0", got)
		}
	}},
	{"Update moves a session in the queue", func(t *testing.T, st *subject) {
		create(t, st, queued("a", "s1", at(10)), queued("a", "s2", at(20)), session("a", "s3", "u"))
		setDue(t, st, "s1", at(30))
		setDue(t, st, "s2", time.Time{})
		setDue(t, st, "s3", at(15))
		for _, want := range []string{"s3", "s1"} {
			if got := next(t, st, at(99)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		_, err := st.nextAt(t.Context(), at(99), never(t))
		wantErr(t, "Next", err, store.ErrNoneDue)
	}},
	{"a session is due again when its lease expires", func(t *testing.T, st *subject) {
		create(t, st, queued("a", "s", at(10)))
		for lease := range 3 {
			now := at(10 + 60*lease)
			s, err := st.nextAt(t.Context(), now, func(s *store.Session, _ time.Time) error { s.Due = now.Add(time.Minute); s.Token++; return nil })
			if err != nil || s.Token != uint64(lease+1) {
				t.Fatalf("lease %d: got %v and error %v, want token %d", lease, s, err, lease+1)
			}
			_, err = st.nextAt(t.Context(), now.Add(59*time.Second), never(t))
			wantErr(t, "Next during a lease", err, store.ErrNoneDue)
		}
	}},
	{"a removed session is not due", func(t *testing.T, st *subject) {
		create(t, st, queued("a", "s1", at(10)), queued("b", "s2", at(10)))
		if err := st.Delete(t.Context(), "a", "s1"); err != nil {
			t.Fatal(err)
		}
		if n, err := st.Forget(t.Context(), "b", "user"); n != 1 || err != nil {
			t.Fatalf("Forget: got %d and error %v, want 1", n, err)
		}
		_, err := st.nextAt(t.Context(), at(99), never(t))
		wantErr(t, "Next", err, store.ErrNoneDue)
		wantDue(t, st, 0)
	}},
	{"Due counts sessions that are due now or later", func(t *testing.T, st *subject) {
		wantDue(t, st, 0)
		create(t, st, queued("a", "s1", at(10)), queued("b", "s2", at(1_000_000)), session("a", "s3", "u"))
		wantDue(t, st, 2)
		setDue(t, st, "s3", at(5))
		setDue(t, st, "s1", at(6))
		wantDue(t, st, 3)
		next(t, st, at(5))
		wantDue(t, st, 2)
		_, err := st.nextAt(t.Context(), at(6), func(s *store.Session, _ time.Time) error { s.Due = at(77); return nil })
		wantErr(t, "Next", err, nil)
		wantDue(t, st, 2)
	}},
	{"concurrent calls never see the same Due of a session", nextRace},
}

// nextRace leases sessions repeatedly from concurrent workers.
func nextRace(t *testing.T, st *subject) {
	const sessions, leases = 12, 4
	for i := range sessions {
		create(t, st, queued(numbered(i%3), numbered(i), at(i%2)))
	}
	takeAll(t, "Next", sessions*leases, func(_ int, took func(id string, at time.Time)) error {
		_, err := st.nextAt(t.Context(), at(1000), func(s *store.Session, _ time.Time) error {
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
	wantDue(t, st, 0)
}

// takeAll calls take from concurrent goroutines until nothing is due. Each change calls
// took with the session that it received and its due time. Want different pairs of
// these must be seen, each once.
func takeAll(t *testing.T, call string, want int, take func(i int, took func(id string, at time.Time)) error) {
	t.Helper()
	type taken struct {
		id string
		at time.Time
	}
	var mu sync.Mutex // protects seen
	seen := map[taken]int{}
	race(racers, func(i int) {
		for {
			var before taken
			err := take(i, func(id string, at time.Time) { before = taken{id, at} })
			if errors.Is(err, store.ErrNoneDue) {
				return
			}
			if err != nil {
				t.Errorf("%s: %v", call, err)
				return
			}
			mu.Lock()
			seen[before]++
			mu.Unlock()
		}
	})
	if len(seen) != want {
		t.Errorf("%s: got %d, want %d", call, len(seen), want)
	}
	for s, n := range seen {
		if n != 1 {
			t.Errorf("%s: session %q at %v was taken %d times, want once", call, s.id, s.at, n)
		}
	}
}

// next takes the next session, removes it from the queue, and returns its ID.
func next(t *testing.T, st *subject, now time.Time) string {
	t.Helper()
	s, err := st.nextAt(t.Context(), now, func(s *store.Session, _ time.Time) error { s.Due = time.Time{}; return nil })
	if err != nil {
		t.Fatalf("Next: %v", err)
	}
	return s.ID
}

// never is a change that must not be called.
func never(t *testing.T) store.Change {
	return func(s *store.Session, _ time.Time) error {
		t.Errorf("change was called with session %q", s.ID)
		return nil
	}
}

// setDue sets when a session of account a is due.
func setDue(t *testing.T, st *subject, id string, due time.Time) {
	t.Helper()
	if _, err := st.Update(t.Context(), "a", id, func(s *store.Session, _ time.Time) error { s.Due = due; return nil }); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func wantDue(t *testing.T, st *subject, want int) {
	t.Helper()
	if got, err := st.Due(t.Context()); got != want || err != nil {
		t.Errorf("Due: got %d and error %v, want %d", got, err, want)
	}
}
