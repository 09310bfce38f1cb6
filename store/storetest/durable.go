package storetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// RunDurable runs the cases of stores that outlive the process, and that one
// process holds at a time. Open opens the store in a directory, which is empty
// the first time, with the clock now.
func RunDurable(t *testing.T, open func(t *testing.T, dir string, now func() time.Time) store.Store) {
	runReopened(t, open, append([]durableCase{
		{"sessions that an earlier process leased or postponed are due after reopening", leasesEnd},
		{"histories with reopening agree with the model", func(t *testing.T, st *subject, reopen func(*subject) *subject) {
			checkHistories(t, st, reopen, (*history).release)
		}},
	}, durableCases...))
}

// durableCase shows that one promise is kept by a store that is opened again.
type durableCase struct {
	promise string
	test    func(t *testing.T, st *subject, reopen func(*subject) *subject)
}

// durableCases are those of all stores that outlive the process.
var durableCases = []durableCase{
	{"sessions are there after reopening", sessionsSurvive},
	{"audio is there after reopening", audioSurvives},
	{"the queue keeps its order after reopening", queueSurvives},
	{"notices and retention periods are there after reopening", noticesSurvive},
	{"removed sessions stay removed", removalSurvives},
	{"documents are there after reopening", documentsSurvive},
}

// runReopened runs cases, each on a store of its own.
func runReopened(t *testing.T, open func(t *testing.T, dir string, now func() time.Time) store.Store, cases []durableCase) {
	for _, c := range cases {
		t.Run(c.promise, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			clock := newClock()
			current := &subject{open(t, dir, clock.now), clock}
			t.Cleanup(func() {
				if err := current.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
					t.Errorf("Close: %v", err)
				}
			})
			c.test(t, current, func(st *subject) *subject {
				if err := st.Close(); err != nil {
					t.Fatalf("Close: %v", err)
				}
				current = &subject{open(t, dir, clock.now), clock}
				return current
			})
		})
	}
}

func sessionsSurvive(t *testing.T, st *subject, reopen func(*subject) *subject) {
	want := full()
	create(t, st, want)
	listing := createListing(t, st)
	st = reopen(st)
	wantSame(t, "Get", get(t, st, want.Account, want.ID), want)
	wantAfter(t, st, get(t, st, "a", listing[2]).Cursor(), listing[3:])
	wantErr(t, "Create", st.Create(t.Context(), session("other", listing[0], "u")), store.ErrExists)
	if _, err := st.Update(t.Context(), want.Account, want.ID, func(s *store.Session, _ time.Time) error { s.Attempts = 7; return nil }); err != nil {
		t.Fatal(err)
	}
	want.Attempts = 7
	st = reopen(st)
	wantSame(t, "Get", get(t, st, want.Account, want.ID), want)
}

func audioSurvives(t *testing.T, st *subject, reopen func(*subject) *subject) {
	create(t, st, session("a", "s", "u"))
	ref := put(t, st, strings.NewReader("audio"))
	setAudio(t, st, "s", ref)
	for range 3 {
		st = reopen(st)
		wantAudio(t, st, ref, []byte("audio"))
	}
	setAudio(t, st, "s", "")
	st = reopen(st)
	wantNoAudio(t, st, ref)
}

