package console

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter"
)

// A route is one path of the console.
type route struct {
	method, path string
	scope        httpadapter.Scope // that the caller needs; 0: any caller
	open         bool              // whether the path needs no caller
	action       string            // in the audit log; "" is not recorded
	handle       func(*visit) error
}

// routes are all paths. A path that ends in a slash is that of exactly this page. The
// wildcard {id} is a session identifier.
func routes() []route {
	all := []route{
		{"GET", "/", 0, false, "", (*visit).home},
		{"GET", "/sign-in", 0, true, "", (*visit).signInPage},
		{"POST", "/sign-in", 0, true, actionSignIn, (*visit).signIn},
		{"POST", "/sign-out", 0, true, actionSignOut, (*visit).signOut},
		{"GET", "/new", httpadapter.ScopeInitiate, false, "", (*visit).consentPage},
		{"POST", "/sessions", httpadapter.ScopeInitiate, false, actionInitiate, (*visit).initiate},
		{"GET", "/sessions/{id}/record", httpadapter.ScopeSubmit, false, "", (*visit).recordPage},
		{"POST", "/sessions/{id}/recording", httpadapter.ScopeSubmit, false, actionSubmit, (*visit).submit},
		{"GET", "/sessions/{id}/thanks", httpadapter.ScopeSubmit, false, "", (*visit).thanks},
		{"GET", "/sessions/{id}", httpadapter.ScopeRead, false, actionResult, (*visit).result},
		{"GET", "/sessions/{id}/wait", httpadapter.ScopeRead, false, actionResult, (*visit).wait},
		{"GET", "/sessions/{id}/history", httpadapter.ScopeRead, false, actionList, (*visit).history},
		{"GET", "/agreement", httpadapter.ScopeRead, false, actionAgreement, (*visit).agreement},
		{"POST", "/agreement/trial", httpadapter.ScopeAdmin, false, actionTrial, (*visit).try},
		{"GET", "/operations", httpadapter.ScopeAdmin, false, actionOperations, (*visit).operations},
		{"GET", "/operations/keys", httpadapter.ScopeAdmin, false, actionKeys, (*visit).keysPage},
		{"POST", "/operations/keys", httpadapter.ScopeAdmin, false, actionCreateKey, (*visit).createKey},
		{"POST", "/operations/keys/revoke", httpadapter.ScopeAdmin, false, actionRevokeKey, (*visit).revokeKey},
		{"POST", "/operations/erase", httpadapter.ScopeAdmin, false, actionList, (*visit).erasePersonPage},
		{"POST", "/operations/forget", httpadapter.ScopeAdmin, false, actionForget, (*visit).erasePerson},
		{"GET", "/sessions/{id}/erase", httpadapter.ScopeAdmin, false, "", (*visit).eraseSessionPage},
		{"POST", "/sessions/{id}/erase", httpadapter.ScopeAdmin, false, actionDelete, (*visit).eraseSession},
		{"GET", "/people", httpadapter.ScopeRead, false, "", (*visit).peoplePage},
		{"POST", "/people", httpadapter.ScopeRead, false, actionList, (*visit).findPerson},
		{"GET", "/sessions/{id}/interview", httpadapter.ScopeFeedback, false, "", (*visit).interviewPage},
		{"POST", "/sessions/{id}/interview", httpadapter.ScopeFeedback, false, actionInterview, (*visit).interview},
		{"POST", "/language", 0, true, "", (*visit).setLanguage},
	}
	for _, q := range []*instrument{phq2, phq9, gad7} {
		all = append(all,
			route{"GET", "/sessions/{id}/" + q.Path, httpadapter.ScopeFeedback, false, "", questions(q)},
			route{"POST", "/sessions/{id}/" + q.Path, httpadapter.ScopeFeedback, false, q.action, answered(q)})
	}
	return all
}

// newMux returns the routes under the prefix.
func (c *console) newMux() *http.ServeMux {
	mux := http.NewServeMux()
	for _, rt := range routes() {
		pattern := rt.method + " " + c.opts.Prefix + rt.path
		if rt.path == "/" {
			pattern += "{$}"
		}
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { c.serve(w, r, &rt) })
	}
	mux.HandleFunc("GET "+c.opts.Prefix+"/static/{name}", serveStatic)
	unknown := route{path: "none", handle: func(*visit) error { return errNotFound }}
	mux.HandleFunc(c.opts.Prefix+"/", func(w http.ResponseWriter, r *http.Request) { c.serve(w, r, &unknown) })
	return mux
}

// serve answers one request.
func (c *console) serve(w http.ResponseWriter, r *http.Request, rt *route) {
	start := time.Now()
	v := &visit{console: c, w: w, r: r, route: rt, words: c.dictionary.of(r)}
	if id := r.PathValue("id"); id != "" {
		v.session = id
	}
	err := v.authenticate()
	if err == nil {
		err = v.begin()
	}
	if err == nil {
		err = survive(c.opts.Logger, func() error { return rt.handle(v) })
	}
	if err != nil {
		v.drain()
		v.fail(err)
	}
	c.opts.Logger.Info("console", "route", strings.TrimSpace(rt.method+" "+rt.path), "status", v.status,
		"account", v.caller.Account, "key", v.caller.ID, "seconds", time.Since(start).Seconds())
}

// authenticate finds the caller of the request, unless the route is open, and checks the
// scope.
func (v *visit) authenticate() error {
	err := v.identify()
	switch {
	case v.route.open && errors.Is(err, httpadapter.ErrUnauthenticated):
		return nil
	case err != nil:
		return err
	case v.route.scope != 0 && !v.caller.Allows(v.route.scope):
		return errForbidden
	}
	return nil
}

// identify sets the caller of the request. The error wraps ErrUnauthenticated where
// nobody is signed in.
func (v *visit) identify() (err error) {
	if v.console.opts.SignIn != "" {
		v.caller, err = v.console.callers.Authenticate(v.r)
	} else {
		err = v.identifyBrowser()
	}
	if err != nil {
		v.caller = httpadapter.Caller{}
		return err
	}
	if v.caller.ID == "" {
		v.caller.ID = v.caller.Account
	}
	v.signed = true
	v.account = v.console.engine.Tenant(v.caller.Account)
	return nil
}

// deny answers a request that another site made a browser send.
func (c *console) deny(w http.ResponseWriter, r *http.Request) {
	c.serve(w, r, &route{method: r.Method, path: "none", open: true, handle: func(*visit) error { return errCrossOrigin }})
}

// checkPrefix returns an error for a prefix that is no plain path.
func checkPrefix(prefix string) error {
	ok := strings.HasPrefix(prefix, "/") && !strings.HasSuffix(prefix, "/") && !strings.Contains(prefix, "//")
	for _, r := range prefix {
		ok = ok && (r == '/' || r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	if !ok {
		return fmt.Errorf("console: the prefix is %s, want a path such as /console", strconv.Quote(prefix))
	}
	return nil
}
