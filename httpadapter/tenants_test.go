package httpadapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// tenant is an account with a session of one user in every state.
type tenant struct {
	account, key, user string
	sessions           map[string]string // by state
}

// newTenant makes an account. Its identifiers are as those of another: only
// the owner differs.
func (s *service) newTenant(account string) tenant {
	s.t.Helper()
	u := tenant{account: account, user: account + "-patient", sessions: map[string]string{},
		key: s.newKey(account, httpadapter.ScopeInitiate, httpadapter.ScopeSubmit, httpadapter.ScopeRead, httpadapter.ScopeFeedback, httpadapter.ScopeAdmin)}
	ctx, a := context.Background(), s.engine.Tenant(account)
	recording := string(testWAV(s.t, 44100, 1, 0.1))
	for _, state := range []string{"initiated", "queued", "running", "succeeded", "labelled", "failed", "deepfake"} {
		id, err := a.Initiate(ctx, voicescreen.InitiateRequest{UserID: u.user, Consent: true})
		if err != nil {
			s.t.Fatal(err)
		}
		u.sessions[state] = id
		if state == "initiated" {
			continue
		}
		product := screen.DepressionAnxiety
		if state == "deepfake" {
			product = screen.DeepfakeBinary
		}
		if _, err := a.Submit(ctx, id, strings.NewReader(recording), &voicescreen.SubmitOptions{Product: product}); err != nil {
			s.t.Fatal(err)
		}
		if _, err := s.store.Update(ctx, account, id, func(r *store.Session, _ time.Time) error { return become(r, state) }); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := a.Feedback(ctx, u.sessions["labelled"], voicescreen.Feedback{PHQ2: []int{1, 2}}); err != nil {
		s.t.Fatal(err)
	}
	return u
}

// become changes a queued session to what it is in a state.
func become(r *store.Session, state string) error {
	switch state {
	case "running":
		r.Status, r.Owner, r.Token, r.Attempts, r.Due = screen.StatusProcessing, "worker", 1, 1, r.Due.Add(time.Hour)
	case "succeeded", "labelled", "deepfake":
		r.Status, r.Scores, r.Audio, r.Due = screen.StatusSuccess, testScores(r.Product.Categories()), "", time.Time{}
	case "failed":
		r.Status, r.Failure, r.Audio, r.Due = screen.StatusFailed, tooShort, "", time.Time{}
	}
	return nil
}

// callsOn is every way to name a session or a user to a route.
func callsOn(t *testing.T, r *httpadapter.Route, prefix, id, user, recording string) []request {
	path := prefix + strings.Replace(r.Path, "*", url.PathEscape(id), 1)
	ask := request{method: r.Method, path: path}
	label := map[string]string{
		"feedback/phq/2": "[1,2]", "feedback/phq/9": "[0,1,2,3,0,1,2,3,0]", "feedback/gad/7": "[0,1,2,3,0,1,2]", "feedback/depression/binary": `"true"`,
	}[strings.Replace(r.Path, "server/", "", 1)]
	switch {
	case r.Scope == 0, r.Scope == httpadapter.ScopeInitiate:
		return nil // names no session, and no user that has to exist
	case strings.Contains(r.Path, "users/*"):
		ask.path = prefix + strings.Replace(r.Path, "*", url.PathEscape(user), 1)
		paged := ask
		paged.path += "?limit=1&detail=full"
		return []request{ask, paged}
	case r.Path == "predict/sessions/*":
		head, full, held := ask, ask, ask
		head.method = http.MethodHead
		full.path += "?detail=full"
		held.prefer = "wait=20" // would show in how long it takes
		return []request{ask, head, full, held}
	case r.Path == "sessions/*":
		return []request{ask}
	case label != "":
		return []request{
			{method: r.Method, path: path, body: fmt.Sprintf(`{"session_id":%q,"actual_score":%s}`, id, label)},
			{method: r.Method, path: path, contentType: formType, body: url.Values{"session_id": {id}, "data": {strings.Trim(label, `"`)}}.Encode()},
			{method: r.Method, path: path, body: fmt.Sprintf(`{"session_id":%q,"actual_score":"wrong"}`, id)},
		}
	case r.Product != 0:
		calls := []request{
			form(r.Method, path, field{"session_id", id}, field{"file", recording}),
			form(r.Method, path, field{"file", recording}, field{"session_id", id}),
			form(r.Method, path, field{"session_id", id}, field{"file", "no audio"}),
			form(r.Method, path, field{"session_id", id}),
		}
		if r.Path == "predict" {
			calls = append(calls, request{method: r.Method, path: path, body: fmt.Sprintf(`{"session_id":%q}`, id)},
				request{method: r.Method, path: path + "?detail=full", contentType: formType, body: "session_id=" + id, prefer: "wait=20"})
		}
		for i := range calls { // the boundary is chance, and no part of the question
			boundary := strings.TrimPrefix(calls[i].contentType, "multipart/form-data; boundary=")
			if boundary != calls[i].contentType {
				calls[i].body = strings.ReplaceAll(calls[i].body, boundary, "boundary")
				calls[i].contentType = "multipart/form-data; boundary=boundary"
			}
		}
		return calls
	}
	t.Fatalf("%s %s: the matrix does not know this route", r.Method, r.Path)
	return nil
}

// ask answers a request with a key; all that a caller sees of the answer is
// its text, but for the request's own ID.
func (s *service) ask(r request, key string) (answer string, status int) {
	s.t.Helper()
	req := httptest.NewRequest(r.method, r.path, strings.NewReader(r.body))
	req.Header.Set("X-API-Key", key)
	if r.contentType != "" {
		req.Header.Set("Content-Type", r.contentType)
	}
	if r.prefer != "" {
		req.Header.Set("Prefer", r.prefer)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, req)
	h := maps.Clone(w.Header())
	h.Del("X-Request-Id")
	return fmt.Sprintf("%d %v %s", w.Code, h, w.Body), w.Code
}

// Two accounts, every route of every version, every state: the answer about
// what another account has is byte for byte the one about what nobody has, and
// nothing changes.
func TestTenants(t *testing.T) {
	s := newServiceWith(t, nil, &httpadapter.Options{})
	recording := string(testWAV(t, 44100, 1, 0.1))
	tenants := []tenant{s.newTenant("north"), s.newTenant("south")}
	before := []string{s.everything(tenants[0]), s.everything(tenants[1])}
	asked := 0
	for i, owner := range tenants {
		stranger := tenants[1-i]
		for state, id := range owner.sessions {
			if answer, status := s.ask(request{method: "GET", path: "/v2/predict/sessions/" + id}, owner.key); status == http.StatusNotFound {
				t.Errorf("%s: the owner got %s", state, answer)
			}
			for j := range httpadapter.Routes {
				for _, prefix := range []string{"/v2/", "/v1/", "/"} {
					theirs := callsOn(t, &httpadapter.Routes[j], prefix, id, owner.user, recording)
					nobodys := callsOn(t, &httpadapter.Routes[j], prefix, "session-0", "nobody-patient", recording)
					for k, r := range theirs {
						begin := time.Now()
						got, status := s.ask(r, stranger.key)
						if took := time.Since(begin); took > 15*time.Second { // an answer that is held takes 20
							t.Errorf("%s, %s %s: got an answer after %v, want it at once", state, r.method, r.path, took)
						}
						want, _ := s.ask(nobodys[k], stranger.key)
						if got != want {
							t.Errorf("%s, %s %s, call %d: got\n%s\nwant, as where there is nothing,\n%s", state, r.method, r.path, k, got, want)
						}
						if status == http.StatusForbidden || status == http.StatusUnauthorized || status >= 500 {
							t.Errorf("%s %s: got %d: nothing is seen of what this test is about", r.method, r.path, status)
						}
						asked++
					}
				}
			}
		}
	}
	if asked < 1000 {
		t.Errorf("got %d calls, want at least 1000", asked)
	}
	for i, u := range tenants {
		if after := s.everything(u); after != before[i] {
			t.Errorf("%s: got\n%s\nwant it unchanged\n%s", u.account, after, before[i])
		}
	}
	// The user of another account can be one of this account too, and stays
	// two.
	body := url.Values{"user_id": {tenants[0].user}, "is_initiated": {"true"}}.Encode()
	if answer, status := s.ask(request{method: "POST", path: "/v2/initiate", contentType: formType, body: body}, tenants[1].key); status != http.StatusCreated {
		t.Errorf("got %s, want 201", answer)
	}
	if answer, status := s.ask(request{method: "DELETE", path: "/v2/users/" + tenants[0].user}, tenants[1].key); status != http.StatusNoContent {
		t.Errorf("got %s, want 204", answer)
	}
	if after := s.everything(tenants[0]); after != before[0] {
		t.Error("forgetting a user of one account changed the user of that name of another")
	}
}

// everything is all that is stored of a tenant's user, as text.
func (s *service) everything(u tenant) string {
	s.t.Helper()
	list, err := s.store.List(context.Background(), u.account, u.user, nil, 100)
	if err != nil || len(list) != len(u.sessions) {
		s.t.Fatalf("got %d sessions, %v, want %d", len(list), err, len(u.sessions))
	}
	for _, r := range list {
		for i := range r.Scores { // JSON has no NaN
			r.Scores[i].High = 0
			r.Scores[i].Contributions = nil
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}
