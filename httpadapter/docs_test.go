package httpadapter_test

import (
	"html"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// The page shows every call, status and schema of the document, has no broken link,
// and loads no other resource.
func TestDocs(t *testing.T) {
	s := newService(t)
	w := s.do(request{method: "GET", path: "/docs", key: "none"})
	page := w.Body.String()
	if ct := w.Header().Get("Content-Type"); w.Code != http.StatusOK || ct != "text/html; charset=utf-8" {
		t.Fatalf("got %d %s, want a page", w.Code, ct)
	}
	if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("got policy %q, want nothing to be loaded", policy)
	}
	for _, foreign := range []string{"<script", "http://", "https://", "src=", "@import", "url(", "<link", "ZgotmplZ"} {
		if strings.Contains(page, foreign) {
			t.Errorf("the page has %q", foreign)
		}
	}
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{doc.Info.Title, doc.Info.Description, "audio_length_error", "Prefer", "YYYY-MM-DD"}
	paths := doc.Paths.Map()
	maps.Copy(paths, doc.Webhooks)
	for path, item := range paths {
		for method, o := range item.Operations() {
			want = append(want, `<span class="method">`+method+`</span> <code>`+path+`</code>`, o.Summary)
			for status := range o.Responses.Map() {
				want = append(want, "<td>"+status+"</td>")
			}
		}
	}
	for name := range doc.Components.Schemas {
		want = append(want, `id="schema-`+name+`"`)
	}
	for _, text := range want {
		if !strings.Contains(page, text) && !strings.Contains(page, html.EscapeString(text)) {
			t.Errorf("the page has no %q", text)
		}
	}
	ids := map[string]bool{}
	for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[id[1]] {
			t.Errorf("the page has two places %q", id[1])
		}
		ids[id[1]] = true
	}
	for _, link := range regexp.MustCompile(` href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if place, ok := strings.CutPrefix(link[1], "#"); ok && !ids[place] || !ok && link[1] != "openapi.json" {
			t.Errorf("the link %q leads nowhere", link[1])
		}
	}
	w = s.do(request{method: "GET", path: "/docs/", key: "none"})
	if !strings.Contains(w.Body.String(), `href="../openapi.json"`) {
		t.Error("with a trailing slash the link to the document is wrong")
	}
}
