package httpadapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// newAudited starts a service with an audit log, which is verified at the end.
func newAudited(t *testing.T) (s *service, name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "audit.log")
	l, err := audit.Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close() // some tests break it
		if _, err := audit.Verify([]string{name}, nil); err != nil {
			t.Error(err)
		}
	})
	return newServiceWith(t, nil, &httpadapter.Options{Audit: l}), name
}

// events reads the events of an audit log, without those of the log itself.
func events(t *testing.T, name string) (list []audit.Event) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var e audit.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(e.Action, "audit.") {
			list = append(list, e)
		}
	}
	return list
}

func TestAuditEveryCall(t *testing.T) {
	s, name := newAudited(t)
	id := strings.Split(s.key, "_")[1]
	recording := string(testWAV(t, 44100, 1, 0.1))
	var want []audit.Event
	call := func(action, session string, outcomes string, r request) {
		t.Helper()
		s.do(r)
		for o := range strings.SplitSeq(outcomes, " ") {
			want = append(want, audit.Event{Account: "clinic", Key: id, Action: action, Session: session, Outcome: o})
		}
	}
	shaped := strings.Repeat("a2", 16) // as the engine's own are
	get := func(path string) request { return request{method: "GET", path: path} }
	call("initiate", "session-1", "201", request{method: "POST", path: "/v2/initiate", body: `{"user_id":"p","is_initiated":true}`})
	call("initiate", "", "406", request{method: "POST", path: "/v1/initate/", body: `{"user_id":"p","is_initiated":false}`})
	call("initiate", "", "422", request{method: "POST", path: "/initiate", body: `{}`})
	call("submit", "", "404", form("POST", "/v2/prediction", field{"session_id", "patient-17"}, field{"file", recording}))
	call("submit", shaped, "404", form("POST", "/v2/prediction", field{"session_id", shaped}, field{"file", recording}))
	call("submit", "", "406", form("POST", "/v2/prediction", field{"session_id", "session-1"}))
	call("submit", "session-1", "202", form("POST", "/v2/predict/depression/binary", field{"file", recording}, field{"session_id", "session-1"}))
	call("submit", "session-1", "409", form("POST", "/predict", field{"session_id", "session-1"}, field{"file", recording}))
	call("result", "session-1", "200", request{method: "POST", path: "/predict", body: `{"session_id":"session-1"}`})
	call("result", "session-1", "200", get("/v2/predict/sessions/session-1"))
	s.finish("session-1", tooShort, nil)
	call("result", "session-1", "417", get("/v2/predict/sessions/session-1"))
	call("result", "", "404", get("/v2/predict/sessions/patient-17"))
	call("result", shaped, "404", get("/v2/predict/sessions/"+shaped))
	call("list", "", "200", get("/v2/predict/users/patient-17"))
	call("feedback/phq/2", "session-1", "200", request{method: "PATCH", path: "/v1/feedback/server/phq/2", body: `{"session_id":"session-1","actual_score":[1,2]}`})
	call("feedback/depression/binary", "", "422", request{method: "PATCH", path: "/v2/feedback/depression/binary", body: `{"session_id":"session-1"}`})
	call("delete", "", "begun 404", request{method: "DELETE", path: "/v2/sessions/patient-17"})
	want[len(want)-2].Session = "" // not known to be a session
	call("delete", "session-1", "begun 204", request{method: "DELETE", path: "/v2/sessions/session-1"})
	want[len(want)-2].Session = ""
	call("forget", "", "begun 204", request{method: "DELETE", path: "/v2/users/patient-17"})
	call("unknown", "", "404", get("/v2/patient-17"))
	call("unknown", "", "405", request{method: "PUT", path: "/v2/initiate"})
	s.do(request{method: "GET", path: "/healthz", key: "none"})
	s.do(request{method: "GET", path: "/docs"})
	if got := events(t, name); !slices.Equal(got, want) {
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("event %d: got %+v, want %+v", i, got[i], want[i])
			}
		}
		t.Errorf("got %d events, want %d", len(got), len(want))
	}
}

