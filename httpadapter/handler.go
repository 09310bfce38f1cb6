package httpadapter

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/internal/throttle"
	"github.com/voicescreen/voicescreen/store"
)

// Options configures the handler. Nil and zero fields mean the default.
type Options struct {
	// Logger receives one line for each request, and internal errors. The line is at
	// level debug for a request that is repeated and brought nothing new: a poll of
	// a result that is not there yet, and a health check that succeeded. No line
	// holds data of a patient. Default: no log.
	Logger *slog.Logger

	// MaxUpload is the size of the largest recording in bytes. A larger one is
	// answered 413. Default: 100 MiB. The engine has its own limit too.
	MaxUpload int64

	// TempDir is the directory of temporary files, for uploads whose order of
	// parts does not allow streaming. Default: os.TempDir().
	TempDir string

	// MaxWait is the maximum time by which an answer with a result is delayed at
	// the request of the client, with the header "Prefer: wait=N" of RFC 7240. It
	// should be shorter than the server's write time-out. Below one second,
	// negative values too, no answer is delayed. Default: 30 s.
	MaxWait time.Duration

	// Rate bounds the request rate of each key. Default: no bound, since callers
	// are known by their keys and a full queue is answered 503.
	Rate RateLimit

	// Limits bounds the parts of a request and the time that it may take.
	Limits Limits

	// Audit, if not nil, receives a record of every call that needs a key, also
	// if the key is refused. See the package documentation. Default: no audit log.
	Audit *audit.Log

	// Observe, if not nil, is called once for each request after the answer. It
	// must not block. See Metrics.
	Observe func(Observation)
}

// defaultMaxUpload is the size of the largest recording in bytes, as the
// interface of the service has it.
const defaultMaxUpload = 100 << 20

// adapter is the handler. It is safe for concurrent use.
type adapter struct {
	engine  *voicescreen.Engine
	callers Authenticator
	mux     *http.ServeMux
	opts    Options // without zero fields
	rate    *limiter
	coming  uploads
	away    throttle.Line // the store is not available
}

// New returns a handler that serves the engine to the callers that callers knows:
// to the holders of keys, if it is a [Keys]. Each key gives access to the account
// that it was created for.
func New(e *voicescreen.Engine, callers Authenticator, opts *Options) http.Handler {
	a := &adapter{engine: e, callers: callers}
	if opts != nil {
		a.opts = *opts
	}
	if a.opts.Logger == nil {
		a.opts.Logger = slog.New(slog.DiscardHandler)
	}
	if a.opts.MaxUpload <= 0 {
		a.opts.MaxUpload = defaultMaxUpload
	}
	if a.opts.TempDir == "" {
		a.opts.TempDir = os.TempDir()
	}
	if a.opts.MaxWait == 0 {
		a.opts.MaxWait = defaultMaxWait
	}
	a.opts.Limits = a.opts.Limits.withDefaults()
	a.rate = newLimiter(a.opts.Rate)
	a.mux = a.newMux()
	return a
}

// call is one request that is being answered.
type call struct {
	w       http.ResponseWriter
	r       *http.Request
	limits  *Limits
	log     *slog.Logger
	route   *route               // nil until found
	id      string               // in the path of route, where that has one
	caller  Caller               // zero until known, and for a call that needs no key
	account *voicescreen.Account // of caller
	session string               // the identifier that the caller sent; "" until known
	asks    bool                 // whether the call asks for a result
	waits   bool                 // whether the answer says that the session is processing
	read    bool                 // whether reading of the body has begun
	timer   *timedBody           // of the body; nil until it is timed
	late    bool                 // whether the body exceeded its time
}

// ServeHTTP answers a request.
func (a *adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	requestID := newRequestID()
	setHeader(w.Header(), requestID)
	rec := &recorder{ResponseWriter: w}
	c := &call{w: rec, r: r, limits: &a.opts.Limits, log: a.opts.Logger.With("request_id", requestID)}
	if a.opts.Audit != nil {
		rec.before = func(status int) error { return a.audit(c, strconv.Itoa(status)) }
	}
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			c.log.Error("panic", "stack", string(debug.Stack())) // not p, which may quote data of a patient
			a.fail(c, errPanic)
		}
		if rec.status == 0 { // no answer was sent
			a.audit(c, outcomeNone)
		}
		a.report(c, rec.status, time.Since(start))
	}()
	a.mux.ServeHTTP(rec, muxRequest(c))
}

