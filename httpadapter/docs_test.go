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

// A browser that opens the address of the service gets a page that points to the
// docs, without a key. To programs / is no path, as before.
func TestWelcome(t *testing.T) {
	s := newService(t)
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, method := range []string{"GET", "HEAD"} {
		w := s.do(request{method: method, path: "/", key: "none", accept: browser})
		h := w.Header()
		if w.Code != http.StatusOK || h.Get("Content-Type") != "text/html; charset=utf-8" || h.Get("Vary") != "Accept" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: got %d %v, want a page", method, w.Code, h)
		}
		for _, link := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(w.Body.String(), -1) {
			if w := s.do(request{method: "GET", path: "/" + link[1], key: "none"}); w.Code != http.StatusOK {
				t.Errorf("the link %q leads to %d", link[1], w.Code)
			}
		}
		if method == "GET" && !strings.Contains(w.Body.String(), `href="docs"`) {
			t.Errorf("got %s, want a link to the docs", w.Body)
		}
	}
	for name, r := range map[string]request{
		"curl":            {method: "GET", path: "/", accept: "*/*"},
		"a JSON client":   {method: "GET", path: "/", accept: "application/json"},
		"no header":       {method: "GET", path: "/"},
		"HTML refused":    {method: "GET", path: "/", accept: "text/html;q=0.0, */*"},
		"another path":    {method: "GET", path: "/v2", accept: browser},
		"two slashes":     {method: "GET", path: "//", accept: browser},
		"another method":  {method: "POST", path: "/", accept: browser},
		"an escaped path": {method: "GET", path: "/%2F", accept: browser},
	} {
		r.key = "none"
		s.want(http.StatusForbidden, r)
		r.key = ""
		if w := s.do(r); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), `{"message":`) {
			t.Errorf("%s: got %d %s, want 404", name, w.Code, w.Body)
		}
	}
}
