package httpadapter_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/httpadapter"
)

// tokens is an Authenticator with bearer tokens, and a health of its own.
type tokens struct {
	callers map[string]httpadapter.Caller
	err     error // of every call
	check   error // of Check
}

func (a *tokens) Authenticate(r *http.Request) (httpadapter.Caller, error) {
	if a.err != nil {
		return httpadapter.Caller{}, a.err
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return httpadapter.Caller{}, fmt.Errorf("missing token: %w", httpadapter.ErrUnauthenticated)
	}
	c, ok := a.callers[token]
	if !ok {
		return httpadapter.Caller{ID: "expired"}, fmt.Errorf("the token has expired: %w", httpadapter.ErrUnauthenticated)
	}
	return c, nil
}

func (a *tokens) Check() error { return a.check }

func TestOwnAuthenticator(t *testing.T) {
	s, name := newAudited(t)
	auth := &tokens{callers: map[string]httpadapter.Caller{
		"t-a":    {Account: "clinic-a", ID: "anna", Scopes: []httpadapter.Scope{httpadapter.ScopeInitiate, httpadapter.ScopeRead}},
		"t-b":    {Account: "clinic-b", Scopes: httpadapter.DefaultScopes()},
		"t-none": {Account: "clinic-a", ID: "nobody"},
	}}
	opts := s.opts
	opts.Rate = httpadapter.RateLimit{PerSecond: 0.001, Burst: 8}
	handler := httpadapter.New(s.engine, auth, &opts)
	call := func(token string, r request) *httptest.ResponseRecorder {
		req := httptest.NewRequest(r.method, r.path, strings.NewReader(r.body))
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		return w
	}
	want := func(w *httptest.ResponseRecorder, status int, says string) {
		t.Helper()
		if w.Code != status || !strings.Contains(w.Body.String(), says) {
			t.Errorf("got %d %s, want %d with %q", w.Code, w.Body, status, says)
		}
	}
	initiate := request{method: "POST", path: "/v2/initiate", body: `{"user_id":"p","is_initiated":true}`}
	get := request{method: "GET", path: "/v2/predict/sessions/session-1"}
	want(call("", initiate), http.StatusForbidden, `{"message":"missing token: not authenticated"}`)
	want(call("t-x", initiate), http.StatusForbidden, "the token has expired")
	want(call("t-none", initiate), http.StatusUnauthorized, "permission")
	want(call("t-a", initiate), http.StatusCreated, "session-1")
	want(call("t-a", get), http.StatusExpectationFailed, "audio_not_submitted")
	want(call("t-b", get), http.StatusNotFound, "session not found") // of another account
	want(call("t-a", request{method: "PATCH", path: "/v2/feedback/phq/2", body: `{"session_id":"session-1","actual_score":[1,2]}`}), http.StatusUnauthorized, "feedback")

	auth.err = errors.New("the directory on 10.0.0.7 does not answer")
	w := call("t-a", get)
	want(w, http.StatusInternalServerError, `{"message":"internal server error"}`)
	if !strings.Contains(s.log.String(), "10.0.0.7") {
		t.Errorf("got log\n%s\nwant the cause", s.log)
	}
	want(call("", request{method: "GET", path: "/readyz"}), http.StatusOK, "ready")
	auth.err, auth.check = nil, errors.New("no directory")
	want(call("", request{method: "GET", path: "/readyz"}), http.StatusServiceUnavailable, "not ready")

	var limited int
	for range 20 { // the limit is of the credentials
		if call("t-a", get).Code == http.StatusTooManyRequests {
			limited++
		}
	}
	want(call("t-b", get), http.StatusNotFound, "session not found")
	if limited == 0 {
		t.Error("got no 429, want the limit to apply to the caller")
	}
	var recorded []string
	for _, e := range events(t, name) {
		recorded = append(recorded, strings.Join([]string{e.Account, e.Key, e.Action, e.Outcome}, " "))
	}
	for _, event := range []string{" expired initiate 403", "clinic-a nobody initiate 401", "clinic-a anna initiate 201", "clinic-b clinic-b result 404"} {
		if !strings.Contains(strings.Join(recorded, "\n"), event) {
			t.Errorf("got events\n%s\nwant %q", strings.Join(recorded, "\n"), event)
		}
	}
}

// A program with a login of its own puts the caller into the context of the request.
func TestAuthenticatorReadsTheContext(t *testing.T) {
	s := newService(t)
	type principal struct{}
	handler := httpadapter.New(s.engine, httpadapter.AuthenticatorFunc(func(r *http.Request) (httpadapter.Caller, error) {
		account, ok := r.Context().Value(principal{}).(string)
		if !ok {
			return httpadapter.Caller{}, httpadapter.ErrUnauthenticated
		}
		return httpadapter.Caller{Account: account, Scopes: httpadapter.DefaultScopes()}, nil
	}), nil)
	ask := func(ctx context.Context) *httptest.ResponseRecorder {
		req := httptest.NewRequest("POST", "/initiate", strings.NewReader(`{"user_id":"p","is_initiated":true}`))
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req.WithContext(ctx))
		return w
	}
	w := ask(t.Context())
	if w.Code != http.StatusForbidden {
		t.Errorf("got %d %s, want 403", w.Code, w.Body)
	}
	w = ask(context.WithValue(t.Context(), principal{}, "clinic"))
	if w.Code != http.StatusCreated {
		t.Errorf("got %d %s, want 201", w.Code, w.Body)
	}
}

// Keys, in memory, in a file or in a store, are one Authenticator.
func TestKeysAuthenticate(t *testing.T) {
	keys := httpadapter.NewKeys()
	key := mustCreate(t, keys, "clinic", httpadapter.ScopeRead)
	var auth httpadapter.Authenticator = keys
	r := httptest.NewRequest("GET", "/", nil)
	if _, err := auth.Authenticate(r); !errors.Is(err, httpadapter.ErrUnauthenticated) || err.Error() != "missing API key" {
		t.Errorf("without a key: got %v", err)
	}
	r.Header.Set("X-API-Key", key)
	c, err := auth.Authenticate(r)
	if err != nil || c.Account != "clinic" || c.ID != strings.Split(key, "_")[1] || !c.Allows(httpadapter.ScopeRead) || c.Allows(httpadapter.ScopeAdmin) {
		t.Errorf("got %+v, %v, want the account and the scopes of the key", c, err)
	}
	if err := keys.Revoke(key); err != nil {
		t.Fatal(err)
	}
	if c, err := auth.Authenticate(r); !errors.Is(err, httpadapter.ErrUnauthenticated) || err.Error() != "invalid API key" || c.Account != "clinic" {
		t.Errorf("a revoked key: got %+v, %v, want it refused and known", c, err)
	}
}
