package voicescreen

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// Wait returns the result of a session once it is final: StatusSuccess or
// StatusFailed. It waits for the submission too. The error is ErrNotFound where
// the account has no such session or the session was deleted meanwhile, ctx's
// error if ctx is done first, and ErrClosed when the engine closes.
//
// Wait learns of a result of this engine at once, and of one of another process
// within QueueOptions.Poll, or earlier where the store is a store.Watcher.
func (a *flow) Wait(ctx context.Context, sessionID string) (*Result, error) {
	e := a.engine
	ctx, leave, err := e.life.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	w := e.waiters.add(a.name, sessionID)
	defer e.waiters.remove(w)
	poll := time.NewTicker(e.opts.Queue.Poll)
	defer poll.Stop()
	for {
		status, err := a.status(ctx, sessionID)
		if err != nil {
			return nil, err
		}
		if status.Final() {
			return a.result(ctx, sessionID)
		}
		select {
		case <-w.wake:
		case <-poll.C:
		case <-e.life.stop:
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// watchers are the calls of Wait under way. The zero value is ready, and safe
// for concurrent use.
type watchers struct {
	mu sync.Mutex // protects m
	m  map[screen.SessionKey][]*watcher
}

// watcher is one call of Wait. Wake holds one token, which is enough: every
// token makes the call look at the store again.
type watcher struct {
	key  screen.SessionKey
	wake chan struct{}
}

func (ws *watchers) add(account, id string) *watcher {
	w := &watcher{screen.SessionKey{Account: account, ID: id}, make(chan struct{}, 1)}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.m == nil {
		ws.m = map[screen.SessionKey][]*watcher{}
	}
	ws.m[w.key] = append(ws.m[w.key], w)
	return w
}

func (ws *watchers) remove(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.m[w.key] = slices.DeleteFunc(ws.m[w.key], func(other *watcher) bool { return other == w })
	if len(ws.m[w.key]) == 0 {
		delete(ws.m, w.key)
	}
}

func (ws *watchers) wakeOne(account, id string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.m[screen.SessionKey{Account: account, ID: id}] {
		w.notify()
	}
}

func (ws *watchers) wakeAll() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, list := range ws.m {
		for _, w := range list {
			w.notify()
		}
	}
}

// watchPause is the pause after a Watch that failed. Chosen: long enough for a
// database to restart; the polls of Wait go on.
const watchPause = 5 * time.Second

// watch wakes the calls whose sessions another process changed, until stop is
// closed, and calls some after any change.
func (ws *watchers) watch(ctx context.Context, stop <-chan struct{}, st store.Watcher, log *slog.Logger, some func()) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	for {
		err := st.Watch(ctx, func(key screen.SessionKey) {
			if key.ID == "" {
				ws.wakeAll()
			} else {
				ws.wakeOne(key.Account, key.ID)
			}
			some()
		})
		if err != nil && ctx.Err() == nil {
			log.Warn("watch the store", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(watchPause):
		}
	}
}

func (w *watcher) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
