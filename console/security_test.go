package console_test

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/console"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/memory"
	"github.com/voicescreen/voicescreen/voicescreentest"
)

// path returns the path of a session.
func path(p console.Path, session string) string {
	return "/console" + strings.Replace(p.Path, "{id}", session, 1)
}

func TestEveryAnswerHasTheHeaderOfSecurity(t *testing.T) {
	s := newService(t, nil)
	s.stored(account, "a", "patient-17", s.clock.Now(), nil)
	check := func(what string, h http.Header, keeps bool) {
		t.Helper()
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: got the policy %q, want %s in it", what, csp, want)
			}
		}
		for _, never := range []string{"unsafe", "*", "http:", "https:", "data:"} {
			if strings.Contains(csp, never) {
				t.Errorf("%s: the policy %q holds %s", what, csp, never)
			}
		}
		if kind := h.Get("Content-Type"); kind == "" || strings.HasPrefix(kind, "text/") && !strings.HasSuffix(kind, "; charset=utf-8") {
			t.Errorf("%s: got the type %q, want one with its character set", what, kind)
		}
		if allowed := h.Get("Access-Control-Allow-Origin"); allowed != "" {
			t.Errorf("%s: the origin %q is allowed, want none", what, allowed)
		}
		cache := "no-store"
		if keeps {
			cache = "no-cache"
		}
		for name, want := range map[string]string{"Cache-Control": cache, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: got %s %q, want %q", what, name, got, want)
			}
		}
	}
	in, out := s.signedIn(""), s.newClient()
	for _, p := range console.Paths() {
		for who, c := range map[string]*client{"signed in": in, "signed out": out} {
			if p.Path == "/sign-out" && who == "signed in" || strings.HasPrefix(p.Path, "/operations/forget") {
				continue // ends the test
			}
			r := c.request(p.Method, path(p, "a"), nil)
			c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			check(who+" "+p.Method+" "+p.Path, c.do(r).header, false)
		}
	}
	for _, at := range []string{"/console/nothing", "/console/static/nothing"} {
		a := out.get(at)
		check(at, a.header, false)
	}
	files, err := os.ReadDir("static")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		a := out.get("/console/static/" + f.Name())
		a.want(t, f.Name(), http.StatusOK)
		check(f.Name(), a.header, true)
		r := out.request("GET", "/console/static/"+f.Name(), nil)
		r.Header.Set("If-None-Match", a.header.Get("Etag"))
		if again := out.do(r); again.status != http.StatusNotModified || again.body != "" {
			t.Errorf("%s again: got %d, want 304 without a body", f.Name(), again.status)
		}
	}
}

// TestAnotherAccountsSessionsDoNotExist asks for each path of a session of another
// account, and for one that never existed: the answers are equal.
func TestAnotherAccountsSessionsDoNotExist(t *testing.T) {
	s := newService(t, nil)
	s.stored("other", "theirs", "patient-17", s.clock.Now(), nil)
	waiting := &store.Session{Account: "other", ID: "waits", UserID: "patient-17", Status: screen.StatusInitiated, CreatedAt: s.clock.Now(), UpdatedAt: s.clock.Now()}
	if err := s.store.Create(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}
	c := s.signedIn("")
	send := func(p console.Path, session string) answer {
		if p.Path == "/sessions/{id}/recording" {
			return c.upload(session, voicescreentest.Recording())
		}
		if p.Method == "GET" {
			return c.get(path(p, session))
		}
		return c.post(path(p, session), append(answers(0, 0, 0, 0, 0, 0, 0, 0, 0), "outcome", "true", "confirm", "yes")...)
	}
	n := 0
	for _, p := range console.Paths() {
		if !strings.Contains(p.Path, "{id}") {
			continue
		}
		n++
		nowhere := send(p, "nowhere")
		nowhere.want(t, p.Method+" "+p.Path, http.StatusNotFound, "no such page or session")
		for _, session := range []string{"theirs", "waits"} {
			got := send(p, session)
			if got.status != nowhere.status || strings.ReplaceAll(got.body, session, "nowhere") != nowhere.body {
				t.Errorf("%s %s: got %d for a session of another account, want the answer for none", p.Method, p.Path, got.status)
			}
		}
	}
	if n < 15 {
		t.Errorf("got %d paths of a session, want at least 15", n)
	}
	c.post("/console/people", "user", "patient-17").want(t, "a person of another account", http.StatusNotFound)
	if left, err := s.store.Get(t.Context(), "other", "theirs"); err != nil || !left.Labels.UpdatedAt.IsZero() {
		t.Errorf("the session of the other account: got %+v (%v), want it unchanged", left, err)
	}
}

