package httpadapter_test

import (
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// schemaExample returns the example of a schema as the page of the document finds it:
// its own or that of the first of its parts that has one, nil without one.
func schemaExample(s *openapi3.SchemaRef) any {
	switch {
	case s == nil || s.Value == nil:
		return nil
	case len(s.Value.Examples) > 0:
		return s.Value.Examples[0]
	case s.Value.Items != nil:
		if item := schemaExample(s.Value.Items); item != nil {
			return []any{item}
		}
	}
	for _, part := range s.Value.AnyOf {
		if e := schemaExample(part); e != nil {
			return e
		}
	}
	return nil
}

// exampleRequest makes the request of an example of the document.
func exampleRequest(t *testing.T, method, path string, item *openapi3.PathItem, op *openapi3.Operation, contentType string) request {
	t.Helper()
	for _, p := range slices.Concat(item.Parameters, op.Parameters) {
		if p.Value.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", p.Value.Example.(string))
		}
	}
	r := request{method: method, path: "/v2" + path}
	if op.Security != nil && len(*op.Security) == 0 {
		r.path, r.key = path, "none"
	}
	if op.RequestBody == nil {
		return r
	}
	content := op.RequestBody.Value.Content
	if contentType == "" { // the first in this order that has an example
		for _, c := range []string{"multipart/form-data", "application/json"} {
			if m := content[c]; contentType == "" && m != nil && schemaExample(m.Schema) != nil {
				contentType = c
			}
		}
	}
	body := schemaExample(content[contentType].Schema)
	if contentType == "application/json" {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		r.contentType, r.body = contentType, string(text)
		return r
	}
	var fields []field
	for name, value := range body.(map[string]any) {
		text := value.(string)
		if text == "@recording.wav" {
			text = string(testWAV(t, 44100, 1, 0.1))
		}
		fields = append(fields, field{name, text})
	}
	f := form(method, r.path, fields...)
	f.key = r.key
	return f
}

// The examples of the document, which the page shows, are what the service takes and
// answers: each request is made of a new service, whose first session is in the state
// that the call needs.
func TestExamplesAreTrue(t *testing.T) {
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	initiate := exampleRequest(t, "POST", "/initiate", doc.Paths.Value("/initiate"), doc.Paths.Value("/initiate").Post, "")
	submit := exampleRequest(t, "POST", "/prediction/", doc.Paths.Value("/prediction/"), doc.Paths.Value("/prediction/").Post, "")
	fake := exampleRequest(t, "POST", "/predict", doc.Paths.Value("/predict"), doc.Paths.Value("/predict").Post, "multipart/form-data")
	n := 0
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status, response := range op.Responses.Map() {
				if status[0] != '2' {
					continue
				}
				n++
				t.Run(op.OperationID+" "+status, func(t *testing.T) {
					s := newService(t)
					contentType, _ := response.Value.Extensions["x-request"].(string)
					if op.Security == nil && op.Tags[0] != "session" {
						s.want(http.StatusCreated, initiate)
						switch {
						case status == "202":
						case op.OperationID == "deepfake":
							s.want(http.StatusAccepted, fake)
							s.finish("session-1", nil, nil)
						default:
							s.want(http.StatusAccepted, submit)
							s.finish("session-1", nil, nil)
						}
					}
					w := s.do(exampleRequest(t, method, path, item, op, contentType))
					if strconv.Itoa(w.Code) != status {
						t.Fatalf("got %d %s, want %s", w.Code, w.Body, status)
					}
					checkExample(t, response.Value, w.Body.Bytes())
				})
			}
		}
	}
	if n < 20 {
		t.Errorf("got %d examples, want one of each call", n)
	}
	t.Run("failed", func(t *testing.T) {
		s := newService(t)
		s.want(http.StatusCreated, initiate)
		s.want(http.StatusAccepted, submit)
		s.finish("session-1", tooShort, nil)
		w := s.do(request{method: "GET", path: "/v2/predict/sessions/session-1"})
		checkExample(t, doc.Components.Responses["PredictionFailed"].Value, w.Body.Bytes())
	})
}

// checkExample compares a body with the example of a response. The example of the
// page is its beginning, and that of the document its version.
func checkExample(t *testing.T, r *openapi3.Response, body []byte) {
	t.Helper()
	if len(r.Content) == 0 {
		if len(body) > 0 {
			t.Errorf("got body %s, want none", body)
		}
		return
	}
	for contentType, media := range r.Content {
		want := schemaExample(media.Schema)
		if contentType == "text/html" {
			if text, ok := want.(string); !ok || !strings.HasPrefix(string(body), text) {
				t.Errorf("got %.40s, want a page that begins with %q", body, want)
			}
			continue
		}
		var got any
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		if all, ok := got.(map[string]any); ok && all["openapi"] != nil {
			got = map[string]any{"openapi": all["openapi"]}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want the example %v", got, want)
		}
	}
}

// A call that the page folds away, as the same as another, is the same but for its
// path, name and summary.
func TestTwins(t *testing.T) {
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	describe := func(op *openapi3.Operation) (twinOf string, rest map[string]any) {
		text, err := json.Marshal(op)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &rest); err != nil {
			t.Fatal(err)
		}
		twinOf, _ = rest["x-same-as"].(string)
		maps.DeleteFunc(rest, func(name string, _ any) bool {
			return name == "x-same-as" || name == "operationId" || name == "summary"
		})
		return twinOf, rest
	}
	calls := map[string]map[string]any{}
	methods := map[string]string{}
	twins := map[string]string{}
	for _, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			twin, rest := describe(op)
			calls[op.OperationID], methods[op.OperationID] = rest, method
			if twin != "" {
				twins[op.OperationID] = twin
			}
		}
	}
	if len(twins) != 8 {
		t.Errorf("got %d twins, want 8: %v", len(twins), twins)
	}
	for twin, call := range twins {
		if methods[twin] != methods[call] || !reflect.DeepEqual(calls[twin], calls[call]) {
			t.Errorf("%s is not the same as %s:\n%v\n%v", twin, call, calls[twin], calls[call])
		}
	}
}

// The page has a section for each call with an example that names its path, and no
// section for a twin.
func TestDocsExamples(t *testing.T) {
	s := newService(t)
	page := s.do(request{method: "GET", path: "/docs", key: "none"}).Body.String()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			section := regexp.MustCompile(`(?s)<section id="` + op.OperationID + `">.*?</section>`).FindString(page)
			if op.Extensions["x-same-as"] != nil {
				if section != "" || !strings.Contains(page, `<li id="`+op.OperationID+`">`) {
					t.Errorf("%s: is not folded away", op.OperationID)
				}
				continue
			}
			begin, _, _ := strings.Cut(path, "{")
			request := regexp.MustCompile(`<pre>curl [^<]*\$BASE(/v2)?` + regexp.QuoteMeta(begin)).FindString(section)
			if request == "" || !strings.Contains(html.UnescapeString(section), "Answer 20") {
				t.Errorf("%s: got no example of a request and its answer in\n%s", op.OperationID, section)
			}
		}
	}
}
