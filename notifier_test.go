package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// inbox is a receiver of notices.
type inbox struct {
	mu   sync.Mutex // protects got and fail
	got  []voicescreen.Notice
	fail bool
	hang map[string]bool // accounts whose calls do not return before their ctx
}

func (i *inbox) send(ctx context.Context, n voicescreen.Notice) error {
	i.mu.Lock()
	i.got = append(i.got, n)
	fail, hang := i.fail, i.hang[n.Account]
	i.mu.Unlock()
	if hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if fail {
		return errors.New("no")
	}
	return nil
}

func (i *inbox) notices() []voicescreen.Notice {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.got)
}

// wait returns the first n notices once they are there.
func (i *inbox) wait(t *testing.T, n int) []voicescreen.Notice {
	t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(time.Millisecond) {
		if got := i.notices(); len(got) >= n {
			return got
		}
		if time.Now().After(end) {
			t.Fatalf("got %d notices, want %d", len(i.notices()), n)
		}
	}
}

// options are those by which the accounts are notified, on a store of newMemory
// or eachStore; on nil for Open.
func (i *inbox) options(st store.Store, now *clock, accounts ...string) *voicescreen.Options {
	opts := testOptions()
	if opts.Store.Now = now.Now; st != nil {
		setClock(opts, st, now)
	}
	opts.Results.Notify = voicescreen.NotifyOptions{Accounts: func() []string { return accounts }, Send: i.send}
	return opts
}

// settled waits until what came of the nth attempt at a notice is stored.
func settled(t *testing.T, st store.Store, id string, n int, now time.Time) *store.Session {
	t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(time.Millisecond) {
		s, err := st.Get(t.Context(), "", id)
		if err != nil {
			t.Fatal(err)
		}
		lease := now.Add(time.Minute) // while it is being sent
		if s.Notices == n && (s.Notify.IsZero() || !s.Notify.Equal(lease)) {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("after %d attempts the notice stays at %v", s.Notices, s.Notify)
		}
	}
}

func TestAResultIsToldOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		var in inbox
		now := newClock()
		e := newEngine(t, st, in.options(st, now, "", "a"))
		id := initiate(t, e, "u")
		submit(t, e, id, speech())
		other := e.Tenant("b") // whom nobody wants told
		unwanted := initiate(t, other, "u")
		if err := submitTo(t, other, unwanted); err != nil {
			t.Fatal(err)
		}
		want := voicescreen.Notice{SessionID: id, Status: screen.StatusSuccess, UpdatedAt: now.Now().UTC(), Attempt: 1}
		if got := in.wait(t, 1); got[0] != want {
			t.Errorf("got %+v, want %+v", got[0], want)
		}
		if s := settled(t, st, id, 1, now.Now()); !s.Notify.IsZero() {
			t.Errorf("the notice is due again at %v", s.Notify)
		}
		if _, err := other.Wait(testContext(t), unwanted); err != nil {
			t.Fatal(err)
		}
		if s, err := st.Get(t.Context(), "b", unwanted); err != nil || !s.Notify.IsZero() {
			t.Errorf("got a notice at %v and error %v, want none", s.Notify, err)
		}
		now.Add(time.Hour)
		time.Sleep(50 * time.Millisecond) // ten polls
		if got := in.notices(); len(got) != 1 {
			t.Errorf("got %d notices, want 1", len(got))
		}
	})
}

func submitTo(t *testing.T, a *voicescreen.Account, id string) error {
	_, err := a.Submit(t.Context(), id, bytes.NewReader(tiny), nil)
	return err
}

