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
	"github.com/voicescreen/voicescreen/store"
)

func TestCloseDrains(t *testing.T) {
	st := newMemory(t)
	fake, entered, release := blocked()
	opts := testOptions()
	opts.Workers, opts.Scoring.Models = 1, []models.Scorer{fake}
	e, err := voicescreen.New(st, opts)
	if err != nil {
		t.Fatal(err)
	}
	running, queued := initiate(t, e, "u"), initiate(t, e, "u")
	submit(t, e, running, speech())
	<-entered
	submit(t, e, queued, speech())
	closed := make(chan error, 1)
	go func() { closed <- e.Close(context.Background()) }()
	eventually(t, "no call is taken", func() bool {
		_, err := e.Result(t.Context(), running)
		return errors.Is(err, voicescreen.ErrClosed)
	})
	close(release)
	if err := <-closed; err != nil {
		t.Errorf("Close: %v", err)
	}
	for id, want := range map[string]screen.Status{running: screen.StatusSuccess, queued: screen.StatusProcessing} {
		if s, err := st.Get(t.Context(), "", id); err != nil || s.Status != want || s.Leased() {
			t.Errorf("got %+v, %v, want %v", s, err, want)
		}
	}
}

func TestCloseHandsBack(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		fake, entered, release := blocked()
		opts := testOptions()
		opts.Workers, opts.Scoring.Models = 1, []models.Scorer{fake}
		e, err := voicescreen.New(st, opts)
		if err != nil {
			t.Fatal(err)
		}
		id := initiate(t, e, "u")
		submit(t, e, id, speech())
		<-entered
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if err := e.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: got %v, want the context's error", err)
		}
		s, err := st.Get(t.Context(), "", id)
		if err != nil || s.Status != screen.StatusProcessing || s.Attempts != 0 || s.Owner != "" || s.Due.IsZero() || s.Audio == "" {
			t.Errorf("got %+v, %v, want it queued, due, and no attempt counted", s, err)
		}
		close(release) // the analysis that was cut off ends, and its result is dropped
		next := newEngine(t, st, testOptions())
		if r := wait(t, next, id); r.Status != screen.StatusSuccess {
			t.Errorf("after the next start: got %+v, want success", r)
		}
	})
}

func TestCloseEndsUploadsThatHang(t *testing.T) {
	e, err := voicescreen.Open(filepath.Join(t.TempDir(), "test.db"), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	id := initiate(t, e, "u")
	started := make(chan struct{})
	done := make(chan error, 1)
	first := true
	go func() {
		_, err := e.Submit(context.Background(), id, readerFunc(func(p []byte) (int, error) {
			if first {
				first = false
				close(started)
				return copy(p, tiny[:50]), nil
			}
			time.Sleep(time.Millisecond) // a client that sends on and on
			clear(p)
			return len(p), nil
		}), nil)
		done <- err
	}()
	<-started
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := e.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close: got %v, want the context's error", err)
	}
	if err := <-done; err == nil {
		t.Error("the upload was acknowledged, want an error")
	}
}
