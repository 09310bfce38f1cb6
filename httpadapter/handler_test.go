package httpadapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/store"
)

// paths returns every way to write the path of a route.
func paths(r *httpadapter.Route) []string {
	path := strings.ReplaceAll(r.Path, "*", "x")
	if r.Scope == 0 {
		return []string{"/" + path, "/" + path + "/"}
	}
	var list []string
	for _, v := range []string{"/", "/v1/", "/v2/"} {
		list = append(list, v+path, v+path+"/")
	}
	return list
}

func TestEveryPathIsAuthenticated(t *testing.T) {
	s := newService(t)
	revoked := s.newKey("clinic")
	if err := s.keys.Revoke(revoked); err != nil {
		t.Fatal(err)
	}
	expired, err := s.keys.CreateUntil(time.Now().Add(time.Minute), "clinic")
	if err != nil {
		t.Fatal(err)
	}
	httpadapter.SetNow(s.keys, func() time.Time { return time.Now().Add(time.Hour) })
	keys := map[string]string{"none": "missing API key", "hello": "invalid API key", revoked: "invalid API key",
		expired: "invalid API key", s.key + "0": "invalid API key"}
	for i := range httpadapter.Routes {
		r := &httpadapter.Routes[i]
		for _, path := range paths(r) {
			for key, want := range keys {
				w := s.do(request{method: r.Method, path: path, key: key})
				switch {
				case r.Scope == 0 && w.Code != http.StatusOK:
					t.Errorf("%s %s: got %d without a key, want 200", r.Method, path, w.Code)
				case r.Scope != 0 && (w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), want)):
					t.Errorf("%s %s: got %d %s, want 403 %s", r.Method, path, w.Code, w.Body, want)
				}
			}
		}
	}
	for _, path := range []string{"/", "/v2/nothing", "/v3/initiate"} {
		if w := s.do(request{method: "GET", path: path, key: "none"}); w.Code != http.StatusForbidden {
			t.Errorf("%s: got %d without a key, want 403", path, w.Code)
		}
	}
}

func TestEveryScope(t *testing.T) {
	s := newService(t)
	for i := range httpadapter.Routes {
		r := &httpadapter.Routes[i]
		for scope := httpadapter.ScopeInitiate; scope <= httpadapter.ScopeAdmin; scope++ {
			allowed := scope == r.Scope || r.Scope == 0 || r.Scope == httpadapter.AnyScope && (scope == httpadapter.ScopeSubmit || scope == httpadapter.ScopeRead)
			w := s.do(request{method: r.Method, path: paths(r)[0], key: s.newKey("clinic", scope)})
			if allowed == (w.Code == http.StatusUnauthorized) {
				t.Errorf("%s %s with %v: got %d, want allowed %v", r.Method, r.Path, scope, w.Code, allowed)
			}
		}
	}
	// The one path with two meanings.
	recording := string(testWAV(t, 44100, 1, 0.1))
	submitter, reader := s.newKey("clinic", httpadapter.ScopeSubmit), s.newKey("clinic", httpadapter.ScopeRead)
	send := form("POST", "/predict", field{"session_id", s.initiate("p")}, field{"file", recording})
	ask := form("POST", "/predict", field{"session_id", "session-1"})
	send.key, ask.key = reader, submitter
	s.want(http.StatusUnauthorized, send)
	s.want(http.StatusUnauthorized, ask)
	send.key, ask.key = submitter, reader
	s.want(http.StatusAccepted, send)
	s.want(http.StatusOK, ask)
}

func TestUnknownPathsAndMethods(t *testing.T) {
	s := newService(t)
	for _, path := range []string{"/", "/v1", "/v2/", "/v3/initiate", "/v2/v2/initiate", "/v2/initiate/x", "/v2//initiate",
		"/v2/predict/sessions", "/v2/predict/users/", "/v2/predict/users/a/b", "/v2/healthz", "/V2/initiate", "/v2/initiates",
		"/v2/predict/sessions/a/../../users/b", "/v2/feedback/phq/3", "/v2/predict/server/x"} {
		if w := s.do(request{method: "GET", path: path}); w.Code != http.StatusNotFound {
			t.Errorf("%s: got %d, want 404", path, w.Code)
		}
	}
	for i := range httpadapter.Routes {
		r := &httpadapter.Routes[i]
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			if method == r.Method {
				continue
			}
			w := s.do(request{method: method, path: paths(r)[0]})
			allow := w.Header().Get("Allow")
			if w.Code != http.StatusMethodNotAllowed || !strings.Contains(allow, r.Method) {
				t.Errorf("%s %s: got %d, Allow %q, want 405 and %s", method, r.Path, w.Code, allow, r.Method)
			}
		}
	}
}