// TestNoticesAreRetriedByTheSchedule walks through all attempts. After the
// fourth the process is another one.
func TestNoticesAreRetriedByTheSchedule(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	in := inbox{fail: true}
	now := newClock()
	var st store.Store
	var e *voicescreen.Engine
	start := func() {
		t.Helper()
		var err error
		if st, err = bolt.Open(path, &bolt.Options{Now: now.Now}); err != nil {
			t.Fatal(err)
		}
		if e, err = voicescreen.New(st, in.options(nil, now, "")); err != nil {
			t.Fatal(err)
		}
	}
	stop := func() {
		t.Helper()
		closeEngine(t, e)
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
	start()
	id := initiate(t, e, "u")
	submit(t, e, id, tiny)
	delays := []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
	for i, d := range delays {
		s := settled(t, st, id, i+1, now.Now())
		if pause := s.Notify.Sub(now.Now()); pause < d*8/10 || pause > d*12/10 {
			t.Errorf("after attempt %d: got the next after %v, want after %v, a fifth more or less", i+1, pause, d)
		}
		now.Add(d * 79 / 100)
		time.Sleep(60 * time.Millisecond) // two looks at what is due
		if got := in.notices(); len(got) != i+1 {
			t.Fatalf("%v after attempt %d: got %d notices", d*79/100, i+1, len(got))
		}
		if i == 3 {
			stop()
			start()
		}
		now.Add(d * 42 / 100)
		if n := in.wait(t, i+2)[i+1]; n.SessionID != id || n.Attempt != i+2 {
			t.Errorf("got %+v, want attempt %d of the session", n, i+2)
		}
	}
	if s := settled(t, st, id, len(delays)+1, now.Now()); !s.Notify.IsZero() {
		t.Errorf("after the last attempt: got another at %v", s.Notify)
	}
	stop()
}

// TestANoticeSurvivesACrash completes a session in a process that ends before
// it tells anybody.
func TestANoticeSurvivesACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	var in inbox
	now := newClock()
	opts := in.options(nil, now, "")
	dead := *opts
	called := make(chan struct{}, 9)
	dead.Results.Notify.Send = func(ctx context.Context, _ voicescreen.Notice) error { // what the process is at when it ends
		called <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	e, err := voicescreen.Open(path, &dead)
	if err != nil {
		t.Fatal(err)
	}
	id := initiate(t, e, "u")
	submit(t, e, id, tiny)
	if _, err := e.Wait(testContext(t), id); err != nil {
		t.Fatal(err)
	}
	<-called
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Close(ctx); err == nil {
		t.Error("Close: got no error, want that of a ctx that is done")
	}
	if e, err = voicescreen.Open(path, opts); err != nil {
		t.Fatal(err)
	}
	defer closeEngine(t, e)
	now.Add(time.Minute)
	if got := in.wait(t, 1); got[0].SessionID != id || got[0].Attempt != 2 {
		t.Errorf("got %+v, want the second attempt of the session", got[0])
	}
}

// TestTheTenthAttemptIsTheLast ends the process in the course of that attempt,
// and starts another one where a former program left the lease of one.
func TestTheTenthAttemptIsTheLast(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		var in inbox
		now := newClock()
		at := now.Now()
		for id, attempts := range map[string]int{"ninth": 9, "tenth": 10} {
			s := &store.Session{ID: id, UserID: "u", Status: screen.StatusSuccess, CreatedAt: at, UpdatedAt: at, Notify: at, Notices: attempts}
			if err := st.Create(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		opts := in.options(st, now, "")
		dead := *opts
		called := make(chan voicescreen.Notice, 9)
		dead.Results.Notify.Send = func(ctx context.Context, n voicescreen.Notice) error {
			called <- n
			<-ctx.Done()
			return ctx.Err()
		}
		e, err := voicescreen.New(st, &dead)
		if err != nil {
			t.Fatal(err)
		}
		if n := <-called; n.SessionID != "ninth" || n.Attempt != 10 {
			t.Errorf("got %+v, want the tenth attempt of the session that had nine", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := e.Close(ctx); err == nil {
			t.Error("Close: got no error, want that of a ctx that is done")
		}
		now.Add(time.Minute)
		newEngine(t, st, opts)
		for _, id := range []string{"ninth", "tenth"} {
			eventually(t, "no attempt at "+id+" is due", func() bool {
				s, err := st.Get(t.Context(), "", id)
				return err == nil && s.Notify.IsZero()
			})
		}
		if got := in.notices(); len(got) > 0 {
			t.Errorf("got %+v, want no eleventh attempt", got)
		}
	})
}

func TestAReceiverThatHangsHoldsUpNobody(t *testing.T) {
	in := inbox{hang: map[string]bool{"hangs": true}}
	st, now := newMemory(t), newClock()
	e, err := voicescreen.New(st, in.options(st, now, "hangs", "other"))
	if err != nil {
		t.Fatal(err)
	}
	const sessions = 12
	for range sessions {
		for _, name := range []string{"hangs", "other"} {
			a := e.Tenant(name)
			id := initiate(t, a, "u")
			if err := submitTo(t, a, id); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Wait(testContext(t), id); err != nil { // analyses go on
				t.Fatal(err)
			}
		}
	}
	told := func(name string) (n int) {
		for _, notice := range in.notices() {
			if notice.Account == name {
				n++
			}
		}
		return n
	}
	for end := time.Now().Add(soon); told("other") < sessions; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("got %d notices of the account that answers, want %d", told("other"), sessions)
		}
	}
	if n := told("hangs"); n < 1 || n > 4 {
		t.Errorf("got %d calls of the account that hangs, want 1 to 4", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = e.Close(ctx) // does not wait for the calls either
}

func TestThereIsNoNoticeOfWhatWasErased(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		in := inbox{fail: true}
		now := newClock()
		e := newEngine(t, st, in.options(st, now, ""))
		deleted, forgotten := initiate(t, e, "u"), initiate(t, e, "v")
		for _, id := range []string{deleted, forgotten} {
			submit(t, e, id, tiny)
			if _, err := e.Wait(testContext(t), id); err != nil {
				t.Fatal(err)
			}
		}
		in.wait(t, 1)
		if err := e.Delete(t.Context(), deleted); err != nil {
			t.Fatal(err)
		}
		if err := e.Forget(t.Context(), "v"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond) // for a call that was under way
		before := len(in.notices())
		now.Add(time.Hour)
		time.Sleep(60 * time.Millisecond)
		if got := len(in.notices()); got != before {
			t.Errorf("got %d notices of erased sessions", got-before)
		}
	})
}
