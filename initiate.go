package voicescreen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// InitiateRequest opens a session.
type InitiateRequest struct {
	UserID   string          // the caller's identifier of the person; required
	Consent  bool            // whether the person consented to the processing of the recording
	Metadata screen.Metadata // optional
}

// Initiate opens a session for one prediction and returns its identifier.
//
// The error is an InvalidError with every field at fault; or one of the account,
// if its name is not UTF-8 without NUL of at most screen.MaxAccount bytes; or
// else, if consent was not given, ErrConsent: then nothing at all is stored.
func (a *flow) Initiate(ctx context.Context, r InitiateRequest) (sessionID string, err error) {
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
	ctx, leave, err := e.life.enter(ctx)
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
	const tries = 3 // newID never makes one identifier twice; the caller's NewID may
	for range tries {
		s.ID = e.opts.NewID()
		if err = e.store.Create(ctx, s); !errors.Is(err, store.ErrExists) {
			break
		}
	}
	if err != nil {
		return "", internal("create a session", err)
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
	for _, name := range r.Metadata.Invalid() {
		fields["metadata."+name] = Malformed
	}
	if len(fields) == 0 {
		return nil
	}
	return &InvalidError{Fields: fields}
}

// userIDProblem returns what is wrong with a user identifier, or "". It must be
// UTF-8 without control characters, which logs and tables cannot show, of 1 to
// MaxUserID bytes.
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