// An identifier in a path may be any escaped text, also text with a meaning in
// paths.
func TestIdentifiersInPaths(t *testing.T) {
	s := newService(t)
	recording := testWAV(t, 44100, 1, 0.1)
	for path, user := range map[string]string{"%2F": "/", ".": ".", "%2e%2E": "..", "%252F": "%2F", "a%2Fb%20c": "a/b c",
		"a%2F": "a/", "*": "*", "%7Bid%7D": "{id}", "%25": "%", "%C3%A4": "ä", "...": "...", "a;b": "a;b", "a+b": "a+b"} {
		id := s.submit(user, "/v2/prediction/", recording)
		for _, version := range []string{"", "/v1", "/v2"} {
			for _, end := range []string{"", "/"} {
				w := s.do(request{method: "GET", path: version + "/predict/users/" + path + end})
				var list []map[string]any
				if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list) != 1 || list[0]["session_id"] != id {
					t.Errorf("user %q at %s%s: got %d %s, want session %s", user, path, end, w.Code, w.Body, id)
				}
			}
		}
	}
}

func TestMountedUnderPrefix(t *testing.T) {
	s := newService(t)
	for range 3 {
		s.submit("a/b c", "/v2/prediction/", testWAV(t, 44100, 1, 0.1))
	}
	for _, prefix := range []string{"/api", "/api/"} {
		mux := http.NewServeMux()
		mux.Handle("/api/", http.StripPrefix(prefix, s.handler))
		req := httptest.NewRequest("GET", "/api/v2/predict/users/a%2Fb%20c?limit=2", nil)
		req.Header.Set("X-API-Key", s.key)
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, req)
		var list []any
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list) != 2 {
			t.Fatalf("%s: got %d %s, want 2 results", prefix, w.Code, w.Body)
		}
		link := w.Header().Get("Link")
		next, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
		if !ok || !strings.HasPrefix(next, "/api/v2/predict/users/a%2Fb%20c?") {
			t.Fatalf("%s: got Link %q, want the path that the caller sees", prefix, link)
		}
		req = httptest.NewRequest("GET", next, nil)
		req.Header.Set("X-API-Key", s.key)
		w = httptest.NewRecorder()
		mux.ServeHTTP(w, req)
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list) != 1 || w.Header().Get("Link") != "" {
			t.Errorf("%s: got %d %s, want the last result", prefix, w.Code, w.Body)
		}
	}
}

func TestHealth(t *testing.T) {
	s := newService(t)
	s.want(http.StatusOK, request{method: "GET", path: "/healthz", key: "none"})
	s.want(http.StatusOK, request{method: "GET", path: "/readyz", key: "none"})
	s.want(http.StatusOK, request{method: "GET", path: "/openapi.json", key: "none"})
	s.want(http.StatusOK, request{method: "HEAD", path: "/healthz", key: "none"})
	gone, path := newKeyFile(t)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	there := s.handler
	s.handler = httpadapter.New(s.engine, gone, &s.opts) // the key file was removed
	s.want(http.StatusServiceUnavailable, request{method: "GET", path: "/readyz", key: "none"})
	s.handler = there
	if w := s.do(request{method: "POST", path: "/healthz"}); w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("got Allow %q, want GET, HEAD", w.Header().Get("Allow"))
	}
}

func TestInternalErrors(t *testing.T) {
	s := newService(t)
	e, err := voicescreen.New(brokenStore{s.store}, &voicescreen.Options{Workers: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	for name, engine := range map[string]*voicescreen.Engine{"broken store": e, "panic": nil} {
		s.use(engine)
		w := s.do(request{method: "GET", path: "/v2/predict/sessions/session-1"})
		if w.Code != http.StatusInternalServerError || w.Body.String() != "{\"message\":\"internal server error\"}\n" {
			t.Errorf("%s: got %d %s, want 500 and nothing of the cause", name, w.Code, w.Body)
		}
		if id := w.Header().Get("X-Request-Id"); id == "" || !strings.Contains(s.log.String(), id) {
			t.Errorf("%s: the log does not have the request's ID %q", name, id)
		}
	}
	if log := s.log.String(); !strings.Contains(log, "disk on fire") || !strings.Contains(log, "panic") {
		t.Errorf("got log\n%s\nwant both causes", log)
	}
}

// brokenStore cannot be read from.
type brokenStore struct{ store.Store }

func (brokenStore) Get(context.Context, string, string) (*store.Session, error) {
	return nil, errors.New("disk on fire")
}
