package storetest_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/memory"
	"github.com/voicescreen/voicescreen/store/storetest"
)

// faulty is a correct store except for the calls that a fault replaces.
type faulty struct {
	*memory.Store
	create func(ctx context.Context, s *store.Session) error
	get    func(ctx context.Context, account, id string) (*store.Session, error)
	update func(ctx context.Context, account, id string, change store.Change) (*store.Session, error)
	next   func(ctx context.Context, change store.Change) (*store.Session, error)
	list   func(ctx context.Context, account, userID string, after *store.Cursor, limit int) ([]*store.Session, error)
	notice func(ctx context.Context, without []string, change store.Change) (*store.Session, error)
	expire func(ctx context.Context, age time.Duration, limit int) ([]screen.SessionKey, error)
	delete func(ctx context.Context, account, id string) error
	forget func(ctx context.Context, account, userID string) (int, error)
	put    func(ctx context.Context, r io.Reader) (string, error)
	open   func(ctx context.Context, ref string) (io.ReadCloser, error)
	close  func() error
	ahead  atomic.Int64 // of the clock, in microseconds

	document    func(ctx context.Context, name string) ([]byte, uint64, error)
	putDocument func(ctx context.Context, name string, revision uint64, data []byte) (uint64, error)
}

func (f *faulty) Create(ctx context.Context, s *store.Session) error { return f.create(ctx, s) }
func (f *faulty) Get(ctx context.Context, account, id string) (*store.Session, error) {
	return f.get(ctx, account, id)
}
func (f *faulty) Update(ctx context.Context, account, id string, c store.Change) (*store.Session, error) {
	return f.update(ctx, account, id, c)
}
func (f *faulty) Next(ctx context.Context, c store.Change) (*store.Session, error) {
	return f.next(ctx, c)
}
func (f *faulty) List(ctx context.Context, account, userID string, after *store.Cursor, limit int) ([]*store.Session, error) {
	return f.list(ctx, account, userID, after, limit)
}
func (f *faulty) NextNotice(ctx context.Context, without []string, c store.Change) (*store.Session, error) {
	return f.notice(ctx, without, c)
}
func (f *faulty) Expire(ctx context.Context, age time.Duration, limit int) ([]screen.SessionKey, error) {
	return f.expire(ctx, age, limit)
}
func (f *faulty) Delete(ctx context.Context, account, id string) error {
	return f.delete(ctx, account, id)
}
func (f *faulty) Forget(ctx context.Context, account, userID string) (int, error) {
	return f.forget(ctx, account, userID)
}
func (f *faulty) Document(ctx context.Context, name string) ([]byte, uint64, error) {
	return f.document(ctx, name)
}
func (f *faulty) PutDocument(ctx context.Context, name string, revision uint64, data []byte) (uint64, error) {
	return f.putDocument(ctx, name, revision, data)
}
func (f *faulty) Audio() store.Audio { return faultyAudio{f.Store.Audio(), f} }
func (f *faulty) Close() error       { return f.close() }

// faultyAudio is the audio of a faulty store.
type faultyAudio struct {
	store.Audio
	f *faulty
}

func (a faultyAudio) Put(ctx context.Context, r io.Reader) (string, error) { return a.f.put(ctx, r) }
func (a faultyAudio) Open(ctx context.Context, ref string) (io.ReadCloser, error) {
	return a.f.open(ctx, ref)
}

func newFaulty(now func() time.Time) *faulty {
	f := &faulty{}
	m := memory.New(&memory.Options{Now: func() time.Time { return now().Add(time.Duration(f.ahead.Load()) * time.Microsecond) }})
	f.Store, f.create, f.get, f.update, f.next, f.list, f.notice = m, m.Create, m.Get, m.Update, m.Next, m.List, m.NextNotice
	f.expire, f.delete, f.forget, f.put, f.open, f.close = m.Expire, m.Delete, m.Forget, m.Audio().Put, m.Audio().Open, m.Close
	f.document, f.putDocument = m.Document, m.PutDocument
	return f
}

// fault is the name of the fault to plant. TestFaultsAreFound sets it in the processes
// that it starts.
var fault = flag.String("fault", "", "run the suite on a store with this fault")

// TestSuite runs the suite on a correct store, or on a store with a fault.
func TestSuite(t *testing.T) {
	storetest.Run(t, func(_ *testing.T, now func() time.Time) store.Store {
		f := newFaulty(now)
		if *fault != "" {
			faults[*fault](f, f.Store)
		}
		return f
	})
}

// TestFaultsAreFound runs the suite once for each fault. Each run has a process of its
// own, since a failed test cannot be undone.
func TestFaultsAreFound(t *testing.T) {
	if *fault != "" {
		return // a process that TestFaultsAreFound started
	}
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSuite$", "-test.failfast", "-test.timeout=60s",
				"-rapid.shrinktime=0s", "-rapid.nofailfile", "-fault="+name)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !strings.Contains(string(out), "--- FAIL: TestSuite/") {
				t.Errorf("the suite did not find the fault: %v\n%s", err, out)
			}
		})
	}
}
