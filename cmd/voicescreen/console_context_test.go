package main

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/memory"
)

// slowStore is a store whose Scan takes until its context ends.
type slowStore struct {
	store.Store
	began chan struct{}
}

func (s *slowStore) Scan(ctx context.Context, _ string, _ int) ([]*store.Session, error) {
	s.began <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestShutdownEndsTheConsole: the engine closes though a pass over the sessions was under
// way as the shutdown began.
func TestShutdownEndsTheConsole(t *testing.T) {
	memory := memory.New(nil)
	defer memory.Close()
	st := &slowStore{memory, make(chan struct{}, 10)}
	e, err := voicescreen.New(st, &voicescreen.Options{Workers: -1})
	if err != nil {
		t.Fatal(err)
	}
	keys := httpadapter.NewKeys()
	key, err := keys.Create("clinic", httpadapter.ScopeRead)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := serveOptions{console: consoleFlags{on: true}}
	h, err := o.withConsole(ctx, http.NotFoundHandler(), e, keys, nil, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "http://localhost/console/sign-in", strings.NewReader(url.Values{"key": {key}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	r = httptest.NewRequest("GET", "http://localhost/console/agreement", nil)
	for _, c := range w.Result().Cookies() {
		r.AddCookie(c)
	}
	h.ServeHTTP(httptest.NewRecorder(), r)
	select {
	case <-st.began:
	case <-time.After(time.Minute):
		t.Fatal("the page began no pass")
	}
	cancel()
	closing, end := context.WithTimeout(context.Background(), time.Minute)
	defer end()
	if err := e.Close(closing); err != nil {
		t.Errorf("the pass did not end: %v", err)
	}
}
