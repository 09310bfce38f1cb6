package console_test

import (
	"bufio"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/console"
	"github.com/voicescreen/voicescreen/httpadapter"
)

func TestEveryActIsAudited(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	s.newClient().post("/console/sign-in", "key", "vk_a_b")
	id := c.recorded("patient-17")
	at := "/console/sessions/" + id
	c.get(at)
	c.post("/console/people", "user", "patient-17")
	c.post(at+"/gad-7", answers(0, 0, 0, 0, 0, 0, 0)...)
	c.post(at+"/interview", "outcome", "false")
	c.post("/console/operations/keys", "scope", "read", "days", "1")
	c.get("/console/sessions/nowhere")
	c.post(at+"/erase", "confirm", "yes")
	s.stored(account, "a", "patient-17", s.clock.Now(), nil)
	c.post("/console/operations/forget", "user", "patient-17", "confirm", "yes")
	c.post("/console/operations/forget", "user", "patient-17", "confirm", "yes")
	c.post("/console/sign-out")

	f, err := os.Open(s.audited)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r audit.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(r.Action, "audit.") {
			continue
		}
		line := r.Action + " " + r.Outcome
		if r.Session != "" {
			line += " " + strings.Replace(r.Session, id, "SESSION", 1)
		}
		if (r.Account != account || r.Key == "") != (line == "sign-in 403") {
			t.Errorf("%s: got account %q and key %q", line, r.Account, r.Key)
		}
		got = append(got, line)
	}
	want := []string{
		"sign-in 303", "sign-in 403", "initiate 303 SESSION", "submit 303 SESSION", "result 200 SESSION", "list 303", "list 200 SESSION",
		"feedback/gad/7 200 SESSION", "feedback/depression/binary 200 SESSION", "keys/create 200", "result 404",
		"delete begun SESSION", "delete 200 SESSION", "forget begun", "forget 200", "forget begun", "forget 404", "sign-out 303",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q,\nwant %q", got, want)
	}
	if _, err := audit.Verify([]string{s.audited}, nil); err != nil {
		t.Errorf("the audit log: %v", err)
	}
}

// TestNothingIsDoneThatCannotBeAudited: with a closed audit log acts are refused.
func TestNothingIsDoneThatCannotBeAudited(t *testing.T) {
	var trail *audit.Log
	s := newService(t, func(o *console.Options) { trail = o.Audit })
	c := s.signedIn("")
	s.stored(account, "a", "patient-17", s.clock.Now(), nil)
	trail.Close()
	c.get("/console/sessions/a").want(t, "a result", http.StatusInternalServerError)
	c.post("/console/sessions/a/erase", "confirm", "yes").want(t, "an erasure", http.StatusInternalServerError)
	if _, err := s.store.Get(t.Context(), account, "a"); err != nil {
		t.Errorf("the session: %v, want it there", err)
	}
}

// TestStrangersWriteNothingIntoTheAuditLog: the text of an address is recorded only if
// it is the identifier of a session that the caller may see.
func TestStrangersWriteNothingIntoTheAuditLog(t *testing.T) {
	s := newService(t, nil)
	for _, name := range []string{"Mrs-Miller", "Mrs-Miller" + strings.Repeat("x", 300)} {
		for _, path := range []string{"", "/history", "/wait"} {
			if a := s.newClient().get("/console/sessions/" + name + path); a.path != "/console/sign-in" {
				t.Errorf("%s: got %d at %s, want the page to sign in", path, a.status, a.path)
			}
		}
	}
	trail, err := os.ReadFile(s.audited)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(trail), `"outcome":"303"`); n != 6 || strings.Contains(string(trail), "Miller") {
		t.Errorf("got %d refusals in the audit log, want 6 without the text of the address: %s", n, trail)
	}
}

// TestPanicsAreAudited: an act that panics is recorded with its outcome.
func TestPanicsAreAudited(t *testing.T) {
	s := newService(t, nil)
	trail, err := audit.Open(filepath.Join(t.TempDir(), "audit.log"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer trail.Close()
	h, err := console.New(newShipped(t, failing{s.store, true}), s.keys, &console.Options{Now: s.clock.Now, Audit: trail, Logger: slog.New(slog.NewTextHandler(s.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	s.server.Config.Handler = h
	c := s.signedIn("")
	before := trail.Head().Seq
	c.get("/console/sessions/a").want(t, "a result", http.StatusInternalServerError, "internal error")
	if n := trail.Head().Seq - before; n != 1 {
		t.Errorf("got %d records, want 1", n)
	}
	if log := s.log.String(); !strings.Contains(log, `route="GET /sessions/{id}" status=500`) || strings.Contains(log, "patient-17") {
		t.Errorf("got the log %s, want a line of the request, and no patient", log)
	}
}

// TestNobodyIsSignedInUnaudited: the cookie is not sent if the sign-in cannot be recorded.
func TestNobodyIsSignedInUnaudited(t *testing.T) {
	var trail *audit.Log
	s := newService(t, func(o *console.Options) { trail = o.Audit })
	h, err := console.New(s.engine, closing{s.keys, trail}, &console.Options{Now: s.clock.Now, Audit: trail})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "http://localhost/console/sign-in", strings.NewReader("key="+s.key))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if n := len(w.Result().Cookies()); w.Code != http.StatusInternalServerError || n != 0 {
		t.Errorf("got %d with %d cookies, want 500 without one", w.Code, n)
	}
}

// closing closes the audit log after its first check, as a disk fails between the begin
// and the end of a request.
type closing struct {
	keys  *httpadapter.Keys
	trail *audit.Log
}

func (c closing) Authenticate(r *http.Request) (httpadapter.Caller, error) {
	c.trail.Close()
	return c.keys.Authenticate(r)
}
