package voicescreen_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// watchedStore says which sessions were updated.
type watchedStore struct {
	store.Store
	mu       sync.Mutex // protects watchers
	watchers []func(screen.SessionKey)
	hidden   bool // whether it does not say which
}

func (st *watchedStore) Update(ctx context.Context, account, id string, change store.Change) (*store.Session, error) {
	s, err := st.Store.Update(ctx, account, id, change)
	if err == nil {
		st.mu.Lock()
		defer st.mu.Unlock()
		for _, changed := range st.watchers {
			if st.hidden {
				changed(screen.SessionKey{})
			} else {
				changed(screen.SessionKey{Account: account, ID: id})
			}
		}
	}
	return s, err
}

func (st *watchedStore) Watch(ctx context.Context, changed func(screen.SessionKey)) error {
	st.mu.Lock()
	st.watchers = append(st.watchers, changed)
	st.mu.Unlock()
	<-ctx.Done()
	return ctx.Err()
}

// TestAWatcherWakesWait has one engine wait, which never polls, for a result of
// another.
func TestAWatcherWakesWait(t *testing.T) {
	for name, c := range map[string]struct{ hidden, wrapped bool }{
		"one session": {false, false}, "any session": {true, false}, "a wrapped store": {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			st := &watchedStore{Store: newMemory(t), hidden: c.hidden}
			opts := testOptions()
			opts.Workers, opts.Queue.Poll = -1, time.Hour
			var watched store.Store = st
			if c.wrapped {
				watched = unwrapped{unwrapped{st}}
			}
			waiting := newEngine(t, watched, opts)
			eventually(t, "the engine watches the store", func() bool {
				st.mu.Lock()
				defer st.mu.Unlock()
				return len(st.watchers) == 1
			})
			id := initiate(t, waiting, "u")
			done := make(chan error)
			go func() {
				_, err := waiting.Wait(testContext(t), id)
				done <- err
			}()
			submit(t, waiting, id, tiny)
			newEngine(t, st, testOptions())
			if err := <-done; err != nil {
				t.Errorf("got error %v, want the result of the other engine", err)
			}
		})
	}
}
