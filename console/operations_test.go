package console_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/console"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

func TestOperations(t *testing.T) {
	hooks := webhook.Memory()
	for _, name := range []string{account, "other"} {
		if _, err := hooks.Set(name, "https://"+name+".example/secret-path"); err != nil {
			t.Fatal(err)
		}
	}
	change := func(o *console.Options) { o.Operations = console.OperationsOptions{Workers: 7, Webhooks: hooks} }
	s := newService(t, change)
	s.stored(account, "a", "patient-17", s.clock.Now().Add(-time.Hour), func(x *store.Session) { x.UpdatedAt = x.SubmittedAt.Add(90 * time.Second) })
	for _, id := range []string{"b", "c"} {
		s.stored(account, id, "patient-17", s.clock.Now().Add(-time.Hour), func(x *store.Session) {
			x.UpdatedAt, x.Status, x.Scores, x.Failure = x.SubmittedAt.Add(90*time.Second), screen.StatusFailed, nil, &screen.Failure{Code: screen.CodeAudioLength, Message: "m"}
		})
	}
	s.stored("other", "d", "patient-17", s.clock.Now(), func(x *store.Session) { x.Scores[0].Model = "model-of-others" })
	c := s.signedIn("")
	a := c.until("/console/operations", "from 3 sessions")
	a.want(t, "operations", http.StatusOK, "<dt>too little speech</dt><dd>2</dd>", "<dt>has its result</dt><dd>1</dd>", "90.0 s", "m 1", "clinic</th>")
	for _, absent := range []string{"model-of-others", "other</th>", "secret-path", "Workers of this process", "patient-17"} {
		if strings.Contains(a.body, absent) {
			t.Errorf("the page holds %q, want the own account only", absent)
		}
	}

	operator := newService(t, func(o *console.Options) { change(o); o.Operations.Accounts = []string{account} })
	operator.signedIn("").until("/console/operations", "from 0 sessions").want(t, "for an operator", http.StatusOK,
		"<dt>Workers of this process</dt><dd>7</dd>", "<dt>Takes recordings</dt><dd>yes</dd>", "<dt>Recordings that wait or are measured</dt><dd>0</dd>", "other</th>")
	other := operator.signedIn(operator.newKey("other", httpadapter.ScopeAdmin))
	if a := other.until("/console/operations", "from 0 sessions"); strings.Contains(a.body, "Workers of this process") || strings.Contains(a.body, "clinic</th>") {
		t.Error("an account that is no operator sees the service as a whole")
	}
}

// What cannot be read of the webhooks leaves the rest of the page.
func TestOperationsWithoutTheStateOfWebhooks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "webhooks.json")
	hooks, err := webhook.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hooks.Set(account, "https://clinic.example/"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".deliveries", []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newService(t, func(o *console.Options) { o.Operations.Webhooks = hooks })
	a := s.signedIn("").until("/console/operations", "from 0 sessions")
	a.want(t, "operations", http.StatusOK, `<h2 id="webhooks">Webhooks</h2>`, "the operator finds it in the log")
}

var keyInPage = regexp.MustCompile(`vk_[A-Za-z0-9]+_[A-Za-z0-9]+`)

