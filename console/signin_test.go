package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/console"
	"github.com/voicescreen/voicescreen/httpadapter"
)

func TestSignInExchangesTheKeyForACookie(t *testing.T) {
	s := newService(t, nil)
	c := s.newClient()
	if a := c.get("/console/"); a.path != "/console/sign-in" {
		t.Errorf("without a sign-in: got %s, want /console/sign-in", a.path)
	}
	c.post("/console/sign-in", "key", "vk_aaaa_bbbb").want(t, "a wrong key", http.StatusForbidden, "not valid")
	c.post("/console/sign-in", "key", s.key).want(t, "the key", http.StatusOK, account)
	at, _ := url.Parse(s.server.URL)
	cookies := c.http.Jar.Cookies(at)
	if len(cookies) != 1 || strings.Contains(cookies[0].Value, s.key) || len(cookies[0].Value) < 26 {
		t.Errorf("got cookies %v, want one of at least 128 random bits that does not hold the key", cookies)
	}
	first := cookies[0].Value
	c.post("/console/sign-in", "key", s.key)
	if again := c.http.Jar.Cookies(at); again[0].Value == first {
		t.Error("a second sign-in kept the cookie, want a new one")
	}
	stale := s.newClient()
	stale.http.Jar.SetCookies(at, []*http.Cookie{{Name: cookies[0].Name, Value: first}})
	if a := stale.get("/console/"); a.path != "/console/sign-in" {
		t.Errorf("the cookie before the second sign-in: got %s, want /console/sign-in", a.path)
	}
}

func TestCookieAttributes(t *testing.T) {
	s := newService(t, nil)
	for _, test := range []struct {
		host, name string
		secure     bool
	}{
		{"127.0.0.1:8080", "voicescreen-console", false},
		{"[::1]:8080", "voicescreen-console", false},
		{"localhost", "voicescreen-console", false},
		{"clinic.example", "__Host-voicescreen-console", true},
		{"10.0.0.7:8080", "__Host-voicescreen-console", true},
		{"127.0.0.1.clinic.example", "__Host-voicescreen-console", true},
	} {
		r := httptest.NewRequest("POST", "/console/sign-in", strings.NewReader("key="+s.key))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Host = test.host
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		got := w.Result().Cookies()
		if len(got) != 1 {
			t.Fatalf("%s: got %d cookies, want 1", test.host, len(got))
		}
		k := got[0]
		if k.Name != test.name || k.Secure != test.secure || !k.HttpOnly || k.SameSite != http.SameSiteStrictMode || k.Path != "/" || k.Domain != "" || k.MaxAge != 0 {
			t.Errorf("%s: got %+v, want name %s, secure %v, HttpOnly, SameSite=Strict, of the browser's session", test.host, k, test.name, test.secure)
		}

		r = httptest.NewRequest("POST", "/console/language", strings.NewReader("language=de"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Host = test.host
		w = httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if got = w.Result().Cookies(); len(got) != 1 {
			t.Fatalf("%s: got %d cookies of the language, want 1", test.host, len(got))
		}
		k = got[0]
		if k.Secure != test.secure || strings.HasPrefix(k.Name, "__Secure-") != test.secure || !k.HttpOnly || k.SameSite != http.SameSiteStrictMode || k.Path != "/console/" || k.Value != "de" {
			t.Errorf("%s: got %+v, want the language, secure %v, HttpOnly, SameSite=Strict", test.host, k, test.secure)
		}
		r = httptest.NewRequest("GET", "/console/sign-in", nil)
		r.Host = test.host
		r.AddCookie(k)
		w = httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), "Anmelden") {
			t.Errorf("%s: the language was not kept", test.host)
		}
	}
}

func TestSignInEnds(t *testing.T) {
	s := newService(t, nil)
	out := func(c *client) bool { t.Helper(); return c.get("/console/").path == "/console/sign-in" }

	c := s.signedIn("")
	s.clock.Add(14 * time.Minute)
	if out(c) {
		t.Error("14 minutes without a request: signed out, want signed in")
	}
	s.clock.Add(15 * time.Minute)
	if !out(c) {
		t.Error("15 minutes without a request: signed in, want signed out")
	}

	c = s.signedIn("")
	for range 12 * 6 {
		s.clock.Add(10 * time.Minute)
		c.get("/console/")
	}
	if !out(c) {
		t.Error("12 hours after the sign-in: signed in, want signed out")
	}

	c = s.signedIn("")
	s.stored(account, "a", "patient-17", s.clock.Now(), nil)
	for range 2 {
		s.clock.Add(8 * time.Minute)
		r := c.request("GET", "/console/sessions/a/wait", nil)
		r.Header.Set("Accept", "application/json")
		if a := c.do(r); a.status == http.StatusOK && a.body != "true" {
			t.Errorf("the script asks whether there is a result: got %q, want true", a.body)
		}
	}
	if !out(c) {
		t.Error("15 minutes in which only the page's script asked: signed in, want signed out")
	}

	c = s.signedIn("")
	if err := s.keys.Revoke(s.key); err != nil {
		t.Fatal(err)
	}
	if !out(c) {
		t.Error("with a revoked key: signed in, want signed out")
	}
}

