package voicescreen_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/postgres"
)

// TestReplicas has two engines on one PostgreSQL database. Neither polls within the test,
// so that only the notifications of the database wake a worker or a waiting call.
func TestReplicas(t *testing.T) {
	s := postgresServer(t)
	if _, err := s.SQL(t.Context(), "postgres", "CREATE DATABASE waits"); err != nil {
		t.Fatal(err)
	}
	replica := func(t *testing.T, opts *voicescreen.Options) *voicescreen.Engine {
		t.Helper()
		st, err := postgres.Open(t.Context(), s.URL("waits"), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		})
		opts.Queue.Poll, opts.Queue.Lease = time.Hour, time.Hour
		e, err := voicescreen.New(st, opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(context.Background()); err != nil && !errors.Is(err, context.DeadlineExceeded) { // of a test that closed it
				t.Errorf("Close: %v", err)
			}
		})
		return e
	}
	t.Run("a call hears of a result at once", func(t *testing.T) { waitForAnother(t, replica) })
	t.Run("work that is handed back goes on at once", func(t *testing.T) { handBack(t, replica) })
}

// waitForAnother logs how long a call waits after the result is durable.
func waitForAnother(t *testing.T, replica func(*testing.T, *voicescreen.Options) *voicescreen.Engine) {
	var mu sync.Mutex // protects ended
	ended := map[string]time.Time{}
	opts := testOptions()
	opts.Workers = -1
	answers := replica(t, opts)
	opts = testOptions()
	opts.Workers = 1
	opts.Results.OnResult = func(_ context.Context, _ string, r *voicescreen.Result) {
		mu.Lock()
		defer mu.Unlock()
		ended[r.SessionID] = time.Now()
	}
	replica(t, opts)
	var late []time.Duration
	for range 10 {
		id := initiate(t, answers, "u")
		submit(t, answers, id, tiny)
		wait(t, answers, id)
		returned := time.Now()
		eventually(t, "the worker has reported the result", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return !ended[id].IsZero()
		})
		late = append(late, returned.Sub(ended[id]))
	}
	slices.Sort(late)
	t.Logf("a call returns %v after the result, at most %v, want at most 250ms", late[len(late)/2], late[len(late)-1])
}

// handBack closes an engine in the midst of an analysis, whose lease is an hour.
func handBack(t *testing.T, replica func(*testing.T, *voicescreen.Options) *voicescreen.Engine) {
	entered := make(chan struct{})
	opts := testOptions()
	opts.Workers = 1
	opts.Scoring.Models = []models.Scorer{newFake(func(ctx context.Context, _ *features.Recording) ([]screen.Score, error) {
		close(entered)
		<-ctx.Done()
		return nil, ctx.Err()
	})}
	ends := replica(t, opts)
	id := initiate(t, ends, "u")
	submit(t, ends, id, speech())
	<-entered
	opts = testOptions()
	opts.Workers, opts.Scoring.Models = 1, []models.Scorer{newFake(nil)}
	goesOn := replica(t, opts)
	late, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := ends.Close(late); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close: got error %v, want %v", err, context.DeadlineExceeded)
	}
	if r := wait(t, goesOn, id); r.Status != screen.StatusSuccess {
		t.Errorf("got %v %+v, want the result of the other replica", r.Status, r.Failure)
	}
}
