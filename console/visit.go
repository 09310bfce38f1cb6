package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/store"
)

// Actions in the audit log: those of httpadapter, and the console's own.
const (
	actionInitiate   = "initiate"
	actionSubmit     = "submit"
	actionResult     = "result"
	actionList       = "list"
	actionInterview  = "feedback/depression/binary"
	actionDelete     = "delete"
	actionForget     = "forget"
	actionAgreement  = "agreement"
	actionTrial      = "calibrate/trial"
	actionOperations = "operations"
	actionKeys       = "keys"
	actionCreateKey  = "keys/create"
	actionRevokeKey  = "keys/revoke"
	actionSignIn     = "sign-in"
	actionSignOut    = "sign-out"
)

// A visit is one request that is being answered.
type visit struct {
	*console
	w       http.ResponseWriter
	r       *http.Request
	route   *route
	words   *words
	caller  httpadapter.Caller   // zero until known
	account *voicescreen.Account // of caller; nil until known
	signed  bool                 // whether caller is known
	browser *browser             // the sign-in; nil without one, and under Options.SignIn
	session string               // the session that the request is about; "" for none
	status  int                  // of the answer; 0 before it
	coming  *timedBody           // the body of the request; nil until it is read
}

// ctx returns the context of the request.
func (v *visit) ctx() context.Context { return v.r.Context() }

const (
	// maxForm is the maximum size of a form in bytes. Chosen: several times the longest.
	maxForm = 64 << 10

	// formTime is the maximum time to receive a form. As httpadapter.Limits.BodyTime.
	formTime = 10 * time.Second
)

// form reads the form of the request.
func (v *visit) form() error {
	v.timed(v.opts.Upload.StallTime, formTime)
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		return fault{http.StatusBadRequest, "error.form"}
	}
	return nil
}

// trimmed returns the value of a field of the form without the space around it.
func (v *visit) trimmed(name string) string { return strings.TrimSpace(v.r.PostForm.Get(name)) }

// begin returns an error before an act that could not be recorded. It records an erasure
// before it happens.
func (v *visit) begin() error {
	if v.opts.Audit == nil || v.route.action == "" {
		return nil
	}
	if v.route.action == actionDelete || v.route.action == actionForget {
		return v.record("begun")
	}
	return v.opts.Audit.Err()
}

// engineID is the form of the identifiers that an engine makes by default.
var engineID = regexp.MustCompile(`^[a-z2-7]{32}$`)

// record adds the act to the audit log, and returns when that is durable.
func (v *visit) record(outcome string) error {
	if v.opts.Audit == nil || v.route.action == "" {
		return nil
	}
	e := audit.Event{Account: v.caller.Account, Key: v.caller.ID, Action: v.route.action, Outcome: outcome}
	switch outcome {
	case "200", "303", "409": // to a caller the session exists; another text in the address may be anything
		if v.signed {
			e.Session = v.session
		}
	}
	if engineID.MatchString(v.session) {
		e.Session = v.session
	}
	err := v.opts.Audit.Append(e)
	if err != nil { // the log of the process is the only trace
		v.opts.Logger.Error("not audited", "error", err, "account", e.Account, "key", e.Key, "action", e.Action, "outcome", outcome)
	}
	return err
}

// send answers the request, after the act is recorded.
func (v *visit) send(status int, contentType string, body []byte) error {
	if err := v.record(strconv.Itoa(status)); err != nil {
		v.status = http.StatusInternalServerError
		v.w.Header().Del("Location")
		v.w.Header().Del("Set-Cookie")
		http.Error(v.w, "internal server error", v.status)
		return nil
	}
	v.status = status
	v.w.Header().Set("Content-Type", contentType)
	v.w.WriteHeader(status)
	v.w.Write(body) // an error means that the client has disconnected
	return nil
}

// page answers with a page: the template of its name with the data.
func (v *visit) page(status int, name string, data any) error {
	var buf bytes.Buffer
	if err := render(&buf, name, &view{visit: v, Page: name, Data: data}); err != nil {
		return err
	}
	return v.send(status, "text/html; charset=utf-8", buf.Bytes())
}

// redirect sends the browser to a path of the console, by GET.
func (v *visit) redirect(path string) error { return v.leave(v.url(path)) }