func TestKeysAreManaged(t *testing.T) {
	s := newService(t, nil)
	foreign := s.newKey("other", httpadapter.ScopeAdmin)
	foreignID := strings.Split(foreign, "_")[1]
	c := s.signedIn("")
	page := c.get("/console/operations/keys")
	page.want(t, "the keys", http.StatusOK, strings.Split(s.key, "_")[1], "of this sign-in")
	if strings.Contains(page.body, foreignID) || keyInPage.MatchString(page.body) {
		t.Error("the page holds a key of another account, or a whole key")
	}
	made := c.post("/console/operations/keys", "scope", "initiate", "scope", "submit", "days", "30")
	key := keyInPage.FindString(made.body)
	k, ok := s.keys.Lookup(key)
	if days := time.Until(k.ExpiresAt).Hours() / 24; !ok || k.Account != account || len(k.Scopes) != 2 || days < 29.9 || days > 30.1 {
		t.Fatalf("got key %+v (%v), want one of 30 days with 2 scopes", k, ok)
	}
	if keyInPage.MatchString(c.get("/console/operations/keys").body) {
		t.Error("the key is shown a second time")
	}
	for name, fields := range map[string][]string{
		"no scope": {"days", "30"}, "no days": {"scope", "read"}, "too long": {"scope", "read", "days", "9999"}, "an unknown scope": {"scope", "root", "days", "1"},
	} {
		c.post("/console/operations/keys", fields...).want(t, name, http.StatusUnprocessableEntity)
	}

	admin := s.signedIn(s.newKey(account, httpadapter.ScopeAdmin))
	admin.post("/console/operations/keys", "scope", "read", "days", "1").want(t, "a scope that the caller lacks", http.StatusForbidden)

	c.post("/console/operations/keys/revoke", "id", k.ID).want(t, "without confirmation", http.StatusUnprocessableEntity, "Nothing was done")
	c.post("/console/operations/keys/revoke", "id", foreignID, "confirm", "yes").want(t, "a key of another account", http.StatusNotFound)
	c.post("/console/operations/keys/revoke", "id", k.ID, "confirm", "yes").want(t, "with confirmation", http.StatusOK, "no longer valid")
	if _, ok := s.keys.Lookup(key); ok {
		t.Error("the key is valid after it was revoked")
	}
	if _, ok := s.keys.Lookup(foreign); !ok {
		t.Error("a key of another account was revoked")
	}
}

// TestKeyEndsNoLaterThanItsMaker: a key that ends tomorrow makes none that lasts longer.
func TestKeyEndsNoLaterThanItsMaker(t *testing.T) {
	s := newService(t, nil)
	tomorrow := time.Now().Add(24 * time.Hour)
	own, err := s.keys.CreateUntil(tomorrow, account, httpadapter.ScopeRead, httpadapter.ScopeAdmin)
	if err != nil {
		t.Fatal(err)
	}
	c := s.signedIn(own)
	for _, days := range []string{"2", "1825"} {
		key := keyInPage.FindString(c.post("/console/operations/keys", "scope", "read", "days", days).body)
		if k, ok := s.keys.Lookup(key); !ok || !k.ExpiresAt.Equal(tomorrow) {
			t.Errorf("%s days: got a key until %v (%v), want %v", days, k.ExpiresAt, ok, tomorrow)
		}
	}
}

