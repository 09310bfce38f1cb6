package voicescreen_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/memory"
)

// brokenStore fails as a disk does, while broken is set.
type brokenStore struct {
	store.Store
	broken atomic.Bool
}

var errDisk = errors.New("no space left on device")

func (b *brokenStore) Get(ctx context.Context, account, id string) (*store.Session, error) {
	if b.broken.Load() {
		return nil, errDisk
	}
	return b.Store.Get(ctx, account, id)
}

func (b *brokenStore) Create(ctx context.Context, s *store.Session) error {
	if b.broken.Load() {
		return errDisk
	}
	return b.Store.Create(ctx, s)
}

func (b *brokenStore) Ping(ctx context.Context) error {
	if b.broken.Load() {
		return errDisk
	}
	return b.Store.Ping(ctx)
}

// failedCalls returns the calls of the store that failed.
func failedCalls(e *voicescreen.Engine) map[string]int {
	counts := e.StoreErrors()
	maps.DeleteFunc(counts, func(_ string, n int) bool { return n == 0 })
	return counts
}

func TestStoreErrorsAreCounted(t *testing.T) {
	st := &brokenStore{Store: newMemory(t)}
	opts := testOptions()
	opts.Workers = -1
	e := newEngine(t, st, opts)
	id := initiate(t, e, "u")

	// What is normal work, or a mistake of the caller, does not count.
	if _, err := e.Result(t.Context(), "nobody"); !errors.Is(err, voicescreen.ErrNotFound) {
		t.Fatal(err)
	}
	if _, err := e.Submit(t.Context(), id, iotest.ErrReader(io.ErrUnexpectedEOF), nil); err == nil {
		t.Fatal("a broken upload was accepted")
	}
	if _, err := e.Submit(t.Context(), id, strings.NewReader("no recording"), nil); err == nil {
		t.Fatal("a text was accepted")
	}
	if err := e.Feedback(t.Context(), id, voicescreen.Feedback{PHQ2: []int{0, 1}}); !errors.Is(err, voicescreen.ErrConflict) {
		t.Fatalf("got %v, want %v from within a transaction", err, voicescreen.ErrConflict)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = e.Result(done, id)
	if got := failedCalls(e); len(got) > 0 {
		t.Errorf("got errors %v, want none yet", got)
	}

	st.broken.Store(true)
	for range 2 {
		if _, err := e.Result(t.Context(), id); err == nil {
			t.Fatal("a broken store gave a result")
		}
	}
	_ = e.Ready(t.Context())
	if _, err := e.Initiate(t.Context(), voicescreen.InitiateRequest{UserID: "u", Consent: true}); err == nil {
		t.Fatal("a broken store took a session")
	}
	if got, want := failedCalls(e), (map[string]int{"get": 2, "ping": 1, "create": 1}); !maps.Equal(got, want) {
		t.Errorf("got errors %v, want %v", got, want)
	}
	if _, there := e.StoreErrors()["update"]; !there {
		t.Error("a call without failures is absent: nobody can see its first failure as an increase")
	}
}

func TestNoticesAreCounted(t *testing.T) {
	in := inbox{fail: true}
	st, now := newMemory(t), newClock()
	counting := st.(clockedStore)
	e := newEngine(t, struct{ *memory.Store }{counting.Store.(*memory.Store)}, in.options(st, now, "a", "b"))
	for _, name := range []string{"a", "a", "b", "c"} {
		a := e.Tenant(name)
		id := initiate(t, a, "u")
		if err := submitTo(t, a, id); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Wait(testContext(t), id); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := e.Notices(t.Context()); err != nil || !maps.Equal(n, map[string]int{"a": 2, "b": 1}) {
		t.Errorf("got %v and error %v, want 2 of a, 1 of b, and none of the account that wants none", n, err)
	}
	if _, err := newEngine(t, st, testOptions()).Notices(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a store that does not count: got error %v, want %v", err, errors.ErrUnsupported)
	}
}
