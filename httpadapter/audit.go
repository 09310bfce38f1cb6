package httpadapter

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/screen"
)

// statusGone is the status of a request whose client disconnected before the
// answer, as in nginx. The answer is sent: a client that closed only its side of
// the connection reads it, and without one net/http answers 200.
const statusGone = 499

var gone = refuse(statusGone, "the connection was closed before the answer")

// Outcomes in the audit log other than a status.
const (
	outcomeBegun = "begun" // before an erasure
	outcomeNone  = "none"  // the request ended without an answer

	actionRetention = "retention" // an erasure by the engine after ResultOptions.Retain
	outcomeErased   = "erased"
)

// AuditErased returns a voicescreen.ResultOptions.Erased that records each session
// that was erased after its retention time: its account, with the action
// "retention" and the outcome "erased", without a key. It returns an error while
// the log accepts no records, and the engine erases nothing then.
func AuditErased(l *audit.Log) func(sessions []screen.SessionKey) error {
	return func(sessions []screen.SessionKey) error {
		errs := make([]error, 1+len(sessions))
		errs[0] = l.Err()
		var all sync.WaitGroup // concurrent appends share one fsync
		for i, s := range sessions {
			e := audit.Event{Account: s.Account, Action: actionRetention, Session: recordable(s.ID), Outcome: outcomeErased}
			all.Go(func() { errs[1+i] = l.Append(e) })
		}
		all.Wait()
		return errors.Join(errs...)
	}
}

// auditable returns an error before a call that could not be recorded. It records
// an erasure before it happens.
func (a *adapter) auditable(c *call) error {
	if a.opts.Audit == nil || c.route.scope == 0 {
		return nil
	}
	err := a.opts.Audit.Err()
	if err == nil && c.route.method == http.MethodDelete {
		return a.audit(c, outcomeBegun)
	}
	return err
}

// audit records a call with its outcome and returns when the record is durable. A
// call that needs no key is not recorded.
func (a *adapter) audit(c *call, outcome string) error {
	if a.opts.Audit == nil || c.route != nil && c.route.scope == 0 {
		return nil
	}
	e := audit.Event{Account: c.caller.Account, Key: c.caller.ID, Action: c.action(), Session: c.known(outcome), Outcome: outcome}
	err := a.opts.Audit.Append(e)
	if err != nil { // the log of the process is the only trace
		c.log.Error("not audited", "error", err, "account", e.Account, "key", e.Key, "action", e.Action, "session", e.Session, "outcome", outcome)
	}
	return err
}

// action returns the name of a call in the audit log.
func (c *call) action() string {
	if c.route == nil {
		return "unknown"
	}
	switch c.route.scope {
	case ScopeRead:
		if strings.HasPrefix(c.route.path, "predict/users/") {
			return "list"
		}
		return "result"
	case ScopeAdmin:
		if strings.HasPrefix(c.route.path, "users/") {
			return "forget"
		}
		return "delete"
	case ScopeFeedback:
		return "feedback/" + strings.TrimPrefix(strings.TrimPrefix(c.route.path, "feedback/"), "server/")
	case anyScope: // one path for both
		if c.asks {
			return "result"
		}
		return ScopeSubmit.String()
	}
	return c.route.scope.String()
}

// engineID is the form of the identifiers that an engine makes by default.
var engineID = regexp.MustCompile(`^[a-z2-7]{32}$`)

// known returns the session of a call for the audit log, or "". A caller may send
// any text as the identifier of a session, a patient's name by mistake: it is
// recorded only if the outcome shows that the session exists, or if it has the
// form of an identifier.
func (c *call) known(outcome string) string {
	switch outcome {
	case "200", "201", "202", "204", "409", "417":
		return recordable(c.session)
	}
	if engineID.MatchString(c.session) {
		return c.session
	}
	return ""
}

// recordable returns an identifier in a form that the audit log accepts.
func recordable(id string) string { return strings.ToValidUTF8(id[:min(len(id), maxSession)], "") }

// maxSession is the maximum length of a recorded identifier in bytes, the limit of
// the audit log.
const maxSession = 256
