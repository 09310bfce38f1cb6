package httpadapter

import (
	"bytes"
	_ "embed"
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
	h := c.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	c.w.Write(page) // an error means that the client has disconnected
	return nil
}
