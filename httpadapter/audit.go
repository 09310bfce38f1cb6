package httpadapter

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/audit"
)

// statusGone is that of a request whose client left before it was answered. The
// number is nginx's. It is sent, too: who closed only its own side of the
// connection still reads, and without an answer net/http makes one of status 200.
const statusGone = 499

var gone = refuse(statusGone, "the connection was closed before the answer")

// The outcomes in the audit log that are no status.
const (
	outcomeBegun = "begun" // before something is erased
	outcomeNone  = "none"  // the request was broken off

	actionRetention = "retention" // what the engine erases after ResultOptions.Retain, and its outcome
	outcomeErased   = "erased"
)

// AuditErased returns a voicescreen.ResultOptions.Erased that records each
// session that was erased because its time was over: its account, with the
// action "retention" and the outcome "erased", and no key. While the log takes
// no records nothing is erased.
func AuditErased(l *audit.Log) func(sessions []voicescreen.SessionKey) error {
	return func(sessions []voicescreen.SessionKey) error {
		errs := make([]error, 1+len(sessions))
		errs[0] = l.Err()
		var all sync.WaitGroup // they share what the disk is asked
		for i, s := range sessions {
			e := audit.Event{Account: s.Account, Action: actionRetention, Session: recordable(s.ID), Outcome: outcomeErased}
			all.Go(func() { errs[1+i] = l.Append(e) })
		}
		all.Wait()
		return errors.Join(errs...)
	}
}

// auditable refuses a call that could not be recorded, before it has an effect.
// What is going to erase something is recorded before it does, too.
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

// audit records a call with its outcome and returns when that is durable. Calls
// that need no key are not recorded.
func (a *adapter) audit(c *call, outcome string) error {
	if a.opts.Audit == nil || c.route != nil && c.route.scope == 0 {
		return nil
	}
	e := audit.Event{Account: c.key.Account, Key: c.key.ID, Action: c.action(), Session: c.known(outcome), Outcome: outcome}
	err := a.opts.Audit.Append(e)
	if err != nil { // the last place where it can be seen
		c.log.Error("not audited", "error", err, "account", e.Account, "key", e.Key, "action", e.Action, "session", e.Session, "outcome", outcome)
	}
	return err
}

// action is what a call is called in the audit log.
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

// engineID is the form of the identifiers that an engine makes unless it is
// told otherwise.
var engineID = regexp.MustCompile(`^[a-z2-7]{32}$`)

// known is the session of a call as the audit log may have it. Callers may send
// anything as a session's identifier, also a name by mistake: one is recorded
// only if the outcome says that there is such a session, or if it has the form
// of one.
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

// recordable is an identifier as the audit log takes it.
func recordable(id string) string { return strings.ToValidUTF8(id[:min(len(id), maxSession)], "") }

// maxSession is how much of an identifier is recorded, in bytes: what the audit
// log takes.
const maxSession = 256
