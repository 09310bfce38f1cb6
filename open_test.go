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
	"github.com/voicescreen/voicescreen/store/bolt"
)

func open(t *testing.T, path string, opts *voicescreen.Options) *voicescreen.Engine {
	t.Helper()
	e, err := voicescreen.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeEngine(t, e) })
	return e
}

func TestOpenReportsWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := voicescreen.Open(filepath.Join(dir, "no", "such", "folder", "test.db"), nil); err == nil {
		t.Error("no folder: got nil, want an error")
	}
	path := filepath.Join(dir, "test.db")
	e := open(t, path, nil)
	if _, err := voicescreen.Open(path, nil); !errors.Is(err, bolt.ErrLocked) {
		t.Errorf("second opener: got %v, want ErrLocked", err)
	}
	closeEngine(t, e)
	if _, err := voicescreen.Open(path, &voicescreen.Options{Scoring: voicescreen.ScoringOptions{Models: []models.Scorer{nil}}}); !errors.Is(err, voicescreen.ErrInvalid) {
		t.Errorf("nil scorer: got %v, want ErrInvalid", err)
	}
	open(t, path, nil) // what went wrong let go of the store
}

func TestQueuedWorkIsDoneAfterTheNextStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	paused := testOptions()
	paused.Workers = -1
	e := open(t, path, paused)
	var ids []string
	for range 5 {
		id := initiate(t, e, "u")
		submit(t, e, id, tiny)
		ids = append(ids, id)
	}
	ids = append(ids, initiate(t, e, "u")) // goes on after the next start
	closeEngine(t, e)

	e = open(t, path, testOptions())
	submit(t, e, ids[5], tiny)
	for _, id := range ids {
		if r := wait(t, e, id); r.Failure == nil || r.Failure.Code != screen.CodeAudioLength {
			t.Errorf("got %+v, want audio_length_error", r)
		}
	}
}

// TestWorkOfADeadProcessIsTakenOver stops the clock, so that no lease ever
// runs out.
func TestWorkOfADeadProcessIsTakenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	now := newClock()
	opts := testOptions()
	opts.Store.Now = now.Now
	opts.Workers = -1
	opts.Queue.Lease = time.Minute
	e := open(t, path, opts)
	var ids []string
	for range 3 {
		id := initiate(t, e, "u")
		submit(t, e, id, tiny)
		ids = append(ids, id)
	}
	closeEngine(t, e)
	st, err := bolt.Open(path, &bolt.Options{Now: now.Now})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		leaseAs(t, st, "dead", now.Now().Add(opts.Queue.Lease-time.Second))
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	opts.Workers = 2
	e = open(t, path, opts)
	for _, id := range ids {
		if r := wait(t, e, id); r.Failure == nil || r.Failure.Code != screen.CodeAudioLength {
			t.Errorf("got %+v, want audio_length_error", r)
		}
	}
}

// TestOwnWorkIsNotTakenOver checks that the workers of one process leave each
// other's leases alone.
func TestOwnWorkIsNotTakenOver(t *testing.T) {
	fake, entered, release := blocked()
	now := newClock()
	opts := testOptions()
	opts.Store.Now = now.Now
	opts.Scoring.Models = []models.Scorer{fake}
	e := open(t, filepath.Join(t.TempDir(), "test.db"), opts)
	now.Add(-time.Second) // set back, the lease looks as if it were from before the start
	id := initiate(t, e, "u")
	submit(t, e, id, speech())
	<-entered
	now.Add(time.Millisecond)
	time.Sleep(30 * time.Millisecond) // several polls of the other worker
	close(release)
	if r := wait(t, e, id); r.Status != screen.StatusSuccess || fake.calls.Load() != 1 {
		t.Errorf("got %v after %d calls, want success after one", r.Status, fake.calls.Load())
	}
}

func TestStoreIsFreeAfterCloseGaveUpWaiting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	fake, entered, release := blocked()
	opts := testOptions()
	opts.Scoring.Models = []models.Scorer{fake}
	e, err := voicescreen.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	id := initiate(t, e, "u")
	submit(t, e, id, speech())
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Close: got %v, want the context's error", err)
	}
	next := open(t, path, testOptions())
	if r := wait(t, next, id); r.Status != screen.StatusSuccess {
		t.Errorf("got %+v, want success", r)
	}
	close(release) // the first engine's analysis ends only now
}
