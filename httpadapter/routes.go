package httpadapter

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen/screen"
)

// route is one call. In its path "*" stands for a parameter.
type route struct {
	method  string
	path    string
	scope   Scope // 0: no key is needed, and the path has no version
	handle  func(*adapter, *call) error
	product screen.Product // of a submission

	segments []string // of path
}

// routes is every call of the surface, without version and trailing slash.
// Each exists under /v2, /v1 and without a version.
var routes = split([]route{
	{method: "POST", path: "initate", scope: ScopeInitiate, handle: (*adapter).initiate}, // spelled so in the reference
	{method: "POST", path: "initiate", scope: ScopeInitiate, handle: (*adapter).initiate},

	{method: "POST", path: "prediction", scope: ScopeSubmit, handle: (*adapter).submit, product: screen.DepressionAnxiety},
	{method: "POST", path: "predict/depression/binary", scope: ScopeSubmit, handle: (*adapter).submit, product: screen.DepressionBinary},
	{method: "POST", path: "predict/depression/severity", scope: ScopeSubmit, handle: (*adapter).submit, product: screen.DepressionSeverity},
	{method: "POST", path: "predict/anxiety/severity", scope: ScopeSubmit, handle: (*adapter).submit, product: screen.AnxietySeverity},
	{method: "POST", path: "predict/server/depression/binary", scope: ScopeSubmit, handle: (*adapter).submit, product: screen.DepressionBinary},
	{method: "POST", path: "predict/server/depression/severity", scope: ScopeSubmit, handle: (*adapter).submit, product: screen.DepressionSeverity},
	{method: "POST", path: "predict/server/anxiety/severity", scope: ScopeSubmit, handle: (*adapter).submit, product: screen.AnxietySeverity},

	// A submission or, without a file, a result: the handler asks for the
	// scope that it needs.
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

	{method: "GET", path: "healthz", handle: (*adapter).healthz},
	{method: "GET", path: "readyz", handle: (*adapter).readyz},
	{method: "GET", path: "openapi.json", handle: (*adapter).openAPI},
	{method: "GET", path: "docs", handle: (*adapter).docs},
})

// anyScope is that of a route whose handler checks the scope itself.
const anyScope = Scope(255)

func split(routes []route) []route {
	for i := range routes {
		routes[i].segments = strings.Split(routes[i].path, "/")
	}
	return routes
}

// find returns the route of a request and the parameters of its path; nil if
// there is none. If the path exists and the method does not, allow has the
// methods that do.
func find(method string, u *url.URL) (found *route, params []string, allow []string) {
	segments := strings.Split(strings.TrimSuffix(strings.TrimPrefix(u.EscapedPath(), "/"), "/"), "/")
	versioned := len(segments) > 1 && (segments[0] == "v1" || segments[0] == "v2")
	if versioned {
		segments = segments[1:]
	}
	for i, s := range segments {
		s, err := url.PathUnescape(s)
		if err != nil {
			return nil, nil, nil
		}
		segments[i] = s
	}
	if method == http.MethodHead {
		method = http.MethodGet // net/http drops the body
	}
	for i := range routes {
		r := &routes[i]
		if versioned && r.scope == 0 {
			continue
		}
		p, ok := match(r.segments, segments)
		switch {
		case !ok:
		case r.method == method:
			return r, p, nil
		default:
			allow = append(allow, r.method)
			if r.method == http.MethodGet {
				allow = append(allow, http.MethodHead)
			}
		}
	}
	return nil, nil, slices.Compact(allow)
}

func match(pattern, segments []string) (params []string, ok bool) {
	if len(pattern) != len(segments) {
		return nil, false
	}
	for i, p := range pattern {
		switch {
		case p == "*" && segments[i] != "":
			params = append(params, segments[i])
		case p != segments[i]:
			return nil, false
		}
	}
	return params, true
}
