package httpadapter

import (
	"bytes"
	"cmp"
	_ "embed"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

//go:generate go run ./internal/docspage openapi.json docs.html

// docsPage is the OpenAPI document as a page for people.
//
//go:embed docs.html
var docsPage []byte

// docs serves the page, which has no script and loads no other resource.
func (a *adapter) docs(c *call) error {
	page := docsPage
	if strings.HasSuffix(c.r.URL.Path, "/") {
		page = bytes.ReplaceAll(page, []byte(`href="openapi.json"`), []byte(`href="../openapi.json"`))
	}
	c.page(page)
	return nil
}

// page answers with a page that loads nothing.
func (c *call) page(page []byte) {
	h := c.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	c.w.Write(page) // an error means that the client has disconnected
}

// welcomePage points a person who opened the address of the service to the docs.
//
//go:embed welcome.html
var welcomePage []byte

// welcome is the call of a browser to /. It stands in neither routes nor the OpenAPI
// document: to programs there is no such path.
var welcome = route{method: http.MethodGet, path: "/", handle: func(_ *adapter, c *call) error {
	c.w.Header().Set("Vary", "Accept")
	c.page(welcomePage)
	return nil
}}

// asksForWelcome returns whether a request is that of a browser for the path /.
func asksForWelcome(r *http.Request) bool {
	if r.URL.Path != "/" || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	for _, header := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(header, ",") {
			media, params, err := mime.ParseMediaType(part)
			weight, bad := strconv.ParseFloat(cmp.Or(params["q"], "1"), 64)
			if err == nil && bad == nil && media == "text/html" && weight > 0 {
				return true
			}
		}
	}
	return false
}
