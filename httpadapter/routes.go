package httpadapter

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/voicescreen/voicescreen/screen"
)

// route is one call. In its path "*" stands for an identifier.
type route struct {
	method  string
	path    string
	scope   Scope // 0: no key is needed, and the path has no version
	handle  func(*adapter, *call) error
	product screen.Product // of a submission
	health  bool           // whether operators call it again and again
}

// routes lists all calls, without version and trailing slash. Each exists under
// /v2, under /v1 and without a version. No two have the same path.
var routes = []route{
	{method: "POST", path: "initate", scope: ScopeInitiate, handle: (*adapter).initiate}, // spelled so in the reference
	{method: "POST", path: "initiate", scope: ScopeInitiate, handle: (*adapter).initiate},

	{method: "POST", path: "prediction", scope: ScopeSubmit, handle: (*adapter).submit, product: screen.DepressionAnxiety},
	{method: "POST", path: "predict/depression/binary", scope: ScopeSubmit, handle: (*adapter).submit, product: screen.DepressionBinary},
	{method: "POST", path: "predict/depression/severity", scope: ScopeSubmit, handle: (*adapter).submit, product: screen.DepressionSeverity},
	{method: "POST", path: "predict/anxiety/severity", scope: ScopeSubmit, handle: (*adapter).submit, product: screen.AnxietySeverity},
	{method: "POST", path: "predict/server/depression/binary", scope: ScopeSubmit, handle: (*adapter).submit, product: screen.DepressionBinary},
	{method: "POST", path: "predict/server/depression/severity", scope: ScopeSubmit, handle: (*adapter).submit, product: screen.DepressionSeverity},
	{method: "POST", path: "predict/server/anxiety/severity", scope: ScopeSubmit, handle: (*adapter).submit, product: screen.AnxietySeverity},

	// With a file a submission, without a file a request for a result: the
	// handler checks the scope.
	{method: "POST", path: "predict", scope: anyScope, handle: (*adapter).predict, product: screen.DeepfakeBinary},

	{method: "GET", path: "predict/sessions/*", scope: ScopeRead, handle: (*adapter).result},
	{method: "GET", path: "predict/users/*", scope: ScopeRead, handle: (*adapter).results},

	{method: "PATCH", path: "feedback/phq/2", scope: ScopeFeedback, handle: (*adapter).feedbackPHQ2},
	{method: "PATCH", path: "feedback/phq/9", scope: ScopeFeedback, handle: (*adapter).feedbackPHQ9},
	{method: "PATCH", path: "feedback/gad/7", scope: ScopeFeedback, handle: (*adapter).feedbackGAD7},
	{method: "PATCH", path: "feedback/depression/binary", scope: ScopeFeedback, handle: (*adapter).feedbackDepression},
	{method: "PATCH", path: "feedback/server/phq/2", scope: ScopeFeedback, handle: (*adapter).feedbackPHQ2},
	{method: "PATCH", path: "feedback/server/phq/9", scope: ScopeFeedback, handle: (*adapter).feedbackPHQ9},
	{method: "PATCH", path: "feedback/server/gad/7", scope: ScopeFeedback, handle: (*adapter).feedbackGAD7},
	{method: "PATCH", path: "feedback/server/depression/binary", scope: ScopeFeedback, handle: (*adapter).feedbackDepression},

	{method: "DELETE", path: "sessions/*", scope: ScopeAdmin, handle: (*adapter).deleteSession},
	{method: "DELETE", path: "users/*", scope: ScopeAdmin, handle: (*adapter).forgetUser},

	{method: "GET", path: "healthz", handle: (*adapter).healthz, health: true},
	{method: "GET", path: "readyz", handle: (*adapter).readyz, health: true},
	{method: "GET", path: "openapi.json", handle: (*adapter).openAPI},
	{method: "GET", path: "docs", handle: (*adapter).docs},
}

// anyScope is the scope of a route whose handler checks the scope of the key.
const anyScope = Scope(255)

// versions are the prefixes of the paths that need a key.
var versions = []string{"", "/v1", "/v2"}

// newMux returns the handler of all calls, for requests that muxRequest makes.
func (a *adapter) newMux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("/", a.endpoint(nil, ""))
	for i := range routes {
		r := &routes[i]
		prefixes, allow := versions, r.method
		if r.scope == 0 {
			prefixes = versions[:1]
		}
		if allow == http.MethodGet {
			allow = "GET, HEAD" // ServeMux routes HEAD as GET, and net/http discards the body
		}
		for _, prefix := range prefixes {
			path := prefix + "/" + strings.Replace(r.path, "*", "{id}", 1)
			for _, path := range []string{path, path + "/{$}"} {
				mux.Handle(r.method+" "+path, a.endpoint(r, ""))
				mux.Handle(path, a.endpoint(nil, allow)) // every other method
			}
		}
	}
	return mux
}

// callKey is the key of the call in the context of a muxRequest.
type callKey struct{}

// endpoint returns the handler of a route. A nil route stands for an unknown path,
// or for a wrong method if allow, the list of the right ones, is not "".
func (a *adapter) endpoint(route *route, allow string) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c := r.Context().Value(callKey{}).(*call)
		c.id, _ = url.PathUnescape(r.PathValue("id")) // escaped by muxPath
		c.route = route
		if err := a.serve(c, allow); err != nil {
			a.fail(c, err)
		}
	})
}

// muxRequest returns the request by which ServeMux finds the endpoint of c.
func muxRequest(c *call) *http.Request {
	r := &http.Request{Method: c.r.Method, URL: &url.URL{Path: muxPath(c.r.URL)}}
	return r.WithContext(context.WithValue(c.r.Context(), callKey{}, c))
}

// muxPath returns the path of u for ServeMux: each segment is escaped a second
// time, and "." and ".." are escaped too. ServeMux answers paths with "." or ".."
// or empty segments with a redirect, and reads a segment that is an escaped slash
// as a trailing slash. Here an identifier may be any text, and a path with an empty
// segment is unknown.
func muxPath(u *url.URL) string {
	segments := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	for i, s := range segments {
		text, err := url.PathUnescape(s)
		switch {
		case err != nil, text == "" && i < len(segments)-1:
			return "/" // no such path
		case text == ".", text == "..":
			segments[i] = strings.Repeat("%2E", len(text))
		default:
			segments[i] = url.PathEscape(text)
		}
	}
	return "/" + strings.Join(segments, "/")
}
