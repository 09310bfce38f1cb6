package httpadapter_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

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