// A refused call is recorded, with the description of the key if there is one, and
// with no text that the caller sent.
func TestAuditRefusals(t *testing.T) {
	s, name := newAudited(t)
	reader, revoked := s.newKey("clinic", httpadapter.ScopeRead), s.newKey("other")
	if err := s.keys.Revoke(revoked); err != nil {
		t.Fatal(err)
	}
	id := func(key string) string { return strings.Split(key, "_")[1] }
	wrong := s.key[:len(s.key)-4] + "0000"
	for _, key := range []string{"none", "patient-17", "vk_" + strings.Repeat("0", 16) + "_" + strings.Repeat("0", 64), wrong, revoked, reader} {
		s.do(request{method: "POST", path: "/v2/initiate", key: key})
	}
	s.do(request{method: "GET", path: "/v2/patient-17", key: "none"})
	want := []audit.Event{
		{Action: "initiate", Outcome: "403"}, {Action: "initiate", Outcome: "403"}, {Action: "initiate", Outcome: "403"},
		{Action: "initiate", Outcome: "403", Key: id(s.key)},
		{Action: "initiate", Outcome: "403", Key: id(revoked), Account: "other"},
		{Action: "initiate", Outcome: "401", Key: id(reader), Account: "clinic"},
		{Action: "unknown", Outcome: "403"},
	}
	if got := events(t, name); !slices.Equal(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
}

// watcher calls a function when an answer begins.
type watcher struct {
	*httptest.ResponseRecorder
	at func()
}

func (w watcher) WriteHeader(status int) { w.at(); w.ResponseRecorder.WriteHeader(status) }

// The record is there before the first byte of the answer.
func TestAuditComesFirst(t *testing.T) {
	s, name := newAudited(t)
	req := httptest.NewRequest("POST", "/v2/initiate", strings.NewReader(`{"user_id":"p","is_initiated":true}`))
	req.Header.Set("X-API-Key", s.key)
	seen := -1
	s.handler.ServeHTTP(watcher{httptest.NewRecorder(), func() { seen = len(events(t, name)) }}, req)
	if seen != 1 {
		t.Errorf("got %d records when the answer began, want 1", seen)
	}
}

// A call without its record is not answered, and later calls have no effect.
func TestAuditCannotBeWritten(t *testing.T) {
	s, _ := newAudited(t)
	id := s.submit("patient-17", "/v2/prediction/", testWAV(t, 44100, 1, 0.1))
	s.finish(id, nil, nil)
	if _, err := s.opts.Audit.Close(); err != nil {
		t.Fatal(err)
	}
	effect := func() {
		t.Helper()
		if r := s.session(id); r.Labels.PHQ2 != nil || r.Status != screen.StatusSuccess {
			t.Errorf("got %+v, want the session untouched", r)
		}
	}
	for _, r := range []request{
		{method: "POST", path: "/v2/initiate", body: `{"user_id":"p","is_initiated":true}`},
		form("POST", "/v2/prediction", field{"session_id", id}, field{"file", "x"}),
		{method: "GET", path: "/v2/predict/sessions/" + id},
		{method: "GET", path: "/v2/predict/users/patient-17?limit=1"},
		{method: "PATCH", path: "/v2/feedback/phq/2", body: `{"session_id":"` + id + `","actual_score":[1,2]}`},
		{method: "DELETE", path: "/v2/sessions/" + id},
		{method: "DELETE", path: "/v2/users/patient-17"},
		{method: "GET", path: "/v2/nothing"},
		{method: "GET", path: "/v2/initiate"},
		{method: "GET", path: "/v2/predict/sessions/" + id, key: "none"},
	} {
		w := s.do(r)
		if w.Code != http.StatusInternalServerError || w.Body.String() != "{\"message\":\"internal server error\"}\n" || w.Header().Get("X-Request-Id") == "" {
			t.Errorf("%s %s: got %d %s, want 500", r.method, r.path, w.Code, w.Body)
		}
		effect()
	}
	s.want(http.StatusServiceUnavailable, request{method: "GET", path: "/readyz", key: "none"})
	s.want(http.StatusOK, request{method: "GET", path: "/healthz", key: "none"})
	if log := s.log.String(); strings.Contains(log, "patient-17") || !strings.Contains(log, "not audited") {
		t.Errorf("got log\n%s\nwant that calls were not audited", log)
	}
}

// Each session that the engine erases is recorded. A log that accepts no records
// returns an error before.
func TestAuditErased(t *testing.T) {
	s, name := newAudited(t)
	l := s.opts.Audit
	erased := httpadapter.AuditErased(l)
	long := strings.Repeat("x", 300)
	for _, sessions := range [][]screen.SessionKey{nil, {{Account: "a", ID: "one"}, {Account: "b", ID: long}, {}}} {
		if err := erased(sessions); err != nil {
			t.Fatal(err)
		}
	}
	want := map[audit.Event]bool{
		{Account: "a", Action: "retention", Session: "one", Outcome: "erased"}:      true,
		{Account: "b", Action: "retention", Session: long[:256], Outcome: "erased"}: true,
		{Action: "retention", Outcome: "erased"}:                                    true, // it was damaged
	}
	got := events(t, name)
	for _, e := range got {
		if !want[e] {
			t.Errorf("got %+v, want %v", e, want)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d events, want %d", len(got), len(want))
	}
	if _, err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, sessions := range [][]screen.SessionKey{nil, {{Account: "a", ID: "two"}}} {
		if err := erased(sessions); !errors.Is(err, audit.ErrClosed) {
			t.Errorf("of a log that is closed: got %v, want %v", err, audit.ErrClosed)
		}
	}
}

// If the log fails during a call, the answer is not sent.
func TestAuditBreaksUnderWay(t *testing.T) {
	s, _ := newAudited(t)
	l := s.opts.Audit
	id := s.submit("patient-17", "/v2/prediction/", testWAV(t, 44100, 1, 0.1))
	s.finish(id, nil, nil)
	e, err := voicescreen.New(closing{s.store, l}, &voicescreen.Options{Workers: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	s.use(e)
	w := s.do(request{method: "GET", path: "/v2/predict/sessions/" + id, prefer: "wait=1"})
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "success") || w.Header().Get("Preference-Applied") != "" {
		t.Errorf("got %d %s %v, want 500 and nothing of the result", w.Code, w.Body, w.Header())
	}
}

// closing is a store that closes the audit log during a call.
type closing struct {
	store.Store
	log *audit.Log
}

func (c closing) Get(ctx context.Context, account, id string) (*store.Session, error) {
	c.log.Close()
	return c.Store.Get(ctx, account, id)
}

// A client that disconnects is not an error of the service.
func TestClientLeaves(t *testing.T) {
	s, name := newAudited(t)
	var seen []int
	s.opts.Observe = func(o httpadapter.Observation) { seen = append(seen, o.Status) }
	e, err := voicescreen.New(leaving{s.store}, &voicescreen.Options{Workers: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	s.use(e)
	ctx, cancel := context.WithCancel(t.Context())
	req := httptest.NewRequest("GET", "/v2/predict/sessions/"+strings.Repeat("a", 32), nil).WithContext(ctx)
	req.Header.Set("X-API-Key", s.key)
	time.AfterFunc(20*time.Millisecond, cancel)
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, req)
	if !slices.Equal(seen, []int{499}) || strings.Contains(s.log.String(), "error") {
		t.Errorf("got statuses %v, log\n%s\nwant %d alone and no error", seen, s.log, 499)
	}
	if w.Code != 499 { // 200 if nothing is written
		t.Errorf("got an answer %d %s, want %d", w.Code, w.Body, 499)
	}
	if got := events(t, name); len(got) != 1 || got[0].Outcome != "499" {
		t.Errorf("got events %+v, want one with 499", got)
	}
}

// leaving is a store that answers after the client has disconnected.
type leaving struct{ store.Store }

func (leaving) Get(ctx context.Context, _, _ string) (*store.Session, error) {
	<-ctx.Done()
	return nil, errors.Join(errors.New("read"), ctx.Err())
}