func TestSignOut(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	at, _ := url.Parse(s.server.URL)
	kept := c.http.Jar.Cookies(at)
	cleared := ""
	c.http.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		cleared = r.Response.Header.Get("Clear-Site-Data")
		return nil
	}
	if a := c.post("/console/sign-out"); a.path != "/console/sign-in" {
		t.Errorf("sign-out: got %s, want /console/sign-in", a.path)
	}
	if cleared != `"cache"` {
		t.Errorf("sign-out: got Clear-Site-Data %q, want the cache cleared", cleared)
	}
	if left := c.http.Jar.Cookies(at); len(left) != 0 {
		t.Errorf("after sign-out: got cookies %v, want none", left)
	}
	c.http.Jar.SetCookies(at, kept)
	if a := c.get("/console/"); a.path != "/console/sign-in" {
		t.Errorf("the cookie of before the sign-out: got %s, want /console/sign-in", a.path)
	}
}

// A browser that reached the console by http at another address drops the cookie.
func TestSignInWithoutTLSIsExplained(t *testing.T) {
	s := newService(t, nil)
	for origin, want := range map[string]int{"http://clinic.example": http.StatusForbidden, "https://clinic.example": http.StatusSeeOther} {
		r := httptest.NewRequest("POST", "/console/sign-in", strings.NewReader("key="+s.key))
		r.Host = "clinic.example"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if w.Code != want || want == http.StatusForbidden && !strings.Contains(w.Body.String(), "https://") {
			t.Errorf("%s: got %d, want %d: %s", origin, w.Code, want, w.Body)
		}
	}
}

func TestFailedSignInsAreBounded(t *testing.T) {
	s := newService(t, nil)
	c := s.newClient()
	for range 10 {
		c.post("/console/sign-in", "key", "vk_aaaa_bbbb").want(t, "a wrong key", http.StatusForbidden)
	}
	c.post("/console/sign-in", "key", s.key).want(t, "after ten failures", http.StatusTooManyRequests)
	s.clock.Add(7 * time.Second)
	c.post("/console/sign-in", "key", s.key).want(t, "some seconds later", http.StatusOK)
	for range 30 {
		s.signedIn("") // those that succeed do not count
	}
}

func TestSignInsOfOneKeyAreBounded(t *testing.T) {
	s := newService(t, nil)
	first := s.signedIn("")
	for range 99 {
		s.clock.Add(time.Second)
		s.signedIn("")
	}
	if a := first.get("/console/"); a.path != "/console/" {
		t.Fatal("100 sign-ins: the first is over, want it valid")
	}
	s.clock.Add(time.Second)
	s.signedIn("")
	if a := first.get("/console/"); a.path != "/console/sign-in" {
		t.Error("101 sign-ins: the first is valid, want it over")
	}
}

func TestOtherSitesCannotPost(t *testing.T) {
	s := newService(t, nil)
	c := s.signedIn("")
	for name, header := range map[string][2]string{
		"Sec-Fetch-Site": {"Sec-Fetch-Site", "cross-site"},
		"same-site":      {"Sec-Fetch-Site", "same-site"},
		"Origin":         {"Origin", "https://evil.example"},
	} {
		r := c.request("POST", "/console/sessions", strings.NewReader("user=p&consent=yes"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set(header[0], header[1])
		c.do(r).want(t, name, http.StatusForbidden, "another site")
	}
	if n, _, err := s.engine.Tenant(account).Results(t.Context(), "p", voicescreen.Page{}); err != nil || len(n) != 0 {
		t.Errorf("got %d sessions (%v), want none", len(n), err)
	}
}

func TestHostProgramAuthenticates(t *testing.T) {
	s := newService(t, nil)
	host := httpadapter.AuthenticatorFunc(func(r *http.Request) (httpadapter.Caller, error) {
		if k, err := r.Cookie("host-session"); err == nil && k.Value == "doctor" {
			return httpadapter.Caller{Account: account, ID: "doctor", Scopes: httpadapter.DefaultScopes()}, nil
		}
		return httpadapter.Caller{}, httpadapter.ErrUnauthenticated
	})
	h, err := console.New(s.engine, host, &console.Options{SignIn: "/login", Prefix: "/app/voice"})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, cookie string) *http.Response {
		r := httptest.NewRequest(method, path, nil)
		if cookie != "" {
			r.AddCookie(&http.Cookie{Name: "host-session", Value: cookie})
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	if res := ask("GET", "/app/voice/", ""); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/login" {
		t.Errorf("nobody: got %d to %q, want 303 to /login", res.StatusCode, res.Header.Get("Location"))
	}
	if res := ask("GET", "/app/voice/", "doctor"); res.StatusCode != http.StatusOK {
		t.Errorf("the doctor: got %d, want 200", res.StatusCode)
	}
	for _, path := range []string{"/app/voice/sign-in", "/app/voice/sign-out"} {
		if res := ask("POST", path, "doctor"); res.StatusCode != http.StatusNotFound {
			t.Errorf("POST %s: got %d, want 404: the host signs in", path, res.StatusCode)
		}
	}
}

func TestPrefixIsAPath(t *testing.T) {
	s := newService(t, nil)
	for _, prefix := range []string{"console", "/console/", "//x", "/a b", "/{id}", "/a\"b"} {
		if _, err := console.New(s.engine, s.keys, &console.Options{Prefix: prefix}); err == nil {
			t.Errorf("prefix %q: got no error, want one", prefix)
		}
	}
}