// TestPathsNeedSignInAndScope asks for each path without a sign-in, and with each key
// that has one scope.
func TestPathsNeedSignInAndScope(t *testing.T) {
	s := newService(t, nil)
	out := s.newClient()
	for _, p := range console.Paths() {
		if p.Open {
			continue
		}
		r := out.request(p.Method, path(p, "a"), nil)
		if a := out.do(r); a.path != "/console/sign-in" {
			t.Errorf("signed out, %s %s: got %s, want the page to sign in", p.Method, p.Path, a.path)
		}
	}
	for _, scope := range append(httpadapter.DefaultScopes(), httpadapter.ScopeAdmin) {
		c := s.signedIn(s.newKey(account, scope))
		c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		for _, p := range console.Paths() {
			if p.Scope == "" {
				continue
			}
			a := c.do(c.request(p.Method, path(p, "a"), nil))
			if refused := a.status == http.StatusForbidden; refused == (p.Scope == scope.String()) {
				t.Errorf("with the scope %v, %s %s, which needs %s: got %d", scope, p.Method, p.Path, p.Scope, a.status)
			}
		}
	}
}

// canary is the identifier of a person, which must appear on pages only. Its parts are long:
// the audit log holds hashes and identifiers at random, in which four digits or three letters
// turn up by themselves.
const canary = "Müllermeister, Ännegret/geb.Großkrotzenburg?x=1&y"

// TestNoDataOfAPatientLeavesThePages goes the whole way of a person and looks for them in
// addresses, titles, the log and the audit log.
func TestNoDataOfAPatientLeavesThePages(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	var asked []string
	c.http.CheckRedirect = func(r *http.Request, _ []*http.Request) error { asked = append(asked, r.URL.String()); return nil }
	id := c.recorded(canary, "age", "47", "gender", "Female")
	at := "/console/sessions/" + id
	pages := []answer{
		c.get(at), c.post("/console/people", "user", canary), c.get(at + "/history"),
		c.post(at+"/phq-9", answers(3, 2, 3, 2, 3, 2, 3, 2, 1)...), c.post(at+"/phq-9", answers(3)...),
		c.until("/console/agreement", "from 1 sessions"), c.until("/console/operations", "from 1 sessions"),
		c.post("/console/sessions", "user", canary), c.get("/console/sessions/" + url.PathEscape(canary)),
		c.post("/console/operations/erase", "user", canary), c.post("/console/operations/forget", "user", canary, "confirm", "yes"),
	}
	link := regexp.MustCompile(`(?:href|action|src)="([^"]*)"`)
	for _, page := range pages {
		for _, m := range link.FindAllStringSubmatch(page.body, -1) {
			asked = append(asked, html.UnescapeString(m[1]))
		}
		asked = append(asked, between(page.body, "<title>", "</title>"), page.path)
	}
	asked = slices.DeleteFunc(asked, func(a string) bool { return strings.HasPrefix(a, "/console/sessions/M") }) // what the test itself asked for
	trail, err := os.ReadFile(s.audited)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"an address or a title": strings.Join(asked, "\n"), "the log": s.log.String(), "the audit log": string(trail)} {
		for _, part := range []string{"llermeister", "nnegret", "krotzenburg", "M%C3", "TcO8bGxlcm"} { // also escaped and in base 64
			if strings.Contains(text, part) {
				t.Errorf("%s holds %q: %s", what, part, text)
			}
		}
		if strings.Contains(text, s.key) {
			t.Errorf("%s holds the key", what)
		}
	}
	if len(asked) < 50 || len(trail) == 0 || !strings.Contains(s.log.String(), "route=") {
		t.Errorf("got %d addresses and %d bytes of audit log: the test looks at nothing", len(asked), len(trail))
	}
}

// inline is what the policy of contents forbids, and what would load from elsewhere.
var inline = regexp.MustCompile(`(?i)<script(?:>| [^>]*>[^<])|<style|\sstyle=|\son[a-z]+=|javascript:|<iframe|<object|<base|(?:src|href|action)="(?:https?:)?//|<meta http-equiv`)

func TestTemplatesHaveNothingInline(t *testing.T) {
	for _, name := range append(console.PageNames(), "layout", "parts") {
		text, err := os.ReadFile("pages/" + name + ".html")
		if err != nil {
			t.Fatal(err)
		}
		if found := inline.Find(text); found != nil {
			t.Errorf("%s: got %q, want nothing inline and nothing from elsewhere", name, found)
		}
	}
}

