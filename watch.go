package voicescreen

import "sync"

// watchers are the calls of Wait under way. The zero value is ready.
type watchers struct {
	mu sync.Mutex // protects m
	m  map[sessionKey][]*watcher
}

type sessionKey struct{ account, id string }

// watcher is one call of Wait. Wake holds one token: enough, as every token
// makes the call look at the store again.
type watcher struct {
	key  sessionKey
	wake chan struct{}
}

func (ws *watchers) add(account, id string) *watcher {
	w := &watcher{sessionKey{account, id}, make(chan struct{}, 1)}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.m == nil {
		ws.m = map[sessionKey][]*watcher{}
	}
	ws.m[w.key] = append(ws.m[w.key], w)
	return w
}

func (ws *watchers) remove(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	kept := ws.m[w.key][:0]
	for _, other := range ws.m[w.key] {
		if other != w {
			kept = append(kept, other)
		}
	}
	if len(kept) == 0 {
		delete(ws.m, w.key)
		return
	}
	ws.m[w.key] = kept
}

func (ws *watchers) wakeOne(account, id string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.m[sessionKey{account, id}] {
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

func (w *watcher) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
