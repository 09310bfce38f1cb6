package httpadapter

import (
	_ "embed"
	"net/http"
	"time"
)

const (
	headerTime = 10 * time.Second // chosen: headers fit into one packet
	idleTime   = 2 * time.Minute  // chosen: longer than callers pause between polls
	maxHeader  = 32 << 10         // bytes; chosen: several times what proxies add

	// requestTime is for a whole request with its body: see Limits.
	requestTime = 10 * time.Minute
)

// NewServer returns a server with limits on the time that headers, bodies and
// idle connections may take, so that slow clients cannot hold it up. When it is
// shut down, requests that wait for a result are answered at once.
func NewServer(addr string, handler http.Handler) *http.Server {
	s := &http.Server{
		Addr:              addr,
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       requestTime,
		WriteTimeout:      requestTime + time.Minute, // counted from the same moment
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
	}
	announceEnd(s)
	return s
}

// state is the body of the health checks.
type state struct {
	Status string `json:"status"`
}

// healthz says that the process answers.
func (a *adapter) healthz(c *call) error {
	return c.json(http.StatusOK, state{"ok"})
}

// readyz says whether requests can be served now: the engine is ready, the
// keys can be read and the audit log can be written.
func (a *adapter) readyz(c *call) error {
	err := a.engine.Ready(c.r.Context())
	if err == nil {
		err = a.keys.Check()
	}
	if err == nil && a.opts.Audit != nil {
		err = a.opts.Audit.Err()
	}
	if err != nil {
		a.opts.Logger.Warn("not ready", "error", err)
		return &answer{status: http.StatusServiceUnavailable, body: message{"not ready"},
			header: map[string]string{"Retry-After": retryAfter}}
	}
	return c.json(http.StatusOK, state{"ready"})
}

//go:embed openapi.json
var openAPIDocument []byte

// openAPI serves the description of this surface.
func (a *adapter) openAPI(c *call) error {
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Write(openAPIDocument)
	return nil
}
