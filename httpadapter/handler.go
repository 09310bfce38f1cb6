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
)

// Options configures the handler. Nil and zero fields mean the default.
type Options struct {
	// Logger takes one line for each request, and what failed. No line holds
	// anything of a patient. Default: none is kept.
	Logger *slog.Logger

	// MaxUpload is the size of the largest recording in bytes; larger ones are
	// answered 413. Default: 100 MiB. The engine has a limit of its own.
	MaxUpload int64

	// TempDir is where uploads wait whose parts come in an order that does not
	// let them be streamed. Default: os.TempDir().
	TempDir string

	// MaxWait bounds how long the answer to the question for a result is held
	// on request: the header "Prefer: wait=N" of RFC 7240, in seconds. It should
	// be shorter than the server's write time-out. Default: 30 s. Below one
	// second, as where it is negative, no answer is held.
	MaxWait time.Duration

	// Rate bounds the requests of each key. Default: no bound, since callers
	// are known by their keys and a queue that is full is answered 503 anyway.
	Rate RateLimit

	// Limits bounds what else a request may hold, and how long it may take.
	Limits Limits

	// Audit, if not nil, takes a record of every call with a valid key and of
	// every one whose key is refused. See the doc of the package. Default: none.
	Audit *audit.Log

	// Observe, if not nil, is called once for each request when it was
	// answered, and must not wait. See Metrics.
	Observe func(Observation)
}

// defaultMaxUpload was decided with the interface of the service.
const defaultMaxUpload = 100 << 20

// adapter is the handler. It is safe for concurrent use.
type adapter struct {
	engine *voicescreen.Engine
	keys   *Keys
	opts   Options // without zero fields
	rate   *limiter
	coming uploads
}

// New returns a handler that serves the engine to the holders of keys. Each
// key works in the account that it was made for.
func New(e *voicescreen.Engine, keys *Keys, opts *Options) http.Handler {
	a := &adapter{engine: e, keys: keys}
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
	return a
}

// call is one request that is being answered.
type call struct {
	w       http.ResponseWriter
	r       *http.Request
	limits  *Limits
	route   *route // nil until found
	params  []string
	key     Key                  // zero until known, and where none is needed
	account *voicescreen.Account // of key
	session string               // that the call is about, as the caller says; "" until known
	asks    bool                 // whether it is the question for a result
	read    bool                 // whether the body was read from
	timer   *timedBody           // of the body; nil until it is timed
	late    bool                 // whether it came too slowly
}

// ServeHTTP answers a request.
func (a *adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	var id [8]byte
	rand.Read(id[:]) // never fails
	requestID := hex.EncodeToString(id[:])
	setHeader(w.Header(), requestID)
	rec := &recorder{ResponseWriter: w}
	c := &call{w: rec, r: r, limits: &a.opts.Limits}
	log := a.opts.Logger.With("request_id", requestID)
	if a.opts.Audit != nil {
		rec.before = func(status int) error { return a.audit(c, log, strconv.Itoa(status)) }
	}
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			log.Error("panic", "stack", string(debug.Stack())) // not p, which may quote what it met
			a.fail(c, log, errPanic)
		}
		if rec.status == 0 { // it was not answered
			a.audit(c, log, outcomeNone)
		}
		a.report(c, log, rec.status, time.Since(start))
	}()
	if err := a.serve(c, log); err != nil {
		a.fail(c, log, err)
	}
}

// setHeader sets what every answer has.
func setHeader(h http.Header, requestID string) {
	h.Set("X-Request-Id", requestID)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}

// report tells the log and Options.Observe of a request that was answered.
func (a *adapter) report(c *call, log *slog.Logger, status int, took time.Duration) {
	o := Observation{Route: "none", Status: status, Duration: took}
	route := o.Route
	if c.route != nil {
		o.Method, o.Route = c.route.method, c.route.path
		route = o.Method + " " + o.Route
	}
	log.Info("request", "route", route, "status", status, "account", c.key.Account,
		"key", c.key.ID, "seconds", took.Seconds())
	if a.opts.Observe != nil {
		a.opts.Observe(o)
	}
}

var errPanic = errors.New("httpadapter: panic")

