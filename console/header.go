package console

import "net/http"

// contentPolicy lets a page load from its own origin only, run no inline script or style,
// and be in no frame. A recording is played back from a blob.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"media-src blob:; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// setHeader sets the header fields of every answer. The referrer policy sends nothing to
// other sites, and keeps the Origin of a form: under no-referrer it is "null" (Fetch,
// "append a request Origin header").
func setHeader(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "microphone=(self), camera=(), geolocation=(), display-capture=()")
}
