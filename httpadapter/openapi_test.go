package httpadapter_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/voicescreen/voicescreen/httpadapter"
)

// document is the OpenAPI document, read once.
var document = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromFile("openapi.json")
})

// The validator has no decoder for HTML.
func init() {
	openapi3filter.RegisterBodyDecoder("text/html", func(body io.Reader, _ http.Header, _ *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (any, error) {
		page, err := io.ReadAll(body)
		return string(page), err
	})
}

// documentPath returns the path of a route as the document spells it.
func documentPath(r *httpadapter.Route) string {
	parameter := map[string]string{"sessions": "{session_id}", "users": "{user_id}"}
	var b strings.Builder
	before := ""
	for s := range strings.SplitSeq(r.Path, "/") {
		if s == "*" {
			s = parameter[before]
		}
		b.WriteString("/" + s)
		before = s
	}
	if r.Path == "prediction" {
		b.WriteString("/") // as the reference writes it
	}
	return b.String()
}

func TestOpenAPIDocument(t *testing.T) {
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1.") {
		t.Errorf("got version %s, want 3.1", doc.OpenAPI)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Error(err)
	}
	var want []string
	for i := range httpadapter.Routes {
		r := &httpadapter.Routes[i]
		want = append(want, r.Method+" "+documentPath(r))
	}
	var got []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			got = append(got, method+" "+path)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got operations\n%s\nwant those of the routes\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// findPath returns the path of a request in the document, without its version and
// its trailing slash, and the identifier in it; "" for an unknown path.
func findPath(doc *openapi3.T, req *http.Request) (path, id string) {
	for path, item := range doc.Paths.Map() {
		operation := item.GetOperation(req.Method)
		if operation == nil {
			continue
		}
		asked := strings.TrimSuffix(req.URL.EscapedPath(), "/")
		if operation.Security == nil || len(*operation.Security) > 0 { // a key is needed, so there are versions
			asked = strings.TrimPrefix(strings.TrimPrefix(asked, "/v1"), "/v2")
		}
		begin, _, hasID := strings.Cut(strings.TrimSuffix(path, "/"), "{")
		at, ok := strings.CutPrefix(asked, begin)
		if ok && hasID == (at != "") && !strings.Contains(at, "/") {
			id, _ := url.PathUnescape(at)
			return path, id
		}
	}
	return "", ""
}

// checked holds the exchanges that checkOpenAPI has checked, without what changing matches:
// the validator compiles its schemas for each, and the same few are made thousands of times.
var checked sync.Map

// changing matches what differs between exchanges that the document cannot tell apart:
// random identifiers, keys and boundaries, and times.
var changing = regexp.MustCompile(`[0-9a-f]{16,}|[a-z2-7]{32}|session-\d+|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)

// checkOpenAPI checks every answer to a known call against the document, and the
// request too if it was accepted and is not marked beyond.
func checkOpenAPI(t testing.TB, req *http.Request, r request, w *httptest.ResponseRecorder) {
	t.Helper()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	path, id := findPath(doc, req)
	if path == "" {
		return
	}
	request := ""
	if w.Code < 300 && !r.beyond && len(r.body) < 64<<10 { // a long file takes the validator seconds
		const head = 1 << 10 // recordings are behind it
		request = fmt.Sprint(req.URL, req.Header, len(r.body), r.body[:min(len(r.body), head)])
	}
	exchange := fmt.Sprint(req.Method, path, request, w.Code, w.Header(), w.Body)
	if _, twice := checked.LoadOrStore(changing.ReplaceAllString(exchange, ""), true); twice {
		return
	}
	item := doc.Paths.Value(path)
	input := &openapi3filter.RequestValidationInput{
		Request:    req.Clone(context.Background()),
		PathParams: map[string]string{},
		Route:      &routers.Route{Spec: doc, Path: path, PathItem: item, Method: req.Method, Operation: item.GetOperation(req.Method)},
		Options: &openapi3filter.Options{MultiError: true, IncludeResponseStatus: true,
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	for _, name := range []string{"session_id", "user_id"} {
		if strings.Contains(path, "{"+name+"}") {
			input.PathParams[name] = id
		}
	}
	// JSON is read whatever it is called; the document cannot say so.
	if strings.HasPrefix(r.body, "{") {
		input.Request.Header.Set("Content-Type", "application/json")
	}
	input.Request.Body = io.NopCloser(strings.NewReader(r.body))
	if request != "" {
		if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
			t.Errorf("%s %s: accepted, but the document does not: %v", req.Method, path, err)
		}
	}
	output := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: w.Code, Header: w.Header(), Options: input.Options}
	output.SetBodyBytes(bytes.Clone(w.Body.Bytes()))
	if err := openapi3filter.ValidateResponse(context.Background(), output); err != nil {
		t.Errorf("%s %s: answer %d %s: %v", req.Method, path, w.Code, w.Body, err)
	}
}
