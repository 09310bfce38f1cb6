package voicescreen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// Account is what one tenant sees of an Engine. The sessions and users of
// other accounts do not exist for it: asking for one is ErrNotFound, exactly
// as for what was never there. It is safe for concurrent use.
type Account struct {
	engine *Engine
	name   string
}

// Initiate opens a session for one prediction and returns its identifier.
//
// The error is an InvalidError with every field at fault, or of the account if
// its name is not UTF-8 without NUL of at most screen.MaxAccount bytes, or else,
// if consent was not given, ErrConsent: then nothing at all is stored.
func (a *Account) Initiate(ctx context.Context, r InitiateRequest) (sessionID string, err error) {
	if err := r.Validate(); err != nil {
		return "", err
	}
	if len(a.name) > screen.MaxAccount || !utf8.ValidString(a.name) || strings.ContainsRune(a.name, 0) {
		return "", malformed("account", fmt.Sprintf("the account's name has %d bytes, want UTF-8 without NUL of at most %d", len(a.name), screen.MaxAccount))
	}
	if !r.Consent {
		return "", ErrConsent
	}
	e := a.engine
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()

	s := &store.Session{
		Account:  a.name,
		UserID:   r.UserID,
		Metadata: r.Metadata,
		Status:   screen.StatusInitiated,
	}
	if r.Metadata.English != nil {
		english := *r.Metadata.English
		s.Metadata.English = &english
	}
	const tries = 3 // the random identifiers of newID never meet; those of a caller's NewID may
	for range tries {
		s.ID = e.opts.NewID()
		if err = e.store.Create(ctx, s); !errors.Is(err, store.ErrExists) {
			break
		}
	}
	if err != nil {
		return "", e.internal("create a session", err)
	}
	return s.ID, nil
}

// Validate returns nil, or an InvalidError that names every field at fault as
// the service does: "user_id", "metadata.age" and so on. It does not look at
// the consent.
func (r *InitiateRequest) Validate() error {
	fields := map[string]Problem{}
	if p := userIDProblem(r.UserID); p != "" {
		fields["user_id"] = p
	}
	malformed := func(name string, is bool) {
		if is {
			fields["metadata."+name] = Malformed
		}
	}
	m := &r.Metadata
	malformed("age", m.Age < 0)
	malformed("gender", m.Gender != 0 && !marshals(m.Gender))
	malformed("race", m.Race != 0 && !marshals(m.Race))
	malformed("ethnicity", m.Ethnicity != 0 && !marshals(m.Ethnicity))
	malformed("zipcode", m.Zipcode != "" && !isZipcode(m.Zipcode))
	malformed("weight", m.Weight < 0)
	if len(fields) == 0 {
		return nil
	}
	return &InvalidError{Fields: fields}
}

// marshals says whether a kind has the value v.
func marshals(v interface{ MarshalText() ([]byte, error) }) bool {
	_, err := v.MarshalText()
	return err == nil
}

// isZipcode matches ^[0-9]{5}$.
func isZipcode(s string) bool {
	return len(s) == 5 && !slices.ContainsFunc([]byte(s), func(c byte) bool { return c < '0' || c > '9' })
}

// userIDProblem says what keeps s from being a user identifier: any UTF-8 but
// control characters, which have no place in logs and tables, of 1 to
// MaxUserID bytes. "" is no problem.
func userIDProblem(s string) Problem {
	switch {
	case s == "":
		return Unprovided
	case len(s) > screen.MaxUserID, !utf8.ValidString(s), slices.ContainsFunc([]rune(s), unicode.IsControl):
		return Malformed
	}
	return ""
}

func checkUserID(s string) error {
	if p := userIDProblem(s); p != "" {
		return &InvalidError{Fields: map[string]Problem{"user_id": p}}
	}
	return nil
}

// Result returns what is known of a session. One that waits for its audio has
// StatusInitiated. The error is ErrNotFound where the account has no such
// session. The Result is the caller's.
func (a *Account) Result(ctx context.Context, sessionID string) (*Result, error) {
	ctx, leave, err := a.engine.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	s, err := a.get(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	return newResult(s), nil
}

func (a *Account) get(ctx context.Context, sessionID string) (*store.Session, error) {
	s, err := a.engine.store.Get(ctx, a.name, sessionID)
	if err != nil {
		return nil, a.engine.internal("get a session", err)
	}
	return s, nil
}

// head reads a session without its scores and features.
func (a *Account) head(ctx context.Context, sessionID string) (*store.Session, error) {
	s, err := a.engine.store.Head(ctx, a.name, sessionID)
	if err != nil {
		return nil, a.engine.internal("get a session", err)
	}
	return s, nil
}

// Wait returns the result of a session once it is final: StatusSuccess or
// StatusFailed. It waits for the submission too if that has not come. The
// error is ErrNotFound where the account has no such session or it was
// deleted meanwhile, ctx's error if that is done first, ErrClosed when the
// engine closes.
func (a *Account) Wait(ctx context.Context, sessionID string) (*Result, error) {
	e := a.engine
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	w := e.watchers.add(a.name, sessionID)
	defer e.watchers.remove(w)
	poll := time.NewTicker(e.opts.Queue.Poll)
	defer poll.Stop()
	for {
		s, err := a.head(ctx, sessionID)
		if err != nil {
			return nil, err
		}
		if s.Status.Final() {
			if s, err = a.get(ctx, sessionID); err != nil {
				return nil, err
			}
			return newResult(s), nil
		}
		select {
		case <-w.wake:
		case <-poll.C:
		case <-e.closing:
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Delete erases a session: its record, its audio, its scores and labels. If it
// is being analysed, the result is dropped. The error is ErrNotFound where the
// account has no such session.
func (a *Account) Delete(ctx context.Context, sessionID string) error {
	e := a.engine
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := e.store.Delete(ctx, a.name, sessionID); err != nil {
		return e.internal("delete a session", err)
	}
	e.watchers.wakeOne(a.name, sessionID)
	return nil
}

// Forget erases every trace of a user of the account: all sessions, with
// audio, scores and labels. Results of analyses under way are dropped. A user
// who was never there is no error.
func (a *Account) Forget(ctx context.Context, userID string) error {
	if err := checkUserID(userID); err != nil {
		return err
	}
	e := a.engine
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if _, err := e.store.Forget(ctx, a.name, userID); err != nil {
		return e.internal("forget a user", err)
	}
	e.watchers.wakeAll()
	return nil
}

// newResult is what a caller sees of a session. It takes over the memory of s,
// which must be a record of its own.
func newResult(s *store.Session) *Result {
	r := &Result{
		SessionID:   s.ID,
		UserID:      s.UserID,
		Product:     s.Product,
		Status:      s.Status,
		CreatedAt:   s.CreatedAt,
		UpdatedAt:   s.UpdatedAt,
		SubmittedAt: s.SubmittedAt,
		Scores:      s.Scores,
		Features:    s.Features,
		Failure:     s.Failure,
		Labels:      s.Labels,
	}
	if s.Status == screen.StatusSuccess {
		r.Calibrated = len(s.Scores) > 0
		for i := range s.Scores {
			r.Calibrated = r.Calibrated && s.Scores[i].Calibrated
		}
	}
	return r
}