// leave sends the browser to an address, by GET. A script that asked for JSON gets the
// address in the body.
func (v *visit) leave(address string) error {
	if v.wantsJSON() {
		return v.json(http.StatusOK, map[string]string{"location": address})
	}
	v.w.Header().Set("Location", address)
	return v.send(http.StatusSeeOther, "text/plain; charset=utf-8", nil)
}

// wantsJSON says whether a script sent the request, which reads the answer.
func (v *visit) wantsJSON() bool { return v.r.Header.Get("Accept") == "application/json" }

func (v *visit) json(status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return v.send(status, "application/json", text)
}

// A fault is an error that is shown: a status and the name of its text.
type fault struct {
	status int
	text   string
}

// Error returns the name of the text.
func (f fault) Error() string { return f.text }

var (
	errNotFound    = fault{http.StatusNotFound, "error.not-found"}
	errForbidden   = fault{http.StatusForbidden, "error.forbidden"}
	errCrossOrigin = fault{http.StatusForbidden, "error.cross-origin"}
	errGone        = fault{499, "error.gone"} // the status that nginx and httpadapter log
	errInternal    = fault{http.StatusInternalServerError, "error.internal"}
)

// faults says how errors of the engine are shown, the first that matches.
var faults = []struct {
	is    error
	shown fault
}{
	{voicescreen.ErrNotFound, errNotFound},
	{voicescreen.ErrConsent, fault{http.StatusUnprocessableEntity, "error.consent"}},
	{voicescreen.ErrTooLate, fault{http.StatusConflict, "error.too-late"}},
	{voicescreen.ErrConflict, fault{http.StatusConflict, "error.conflict"}},
	{voicescreen.ErrInvalid, fault{http.StatusUnprocessableEntity, "error.invalid"}},
	{voicescreen.ErrTooLarge, fault{http.StatusRequestEntityTooLarge, "error.too-large"}},
	{voicescreen.ErrAudio, fault{http.StatusUnprocessableEntity, "error.audio"}},
	{voicescreen.ErrUpload, fault{http.StatusBadRequest, "error.upload"}},
	{voicescreen.ErrBusy, fault{http.StatusServiceUnavailable, "error.busy"}},
	{voicescreen.ErrFull, fault{http.StatusServiceUnavailable, "error.busy"}},
	{voicescreen.ErrUnavailable, fault{http.StatusServiceUnavailable, "error.busy"}},
	{voicescreen.ErrClosed, fault{http.StatusServiceUnavailable, "error.busy"}},
	{store.ErrUnavailable, fault{http.StatusServiceUnavailable, "error.busy"}},
}

// shown returns how an error is shown. Internal errors show nothing of their text.
func shown(err error) fault {
	var f fault
	if errors.As(err, &f) {
		return f
	}
	for _, known := range faults {
		if errors.Is(err, known.is) {
			return known.shown
		}
	}
	return errInternal
}

// fail answers with an error.
func (v *visit) fail(err error) {
	if errors.Is(err, httpadapter.ErrUnauthenticated) {
		v.sendAway()
		return
	}
	f := shown(err)
	if errors.Is(err, context.Canceled) && v.ctx().Err() != nil { // the browser left the page
		f = errGone
	}
	if f == errInternal {
		v.opts.Logger.Error("internal error", "error", err)
	}
	if f.status == http.StatusServiceUnavailable {
		v.w.Header().Set("Retry-After", "5")
	}
	if v.wantsJSON() {
		v.json(f.status, map[string]string{"message": v.words.text(f.text)})
		return
	}
	if err := v.page(f.status, "error", f.text); err != nil {
		v.opts.Logger.Error("internal error", "error", err)
		v.send(http.StatusInternalServerError, "text/plain; charset=utf-8", []byte("internal server error"))
	}
}

// sendAway answers who is not signed in: with the page to sign in. A script is told, so
// that it keeps what it has.
func (v *visit) sendAway() {
	if v.wantsJSON() {
		v.json(http.StatusUnauthorized, map[string]string{"message": v.words.text("error.signed-out")})
		return
	}
	if v.opts.SignIn != "" {
		v.leave(v.opts.SignIn)
		return
	}
	v.redirect("sign-in")
}
