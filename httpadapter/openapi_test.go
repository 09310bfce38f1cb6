package httpadapter

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// document is the OpenAPI document, read once.
var document = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromData(openAPIDocument)
})

// The validator knows no pages.
func init() {
	openapi3filter.RegisterBodyDecoder("text/html", func(body io.Reader, _ http.Header, _ *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (any, error) {
		page, err := io.ReadAll(body)
		return string(page), err
	})
}

// documentPath is how the document writes the path of a route.
func documentPath(r *route) string {
	parameter := map[string]string{"sessions": "{session_id}", "users": "{user_id}"}
	var b strings.Builder
	for i, s := range r.segments {
		if s == "*" {
			s = parameter[r.segments[i-1]]
		}
		b.WriteString("/" + s)
	}
	if r.path == "prediction" {
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
	for i := range routes {
		r := &routes[i]
		want = append(want, r.method+" "+documentPath(r))
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

// checkOpenAPI checks a request that was accepted, and every answer, against
// the document. Unknown calls are not in it, and requests that go beyond it
// say so.
func checkOpenAPI(t testing.TB, req *http.Request, r request, w *httptest.ResponseRecorder) {
	t.Helper()
	found, params, _ := find(req.Method, req.URL)
	if found == nil || req.Method == http.MethodHead {
		return
	}
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	path := documentPath(found)
	item := doc.Paths.Value(path)
	if item == nil {
		t.Fatalf("the document has no path %s", path)
	}
	input := &openapi3filter.RequestValidationInput{
		Request:    req.Clone(context.Background()),
		PathParams: map[string]string{},
		Route:      &routers.Route{Spec: doc, Path: path, PathItem: item, Method: found.method, Operation: item.GetOperation(found.method)},
		Options: &openapi3filter.Options{MultiError: true, IncludeResponseStatus: true,
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	for _, name := range []string{"session_id", "user_id"} {
		if strings.Contains(path, "{"+name+"}") {
			input.PathParams[name] = params[0]
		}
	}
	// JSON is read whatever it is called; the document cannot say so.
	if strings.HasPrefix(r.body, "{") {
		input.Request.Header.Set("Content-Type", "application/json")
	}
	input.Request.Body = io.NopCloser(strings.NewReader(r.body))
	if w.Code < 300 && !r.beyond && len(r.body) < 64<<10 { // a long file takes the validator seconds
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
