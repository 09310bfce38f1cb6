package voicescreen_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/proof/pgserver"
	"github.com/voicescreen/voicescreen/store/postgres"
)

// TestWaitHearsOfAnotherReplica has a replica without workers wait for what another one
// analyses. Neither polls within the test: the notifications of the database wake the
// worker and the waiting call. It logs how long a call waits after the result is durable.
func TestWaitHearsOfAnotherReplica(t *testing.T) {
	s, err := pgserver.Start()
	if errors.Is(err, pgserver.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	var mu sync.Mutex // protects ended
	ended := map[string]time.Time{}
	engine := func(workers int) *voicescreen.Engine {
		st, err := postgres.Open(t.Context(), s.URL("postgres"), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		})
		opts := testOptions()
		opts.Workers, opts.Queue.Poll = workers, time.Hour
		opts.Results.OnResult = func(_ context.Context, _ string, r *voicescreen.Result) {
			mu.Lock()
			defer mu.Unlock()
			ended[r.SessionID] = time.Now()
		}
		return newEngine(t, st, opts)
	}
	answers, works := engine(-1), engine(1)
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
	closeEngine(t, works)
}