// serve does the checks that all calls have in common, and the call.
func (a *adapter) serve(c *call, log *slog.Logger) error {
	route, params, allow := find(c.r.Method, c.r.URL)
	c.route, c.params = route, params
	if route == nil || route.scope != 0 {
		if err := a.authenticate(c); err != nil {
			return err
		}
		if err := a.rate.limit(c); err != nil {
			return err
		}
	}
	switch {
	case len(allow) > 0:
		answer := refuse(http.StatusMethodNotAllowed, "method not allowed")
		answer.header = map[string]string{"Allow": strings.Join(allow, ", ")}
		return answer
	case route == nil:
		return refuse(http.StatusNotFound, "no such path")
	}
	if route.scope != 0 && route.scope != anyScope {
		if err := c.require(route.scope); err != nil {
			return err
		}
	}
	if err := c.takesNoBody(); err != nil {
		return err
	}
	if err := a.auditable(c, log); err != nil {
		return err
	}
	return route.handle(a, c)
}

func (a *adapter) authenticate(c *call) error {
	key := c.r.Header.Get("X-API-Key")
	if key == "" {
		return refuse(http.StatusForbidden, "missing API key")
	}
	info, ok := a.keys.find(key)
	c.key = info
	if !ok {
		return refuse(http.StatusForbidden, "invalid API key")
	}
	c.account = a.engine.Tenant(info.Account)
	return nil
}

// require answers 401 if the key lacks a scope.
func (c *call) require(s Scope) error {
	if !c.key.Allows(s) {
		return refuse(http.StatusUnauthorized, "the API key has no permission to "+s.String())
	}
	return nil
}

// fail answers a request with an error. If it has been answered already, all
// that is left is to break the connection off.
func (a *adapter) fail(c *call, log *slog.Logger, err error) {
	answer := toAnswer(err)
	if errors.Is(err, context.Canceled) && c.r.Context().Err() != nil {
		answer = gone
	}
	if answer.status == http.StatusInternalServerError && !errors.Is(err, errPanic) {
		log.Error("internal error", "error", err)
	}
	if c.w.(*recorder).status != 0 {
		panic(http.ErrAbortHandler)
	}
	c.drain(drainFactor * a.opts.MaxUpload)
	for name, value := range answer.header {
		c.w.Header().Set(name, value)
	}
	if err := writeJSON(c.w, answer.status, answer.body); err != nil {
		log.Error("internal error", "error", err)
	}
}

const (
	// drainTime is how long an answer waits for the rest of a body. Chosen:
	// 100 MiB over a local network take one second.
	drainTime = 5 * time.Second

	// drainFactor is how many times the largest upload an answer waits for at
	// most. Chosen: who sends more does not do so by mistake.
	drainFactor = 4
)

// drain reads the rest of a body that will not be used, within limits: most
// clients read no answer before all is sent, and take a closed connection for
// a failure.
func (c *call) drain(limit int64) {
	if c.r.Body == nil || c.r.Body == http.NoBody || c.late {
		return
	}
	if !c.read && strings.EqualFold(c.r.Header.Get("Expect"), "100-continue") {
		return // the client waits to be asked for the body
	}
	rc := http.NewResponseController(c.w)
	if rc.SetReadDeadline(time.Now().Add(drainTime)) != nil {
		limit = min(limit, 1<<20) // where time cannot be limited
	}
	io.CopyN(io.Discard, c.r.Body, limit)
}

// fieldBody reads a body of fields whole.
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

// takesNoBody reads the body of a call for which none is meant, as net/http does
// before it sends the answer: that would wait for it as long as for an upload.
func (c *call) takesNoBody() error {
	if c.r.Body == nil || c.r.Body == http.NoBody || c.route.method != http.MethodGet && c.route.method != http.MethodDelete {
		return nil
	}
	_, err := c.fieldBody()
	return err
}

func (c *call) json(status int, body any) error { return writeJSON(c.w, status, body) }

// recorder notes the status of an answer, once before has let it pass.
type recorder struct {
	http.ResponseWriter
	status  int
	before  func(status int) error // nil for nothing
	refused bool                   // by before: another answer went out in place of this one
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

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
