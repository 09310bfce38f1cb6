package console

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/voicescreen/voicescreen/httpadapter"
)

// cookieName returns the name of the cookie. A secure one is bound to its host.
func (v *visit) cookieName() string {
	name := "voicescreen" + strings.ReplaceAll(v.opts.Prefix, "/", "-")
	if secure(v.r) {
		return "__Host-" + name
	}
	return name
}

// secure says whether cookies are sent over TLS only: wherever the browser did not reach
// this machine by itself.
func secure(r *http.Request) bool { return r.TLS != nil || !loopback(r.Host) }

// loopback says whether a host, with or without a port, is this machine.
func loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.IsLoopback()
}

// setCookie sets the cookie, or removes it if the value is "".
func (v *visit) setCookie(value string) {
	c := &http.Cookie{Name: v.cookieName(), Value: value, Path: "/", HttpOnly: true, Secure: secure(v.r), SameSite: http.SameSiteStrictMode}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(v.w, c)
}

// identifyBrowser finds the sign-in of the request and checks its key.
func (v *visit) identifyBrowser() error {
	cookie, err := v.r.Cookie(v.cookieName())
	if err != nil {
		return httpadapter.ErrUnauthenticated
	}
	s := v.browsers.find(cookie.Value, !v.polls())
	if s == nil {
		return httpadapter.ErrUnauthenticated
	}
	caller, err := v.check(s.key)
	if errors.Is(err, httpadapter.ErrUnauthenticated) { // revoked or expired since
		v.browsers.remove(cookie.Value)
	}
	if err != nil {
		return err
	}
	v.browser, v.caller = s, caller
	return nil
}

// check asks the authenticator about a key, as a client of the service does.
func (v *visit) check(key string) (httpadapter.Caller, error) {
	r := v.r.Clone(v.ctx())
	r.Header.Set("X-API-Key", key)
	return v.callers.Authenticate(r)
}

// signInPage shows the form.
func (v *visit) signInPage() error {
	if v.opts.SignIn != "" {
		return v.leave(v.opts.SignIn)
	}
	if v.signed {
		return v.redirect("")
	}
	return v.page(http.StatusOK, "signin", "")
}

// signIn exchanges a key for a cookie. The cookie is new at each sign-in.
func (v *visit) signIn() error {
	if v.opts.SignIn != "" {
		return errNotFound
	}
	if err := v.form(); err != nil {
		return err
	}
	succeeded, ok := v.attempts.begin(v.r)
	if !ok {
		v.w.Header().Set("Retry-After", "60")
		return v.page(http.StatusTooManyRequests, "signin", "signin.too-many")
	}
	if secure(v.r) && v.r.TLS == nil && strings.HasPrefix(v.r.Header.Get("Origin"), "http://") { // the browser would drop the cookie
		return v.page(http.StatusForbidden, "signin", "signin.needs-tls")
	}
	key := strings.TrimSpace(v.r.PostForm.Get("key"))
	caller, err := v.check(key)
	if errors.Is(err, httpadapter.ErrUnauthenticated) {
		v.caller = httpadapter.Caller{}
		return v.page(http.StatusForbidden, "signin", "signin.refused")
	}
	if err != nil {
		return err
	}
	succeeded()
	if old, err := v.r.Cookie(v.cookieName()); err == nil {
		v.browsers.remove(old.Value)
	}
	if caller.ID == "" {
		caller.ID = caller.Account
	}
	v.caller = caller
	v.setCookie(v.browsers.add(key, caller.ID))
	return v.redirect("")
}

// signOut ends the sign-in.
func (v *visit) signOut() error {
	if v.opts.SignIn != "" {
		return errNotFound
	}
	if c, err := v.r.Cookie(v.cookieName()); err == nil {
		v.browsers.remove(c.Value)
	}
	v.setCookie("")
	v.w.Header().Set("Clear-Site-Data", `"cache"`)
	return v.redirect("sign-in")
}

const (
	// attemptsBurst failed sign-ins are allowed at once from one address, and one more
	// every attemptEvery. Chosen: a person mistypes a few times; a key has 160 random bits.
	attemptsBurst = 10
	attemptEvery  = 6 * time.Second

	// attemptAddresses is how many addresses are counted. Chosen: 1 MB. Beyond it all are
	// forgotten.
	attemptAddresses = 10_000
)

// attempts bounds the rate of failed sign-ins. It is safe for concurrent use.
type attempts struct {
	now func() time.Time

	mu sync.Mutex // protects of
	of map[string]*rate.Limiter
}

func newAttempts(now func() time.Time) *attempts {
	return &attempts{now: now, of: map[string]*rate.Limiter{}}
}

// limiter returns the bucket of the address of a request. The caller holds mu.
func (a *attempts) limiter(r *http.Request) *rate.Limiter {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	l := a.of[host]
	if l == nil {
		if len(a.of) >= attemptAddresses {
			clear(a.of)
		}
		l = rate.NewLimiter(rate.Every(attemptEvery), attemptsBurst)
		a.of[host] = l
	}
	return l
}

// begin counts a sign-in, which ok says may be tried. A sign-in that succeeds is given
// back with done: only those that fail count.
func (a *attempts) begin(r *http.Request) (done func(), ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	taken := a.limiter(r).ReserveN(now, 1)
	if taken.DelayFrom(now) > 0 {
		taken.CancelAt(now)
		return nil, false
	}
	return func() { taken.CancelAt(now) }, true
}
