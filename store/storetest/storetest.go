package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// Run runs the suite. Each call of open returns a new, empty store with the clock now.
// The suite closes the store.
func Run(t *testing.T, open func(t *testing.T, now func() time.Time) store.Store) {
	for _, group := range []struct {
		name  string
		cases []testCase
	}{
		{"sessions", sessionCases},
		{"updates", updateCases},
		{"queue", queueCases},
		{"notices", noticeCases},
		{"expiry", expiryCases},
		{"listing", listingCases},
		{"scan", scanCases},
		{"removal", removalCases},
		{"audio", audioCases},
		{"documents", documentCases},
		{"clock", clockCases},
		{"lifecycle", lifecycleCases},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.promise, func(t *testing.T) { c.test(t, opened(t, open)) })
			}
		})
	}
	t.Run("histories agree with the model", func(t *testing.T) {
		t.Parallel() // histories take long, and mostly wait for the disk
		checkHistories(t, opened(t, open), nil, nil)
	})
}

// testCase tests one promise of the contract.
type testCase struct {
	promise string
	test    func(t *testing.T, st *subject)
}

// subject is a store under test, with its clock.
type subject struct {
	store.Store
	clock *clock
}

// clock is set by the tests. It is safe for concurrent use.
type clock struct{ micro atomic.Int64 }

// newClock returns a clock that is later than all times of the cases.
func newClock() *clock {
	c := &clock{}
	c.set(at(2_000_000))
	return c
}

func (c *clock) now() time.Time  { return time.UnixMicro(c.micro.Load()) }
func (c *clock) set(t time.Time) { c.micro.Store(t.UnixMicro()) }

// nextAt sets the clock to now and calls Next.
func (st *subject) nextAt(ctx context.Context, now time.Time, change store.Change) (*store.Session, error) {
	st.clock.set(now)
	return st.Next(ctx, change)
}

// noticeAt sets the clock to now and calls NextNotice.
func (st *subject) noticeAt(ctx context.Context, without []string, now time.Time, change store.Change) (*store.Session, error) {
	st.clock.set(now)
	return st.NextNotice(ctx, without, change)
}

// expireUntil calls Expire for sessions whose retention began at since or earlier.
func (st *subject) expireUntil(ctx context.Context, since time.Time, limit int) ([]screen.SessionKey, error) {
	return st.Expire(ctx, st.clock.now().Sub(since), limit)
}

// opened returns a store that is closed at the end of the test.
func opened(t *testing.T, open func(t *testing.T, now func() time.Time) store.Store) *subject {
	t.Helper()
	c := newClock()
	st := &subject{open(t, c.now), c}
	t.Cleanup(func() {
		if err := st.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
			t.Errorf("Close: %v", err)
		}
	})
	return st
}

// epoch is the time at which the cases begin.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at returns the time so many seconds after epoch.
func at(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

// session returns an initiated session that was created at epoch.
func session(account, id, user string) *store.Session {
	return &store.Session{Account: account, ID: id, UserID: user, Status: screen.StatusInitiated, CreatedAt: epoch, UpdatedAt: epoch}
}

// queued returns a session in the queue.
func queued(account, id string, due time.Time) *store.Session {
	s := session(account, id, "user")
	s.Status = screen.StatusProcessing
	s.Due = due
	return s
}

// create stores sessions, and ends the test if that fails.
func create(t *testing.T, st *subject, sessions ...*store.Session) {
	t.Helper()
	for _, s := range sessions {
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatalf("Create of %q: %v", s.ID, err)
		}
	}
}

// get reads a session, and ends the test if that fails.
func get(t *testing.T, st *subject, account, id string) *store.Session {
	t.Helper()
	s, err := st.Get(t.Context(), account, id)
	if err != nil {
		t.Fatalf("Get of %q: %v", id, err)
	}
	return s
}

// ids returns the IDs of sessions.
func ids(list []*store.Session) []string {
	names := []string{}
	for _, s := range list {
		names = append(names, s.ID)
	}
	return names
}

// wantErr fails the test unless errors.Is(got, want).
func wantErr(t *testing.T, call string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got error %v, want %v", call, got, want)
	}
}

// numbered returns names such as "s07".
func numbered(i int) string { return fmt.Sprintf("s%02d", i) }