func TestErasure(t *testing.T) {
	s := newService(t, nil)
	for _, id := range []string{"a", "b", "c"} {
		s.stored(account, id, "patient-17", s.clock.Now(), nil)
	}
	s.stored(account, "d", "patient-18", s.clock.Now(), nil)
	s.stored("other", "e", "patient-17", s.clock.Now(), nil)
	left := func(account, user string) int {
		t.Helper()
		list, _, err := s.engine.Tenant(account).Results(t.Context(), user, voicescreen.Page{})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	c := s.signedIn("")
	c.get("/console/sessions/a/erase").want(t, "the question", http.StatusOK, "cannot be undone")
	c.post("/console/sessions/a/erase").want(t, "without confirmation", http.StatusUnprocessableEntity, "Nothing was done")
	if n := left(account, "patient-17"); n != 3 {
		t.Fatalf("without confirmation: got %d recordings, want 3", n)
	}
	c.post("/console/sessions/a/erase", "confirm", "yes").want(t, "a session", http.StatusOK, "It is erased")
	c.get("/console/sessions/a").want(t, "an erased session", http.StatusNotFound)
	if n := left(account, "patient-17"); n != 2 {
		t.Errorf("got %d recordings, want 2", n)
	}

	c.get("/console/sessions/b")
	c.get("/console/sessions/d")
	c.post("/console/operations/erase", "user", "patient-17").want(t, "the question", http.StatusOK, "patient-17", "2 with a recording")
	c.post("/console/operations/forget", "user", "patient-17").want(t, "without confirmation", http.StatusUnprocessableEntity, "Nothing was done")
	if n := left(account, "patient-17"); n != 2 {
		t.Fatalf("without confirmation: got %d recordings, want 2", n)
	}
	c.post("/console/operations/forget", "user", "patient-17", "confirm", "yes").want(t, "a person", http.StatusOK, "It is erased")
	if a, b, e := left(account, "patient-17"), left(account, "patient-18"), left("other", "patient-17"); a != 0 || b != 1 || e != 1 {
		t.Errorf("got %d, %d, %d recordings, want 0 of the person, 1 of another, 1 in another account", a, b, e)
	}
	home := c.get("/console/").body
	if strings.Contains(home, "/console/sessions/b") || !strings.Contains(home, "/console/sessions/d") {
		t.Error("the first page links to a session that is erased, or no more to another")
	}
	reader := s.signedIn(s.newKey(account, httpadapter.DefaultScopes()...))
	for _, path := range []string{"/console/sessions/d/erase", "/console/operations/erase", "/console/operations/forget"} {
		reader.post(path, "user", "patient-18", "confirm", "yes").want(t, path+" without the scope admin", http.StatusForbidden)
	}
}

// TestIdentifiersAreTakenAsTyped: the API keeps outer spaces, so that "lead" and " lead" may
// be two people.
func TestIdentifiersAreTakenAsTyped(t *testing.T) {
	const people, erase, forget = "/console/people", "/console/operations/erase", "/console/operations/forget"
	s := newService(t, nil)
	s.stored(account, "spaced", " lead", s.clock.Now(), nil)
	s.stored(account, "trail", "trail ", s.clock.Now(), nil)
	s.stored(account, "plain", "plain", s.clock.Now(), nil)
	s.stored(account, "waits", " waits", s.clock.Now(), func(x *store.Session) { x.Status = screen.StatusInitiated })
	c := s.signedIn("")
	for typed, session := range map[string]string{" lead": "spaced", "trail ": "trail", "plain": "plain", "  plain ": "plain", "\tplain": "plain"} {
		if got, want := c.post(people, "user", typed).path, "/console/sessions/"+session+"/history"; got != want {
			t.Errorf("%q: got %s, want %s", typed, got, want)
		}
	}
	for _, typed := range []string{"lead", "  lead", "   "} {
		c.post(people, "user", typed).want(t, typed, http.StatusNotFound, "no recording of such a person")
		c.post(erase, "user", typed).want(t, typed, http.StatusNotFound, "no session of such a person")
		c.post(forget, "user", typed, "confirm", "yes").want(t, typed, http.StatusNotFound, "Nothing was erased")
	}
	c.post(forget, "user", " plain", "confirm", "yes").want(t, "an identifier that was not confirmed", http.StatusNotFound, "Nothing was erased")
	c.post(erase, "user", " plain ").want(t, "an identifier with spaces", http.StatusOK, `name="user" value="plain"`)
	for session, user := range map[string]string{"spaced": " lead", "waits": " waits"} {
		c.post(erase, "user", user).want(t, user, http.StatusOK, `name="user" value="`+user+`"`)
		c.post(forget, "user", user).want(t, user, http.StatusUnprocessableEntity, `name="user" value="`+user+`"`)
		c.post(forget, "user", user, "confirm", "yes").want(t, user, http.StatusOK, "It is erased")
		if _, err := s.store.Get(t.Context(), account, session); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q: got %v, want the session erased", user, err)
		}
		c.post(forget, "user", user, "confirm", "yes").want(t, user+" again", http.StatusNotFound, "Nothing was erased")
	}
	if _, err := s.store.Get(t.Context(), account, "plain"); err != nil {
		t.Errorf("a session of somebody else: %v, want it there", err)
	}
}