// TestTextsAreEscaped sends markup in each field that is shown again.
func TestTextsAreEscaped(t *testing.T) {
	const markup = `"><script>alert(1)</script>`
	s := newService(t, nil)
	c := s.signedIn("")
	s.stored(account, "a", markup, s.clock.Now(), nil)
	for what, a := range map[string]answer{
		"a result":  c.get("/console/sessions/a"),
		"a history": c.get("/console/sessions/a/history"),
		"a form":    c.post("/console/sessions", "user", markup, "age", markup),
		"a person":  c.post("/console/operations/erase", "user", markup),
	} {
		if strings.Contains(a.body, "<script>") || !strings.Contains(a.body, html.EscapeString("<script>")) {
			t.Errorf("%s: the markup is not escaped", what)
		}
	}
}

func TestFormsAreBounded(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	c.post("/console/sessions", "user", strings.Repeat("x", 1<<20), "consent", "yes").want(t, "a form of 1 MiB", http.StatusBadRequest)
	c.post("/console/sessions", "user", strings.Repeat("x", 2000), "consent", "yes").want(t, "a long identifier", http.StatusUnprocessableEntity)
}

func TestMethodsAndPathsThatDoNotExist(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	for _, p := range console.Paths() {
		for _, method := range []string{"PUT", "DELETE", "PATCH"} {
			if a := c.do(c.request(method, path(p, "a"), nil)); a.status != http.StatusNotFound && a.status != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: got %d, want 404 or 405", method, p.Path, a.status)
			}
		}
	}
}

// TestOnlyPostsChange asks for every GET path, and finds the store as it was.
func TestOnlyPostsChange(t *testing.T) {
	s := newService(t, nil)
	s.stored(account, "a", "patient-17", s.clock.Now(), nil)
	before, err := s.store.Get(t.Context(), account, "a")
	if err != nil {
		t.Fatal(err)
	}
	c := s.signedIn("")
	for _, p := range console.Paths() {
		if p.Method != "GET" && p.Method != "POST" {
			t.Errorf("%s %s: want GET or POST, which forms have", p.Method, p.Path)
		}
		if p.Method == "GET" {
			c.get(path(p, "a") + "?confirm=yes&outcome=true&user=patient-17&scope=read&days=1&id=x")
		}
	}
	after, err := s.store.Get(t.Context(), account, "a")
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("got %+v (%v), want %+v", after, err, before)
	}
	keys, err := s.keys.List()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range s.engine.Tenant(account).All(t.Context()) {
		n++
	}
	if n != 1 || len(keys) != 1 {
		t.Errorf("got %d sessions and %d keys, want 1 of each", n, len(keys))
	}
}

func TestEveryPageHasAWayOut(t *testing.T) {
	s := newService(t, nil)
	s.stored(account, "a", "patient-17", s.clock.Now(), nil)
	c := s.signedIn("")
	n := 0
	for _, p := range console.Paths() {
		if p.Method != "GET" || p.Open {
			continue
		}
		n++
		if a := c.get(path(p, "a")); !strings.Contains(a.body, `action="/console/sign-out"`) {
			t.Errorf("%s: the page has no way to sign out", p.Path)
		}
	}
	if n < 10 {
		t.Errorf("got %d pages, want at least 10", n)
	}
}

// failing is a store whose sessions cannot be read, for a reason that names a patient.
type failing struct {
	store.Store
	panics bool
}

func (f failing) Get(context.Context, string, string) (*store.Session, error) {
	if f.panics {
		panic("patient-17 has 42")
	}
	return nil, errors.New("the record of patient-17 has 42")
}

func TestInternalErrorsShowNothing(t *testing.T) {
	for _, panics := range []bool{false, true} {
		st := memory.New(nil)
		defer st.Close()
		h, in := open(t, failing{st, panics})
		w := ask(h, in, "/console/sessions/a")
		if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "patient-17") || strings.Contains(w.Body.String(), "42") {
			t.Errorf("panics %v: got %d: %s", panics, w.Code, w.Body)
		}
		if w := ask(h, in, "/console/"); w.Code != http.StatusOK {
			t.Errorf("panics %v: the next page: got %d, want 200", panics, w.Code)
		}
	}
}

// named are the tests in a text.
var named = regexp.MustCompile("`(Test[A-Za-z]+)`")

// TestTheTableNamesTestsThatExist reads the table of the OWASP ASVS.
func TestTheTableNamesTestsThatExist(t *testing.T) {
	text, err := os.ReadFile("../docs/CONSOLE.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, f := range files {
		code, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(code)
	}
	all := named.FindAllSubmatch(text, -1)
	for _, m := range all {
		if !strings.Contains(tests.String(), "func "+string(m[1])+"(t ") {
			t.Errorf("the table names %s, which does not exist", m[1])
		}
	}
	if len(all) < 30 {
		t.Errorf("got %d tests, want at least 30: the pattern does not match any more", len(all))
	}
}