// newRequestID returns the X-Request-Id of an answer.
func newRequestID() string {
	var id [8]byte
	rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// setHeader sets the header fields of every answer.
func setHeader(h http.Header, requestID string) {
	h.Set("X-Request-Id", requestID)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}

// report writes a request that was answered to the log and calls Options.Observe.
func (a *adapter) report(c *call, status int, took time.Duration) {
	o := Observation{Route: "none", Status: status, Duration: took}
	route := o.Route
	if c.route != nil {
		o.Method, o.Route = c.route.method, c.route.path
		route = o.Method + " " + o.Route
	}
	level := slog.LevelInfo
	if status == http.StatusOK && (c.waits || c.route != nil && c.route.health) {
		level = slog.LevelDebug
	}
	c.log.Log(c.r.Context(), level, "request", "route", route, "status", status, "account", c.caller.Account,
		"key", c.caller.ID, "seconds", took.Seconds())
	if a.opts.Observe != nil {
		a.opts.Observe(o)
	}
}

var errPanic = errors.New("httpadapter: panic")

// serve makes the checks that all calls have in common, and then the call. If the
// path exists and the method does not, allow lists the methods of the path;
// otherwise it is "".
func (a *adapter) serve(c *call, allow string) error {
	if c.route == nil && asksForWelcome(c.r) {
		c.route = &welcome
	}
	route := c.route
	if route == nil || route.scope != 0 {
		if err := a.authenticate(c); err != nil {
			return err
		}
		if err := a.rate.limit(c); err != nil {
			return err
		}
	}
	switch {
	case allow != "":
		answer := refuse(http.StatusMethodNotAllowed, "method not allowed")
		answer.header = map[string]string{"Allow": allow}
		return answer
	case route == nil:
		return refuse(http.StatusNotFound, "no such path")
	}
	if route.scope != 0 && route.scope != anyScope {
		if err := c.require(route.scope); err != nil {
			return err
		}
	}
	if err := c.skipBody(); err != nil {
		return err
	}
	if err := a.auditable(c); err != nil {
		return err
	}
	return route.handle(a, c)
}

// require answers 401 if the caller lacks a scope.
func (c *call) require(s Scope) error {
	if !c.caller.Allows(s) {
		return refuse(http.StatusUnauthorized, "the API key has no permission to "+s.String())
	}
	return nil
}

// fail answers a request with an error. If an answer was already begun, it aborts
// the connection.
func (a *adapter) fail(c *call, err error) {
	answer := toAnswer(err)
	if errors.Is(err, context.Canceled) && c.r.Context().Err() != nil {
		answer = gone
	}
	switch {
	case errors.Is(err, voicescreen.ErrFull), store.IsFull(err):
		c.log.Error("the store is full", "error", err)
	case errors.Is(err, voicescreen.ErrUnavailable), errors.Is(err, store.ErrUnavailable):
		a.away.Log(c.log, slog.LevelWarn, "the store is not available", "error", err)
	case answer.status == http.StatusInternalServerError && !errors.Is(err, errPanic):
		c.log.Error("internal error", "error", err)
	}
	if c.w.(*recorder).status != 0 {
		panic(http.ErrAbortHandler)
	}
	c.drain(drainFactor * a.opts.MaxUpload)
	for name, value := range answer.header {
		c.w.Header().Set(name, value)
	}
	if err := writeJSON(c.w, answer.status, answer.body); err != nil {
		c.log.Error("internal error", "error", err)
	}
}

const (
	// drainTime is the maximum time for which an answer waits for the rest of a
	// body. Chosen: 100 MiB over a local network take one second.
	drainTime = 5 * time.Second

	// drainFactor times Options.MaxUpload is the maximum length of that rest.
	// Chosen: no client sends four times the limit by mistake.
	drainFactor = 4
)

// drain reads and discards the rest of a body, at most limit bytes. Most clients
// read the answer after they have sent the whole body, and report a closed
// connection as a failure.
func (c *call) drain(limit int64) {
	if c.r.Body == nil || c.r.Body == http.NoBody || c.late {
		return
	}
	if !c.read && strings.EqualFold(c.r.Header.Get("Expect"), "100-continue") {
		return // the client sends the body only after 100 Continue
	}
	rc := http.NewResponseController(c.w)
	if rc.SetReadDeadline(time.Now().Add(drainTime)) != nil {
		limit = min(limit, 1<<20) // the connection has no deadlines
	}
	io.CopyN(io.Discard, c.r.Body, limit)
}

// fieldBody reads a whole body of fields. An error is an answer.
func (c *call) fieldBody() ([]byte, error) {
	c.read = true
	limit, d := c.limits.Body, c.limits.BodyTime
	body, err := io.ReadAll(io.LimitReader(c.timed(d, d), int64(limit)+1))
	switch {
	case c.late:
		return nil, refuse(http.StatusUnprocessableEntity, "the body came too slowly")
	case err != nil:
		return nil, refuse(http.StatusUnprocessableEntity, "the body broke off")
	case len(body) > limit:
		return nil, refuse(http.StatusRequestEntityTooLarge, "the body is too large")
	}
	return body, nil
}

// skipBody reads the body of a call that needs none, within the limits of a body
// of fields. Otherwise net/http would read it before it sends the answer, with
// the time-out of an upload.
func (c *call) skipBody() error {
	if c.r.Body == nil || c.r.Body == http.NoBody || c.route.method != http.MethodGet && c.route.method != http.MethodDelete {
		return nil
	}
	_, err := c.fieldBody()
	return err
}

func (c *call) json(status int, body any) error { return writeJSON(c.w, status, body) }

// recorder keeps the status of an answer. If before returns an error, it sends
// status 500 instead.
type recorder struct {
	http.ResponseWriter
	status  int
	before  func(status int) error // called before the answer is sent; may be nil
	refused bool                   // before returned an error: the rest of the answer is discarded
}

func (r *recorder) WriteHeader(status int) {
	if r.refused {
		return
	}
	if r.status == 0 && r.before != nil && r.before(status) != nil {
		r.refused = true
		r.status = http.StatusInternalServerError
		h := r.Header()
		id := h.Get("X-Request-Id")
		clear(h)
		setHeader(h, id)
		writeJSON(r.ResponseWriter, r.status, message{internalError}) // a message is always JSON
		return
	}
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	if r.refused {
		return len(b), nil
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController the writer below.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
