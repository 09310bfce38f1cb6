package httpadapter

import (
	_ "embed"
	"errors"
	"net/http"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/store"
)

const (
	headerTime = 10 * time.Second // chosen: headers fit into one packet
	idleTime   = 2 * time.Minute  // chosen: longer than the pause between two polls
	maxHeader  = 32 << 10         // bytes; chosen: several times the header of a common proxy

	// requestTime is the maximum time of a whole request with its body. Limits
	// has shorter ones.
	requestTime = 10 * time.Minute
)

// NewServer returns a server with time-outs for headers, bodies and idle
// connections, so that slow clients cannot use up its connections. Shutdown
// ends the delay of requests that wait for a result. With a listener of
// [WrapListener] the server's own answers are messages too:
//
//	err := server.Serve(httpadapter.WrapListener(l))
func NewServer(addr string, handler http.Handler) *http.Server {
	s := &http.Server{
		Addr:              addr,
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       requestTime,
		WriteTimeout:      requestTime + time.Minute, // counted from the same moment
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,

		DisableGeneralOptionsHandler: true, // "OPTIONS *" is a path that does not exist
	}
	signalShutdown(s)
	return s
}

// state is the body of the health checks.
type state struct {
	Status string `json:"status"`
}

// healthz answers 200 while the process is running.
func (a *adapter) healthz(c *call) error {
	return c.json(http.StatusOK, state{"ok"})
}

// readyz answers 200 if requests can be served: the engine is ready, the keys can
// be read and the audit log can be written. Otherwise it answers 503.
func (a *adapter) readyz(c *call) error {
	err := a.engine.Ready(c.r.Context())
	if checked, ok := a.callers.(interface{ Check() error }); ok && err == nil {
		err = checked.Check()
	}
	if err == nil && a.opts.Audit != nil {
		err = a.opts.Audit.Err()
	}
	if err != nil {
		a.opts.Logger.Warn("not ready", "error", err)
		if full := toAnswer(err); errors.Is(err, voicescreen.ErrFull) || store.IsFull(err) {
			full.body = message{"not ready: the store is full"}
			return full
		}
		return &answer{status: http.StatusServiceUnavailable, body: message{"not ready"},
			header: map[string]string{"Retry-After": retryAfter}}
	}
	return c.json(http.StatusOK, state{"ready"})
}

//go:embed openapi.json
var openAPIDocument []byte

// openAPI serves the OpenAPI document.
func (a *adapter) openAPI(c *call) error {
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Write(openAPIDocument)
	return nil
}
