package httpadapter_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/voicescreen/voicescreen/store"
)

// On a full disk every call that changes something is answered 503 with Retry-After
// and changes nothing, /readyz says so, and results can be read. When there is room
// again the same calls succeed.
func TestFullStore(t *testing.T) {
	recording := string(testWAV(t, 44100, 1, 0.2))
	for name, full := range map[string]error{
		"of a disk":  fmt.Errorf("store/bolt: commit: %w", &fs.PathError{Op: "write", Path: "/data/clinic.db", Err: syscall.ENOSPC}),
		"of a quota": syscall.EDQUOT,
		"of a store": fmt.Errorf("store/postgres: %w", store.ErrFull),
	} {
		for _, method := range []string{"Create", "PutAudio", "Update", "Delete", "Forget", "Ping"} {
			t.Run(name+" "+method, func(t *testing.T) {
				t.Parallel()
				p := newPatient(t, &faultyStore{method: method, nth: 0, stays: true, err: full})
				p.f.repair()
				scored := p.submit("u", "/predict/depression/binary", []byte(recording))
				p.result(scored)
				id := p.initiate("u")
				p.f.mu.Lock()
				p.f.repaired = false
				p.f.mu.Unlock()
				calls := map[string]struct {
					r    request
					want int
				}{
					"Create":   {request{method: "POST", path: "/initiate", contentType: formType, body: "user_id=u&is_initiated=true"}, 201},
					"PutAudio": {form("POST", "/predict", field{"session_id", id}, field{"file", recording}), 202},
					"Update":   {request{method: "PATCH", path: "/v2/feedback/phq/2", body: `{"session_id":"` + scored + `","actual_score":[1,2]}`}, 200},
					"Delete":   {request{method: "DELETE", path: "/sessions/" + id}, 204},
					"Forget":   {request{method: "DELETE", path: "/users/u"}, 204},
					"Ping":     {request{method: "GET", path: "/readyz", key: "none"}, 200},
				}
				c := calls[method]
				w := p.do(c.r)
				if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "the store is full") {
					t.Errorf("got %d %s %v, want 503 with Retry-After", w.Code, w.Body, w.Header())
				}
				if text := w.Body.String(); strings.Contains(text, "clinic.db") || strings.Contains(text, "commit") {
					t.Errorf("got %s, want nothing of the cause", text)
				}
				if !strings.Contains(p.log.String(), full.Error()) {
					t.Errorf("got log\n%s\nwant the cause", p.log)
				}
				if w := p.do(request{method: "GET", path: "/predict/sessions/" + scored}); w.Code != http.StatusExpectationFailed {
					t.Errorf("a result: got %d %s, want it as before", w.Code, w.Body)
				}
				p.f.repair()
				if w := p.do(c.r); w.Code != c.want {
					t.Errorf("afterwards: got %d %s, want %d", w.Code, w.Body, c.want)
				}
			})
		}
	}
}