func queueSurvives(t *testing.T, st *subject, reopen func(*subject) *subject) {
	create(t, st, queued("a", "s1", at(30)), queued("b", "s2", at(10)), queued("a", "s3", at(20)))
	if _, err := st.nextAt(t.Context(), at(10), func(s *store.Session, _ time.Time) error { s.Due = at(25); return nil }); err != nil {
		t.Fatal(err)
	}
	st = reopen(st)
	wantDue(t, st, 3)
	for _, want := range []string{"s3", "s2", "s1"} {
		if got := next(t, st, at(99)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		st = reopen(st)
	}
	_, err := st.nextAt(t.Context(), at(2_000_000), never(t))
	wantErr(t, "Next", err, store.ErrNoneDue)
}

func noticesSurvive(t *testing.T, st *subject, reopen func(*subject) *subject) {
	create(t, st, noticed("a", "s1", at(20)), noticed("a", "s2", at(10)), kept("a", "s3", screen.StatusInitiated, at(5)))
	st = reopen(st)
	for _, want := range []string{"s2", "s1"} {
		if got := nextNotice(t, st, at(99)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		st = reopen(st)
	}
	_, err := st.noticeAt(t.Context(), nil, at(99), never(t))
	wantErr(t, "NextNotice", err, store.ErrNoneDue)
	wantExpired(t, st, epoch, 9, 2)
	st = reopen(st)
	wantExpired(t, st, at(5), 9, 1)
}

func removalSurvives(t *testing.T, st *subject, reopen func(*subject) *subject) {
	var refs []string
	for i, user := range []string{"u", "v", "v"} {
		s := queued("a", numbered(i), at(1))
		s.UserID = user
		s.Audio = put(t, st, strings.NewReader("audio"))
		refs = append(refs, s.Audio)
		create(t, st, s)
	}
	wantErr(t, "Delete", st.Delete(t.Context(), "a", numbered(0)), nil)
	_, err := st.Forget(t.Context(), "a", "v")
	wantErr(t, "Forget", err, nil)
	st = reopen(st)
	for i, ref := range refs {
		_, err := st.Get(t.Context(), "a", numbered(i))
		wantErr(t, "Get", err, store.ErrNotFound)
		wantNoAudio(t, st, ref)
	}
	wantDue(t, st, 0)
}

func documentsSurvive(t *testing.T, st *subject, reopen func(*subject) *subject) {
	first := putDocument(t, st, "d", 0, []byte("first"))
	st = reopen(st)
	wantDocument(t, st, "d", []byte("first"), first)
	_, err := st.PutDocument(t.Context(), "d", 0, nil)
	wantErr(t, "PutDocument", err, store.ErrConflict)
	second := putDocument(t, st, "d", first, nil)
	st = reopen(st)
	wantDocument(t, st, "d", nil, second)
}

// leasesEnd reopens a store in which sessions are due in the future. They become due at
// once, in their order, after those that were due before. Notices become due if they
// are more than MaxDelay ahead.
func leasesEnd(t *testing.T, st *subject, reopen func(*subject) *subject) {
	leased := queued("a", "s1", at(2000))
	leased.Owner, leased.Token, leased.Attempts = "worker", 7, 2
	leased.Scores, leased.Features = full().Scores, full().Features
	create(t, st, leased, queued("b", "s2", at(1000)), queued("a", "s3", at(90)), queued("a", "s4", at(3000)))
	late := noticed("a", "n1", at(100).Add(store.MaxDelay+time.Hour))
	create(t, st, late, noticed("b", "n2", at(100).Add(store.MaxDelay+time.Minute)), noticed("a", "n3", at(100).Add(store.MaxDelay)), noticed("a", "n4", at(99)))
	st.clock.set(at(100))
	st = reopen(st)
	wantDue(t, st, 4)
	got := get(t, st, "a", "s1")
	if got.Due.IsZero() || got.Due.After(at(100)) {
		t.Errorf("got a lease until %v, want it over at %v", got.Due, at(100))
	}
	leased.Owner, leased.Due = "", got.Due
	wantSame(t, "Get", got, leased)
	for _, want := range []string{"s3", "s2", "s1", "s4"} {
		if got := next(t, st, at(100)); got != want {
			t.Errorf("Next: got %q, want %q", got, want)
		}
	}
	for _, want := range []string{"n4", "n2", "n1"} {
		if got := nextNotice(t, st, at(100)); got != want {
			t.Errorf("NextNotice: got %q, want %q", got, want)
		}
	}
	_, err := st.noticeAt(t.Context(), nil, at(100), never(t))
	wantErr(t, "NextNotice", err, store.ErrNoneDue)
	if got := nextNotice(t, st, at(100).Add(store.MaxDelay)); got != "n3" {
		t.Errorf("NextNotice: got %q, want n3", got)
	}
}
