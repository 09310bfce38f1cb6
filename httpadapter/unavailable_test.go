package httpadapter_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/store"
)

// While a server of the store does not answer, calls are answered 503 with
// Retry-After, and neither 403 nor 500. Afterwards the same calls succeed.
func TestUnavailableStore(t *testing.T) {
	away := fmt.Errorf("store/postgres: dial /run/secret: %w", store.ErrUnavailable)
	for method, c := range map[string]struct {
		r    request
		want int
	}{
		"Create":   {request{method: "POST", path: "/initiate", contentType: formType, body: "user_id=u&is_initiated=true"}, 201},
		"PutAudio": {request{}, 202},
		"Update":   {request{}, 202},
		"Forget":   {request{method: "DELETE", path: "/users/u"}, 204},
		"Ping":     {request{method: "GET", path: "/readyz", key: "none"}, 200},
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t, &faultyStore{method: method, nth: 0, stays: true, err: away})
			p.f.repair()
			if c.r.method == "" {
				c.r = form("POST", "/predict", field{"session_id", p.initiate("u")}, field{"file", string(testWAV(t, 44100, 1, 0.2))})
			}
			p.f.mu.Lock()
			p.f.repaired = false
			p.f.mu.Unlock()
			w := p.do(c.r)
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "secret") {
				t.Errorf("got %d %s %v, want 503 with Retry-After and nothing of the cause", w.Code, w.Body, w.Header())
			}
			if !strings.Contains(p.log.String(), away.Error()) {
				t.Errorf("got log\n%s\nwant the cause", p.log)
			}
			p.f.repair()
			if w := p.do(c.r); w.Code != c.want {
				t.Errorf("afterwards: got %d %s, want %d", w.Code, w.Body, c.want)
			}
		})
	}
}

// While the server that holds the keys does not answer, the log has one line of that a
// minute, however many requests come.
func TestUnavailableStoreDoesNotFillTheLog(t *testing.T) {
	p := newPatient(t, &faultyStore{})
	away := httpadapter.AuthenticatorFunc(func(*http.Request) (httpadapter.Caller, error) {
		return httpadapter.Caller{}, fmt.Errorf("keys: %w", store.ErrUnavailable)
	})
	p.handler = httpadapter.New(p.engine, away, &httpadapter.Options{Logger: slog.New(slog.NewTextHandler(p.log, nil))})
	const calls = 20
	for range calls {
		p.want(http.StatusServiceUnavailable, request{method: "GET", path: "/sessions", key: "unknown"})
	}
	text := p.log.String()
	if n := strings.Count(text, "level=WARN msg=\"the store is not available\""); n != 1 || strings.Contains(text, "level=ERROR") {
		t.Errorf("got %d warnings, want 1 and no error:\n%s", n, text)
	}
	if n := strings.Count(text, "msg=request "); n != calls {
		t.Errorf("got %d lines of requests, want %d", n, calls)
	}
}
