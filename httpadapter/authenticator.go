package httpadapter

import (
	"errors"
	"net/http"
	"slices"

	"github.com/voicescreen/voicescreen/store"
)

// Authenticator identifies the sender of a request. [Keys] is one, for API keys in the
// header X-API-Key; a program with users, tokens or client certificates of its own
// gives New another one. It must be safe for concurrent use.
type Authenticator interface {
	// Authenticate returns the caller of a request, from its header, its TLS
	// state or its context. It must not read the body.
	//
	// An error that wraps ErrUnauthenticated is answered 403, and its text is the
	// message of the answer. The Caller beside it may hold what is known, such as
	// the ID of expired credentials: it is recorded in the log and in the audit
	// log. Any other error is internal: it is answered 500 and logged, or 503 if
	// it wraps voicescreen.ErrBusy, voicescreen.ErrClosed or store.ErrUnavailable.
	//
	// If the Authenticator has a method Check() error as well, /readyz calls it and
	// is 503 after an error.
	Authenticate(r *http.Request) (Caller, error)
}

// AuthenticatorFunc is an Authenticator that is a function.
type AuthenticatorFunc func(r *http.Request) (Caller, error)

// Authenticate calls f.
func (f AuthenticatorFunc) Authenticate(r *http.Request) (Caller, error) { return f(r) }

// Caller is who sent a request, and what it may do.
type Caller struct {
	// Account is the name of the account whose sessions the caller sees:
	// Engine.Tenant. It is recorded in the log and in the audit log.
	Account string

	// ID names the credentials in the log and in the audit log, and requests of
	// one ID share their limits. It must not be secret. It should name a client or
	// a user, not a single token: the limits take memory for each ID. Default: the
	// name of the account.
	ID string

	// Scopes are the permissions of the caller. A call without its scope is
	// answered 401. Default: none.
	Scopes []Scope
}

// Allows returns whether the caller has the scope.
func (c *Caller) Allows(s Scope) bool { return slices.Contains(c.Scopes, s) }

// ErrUnauthenticated says that a request has no valid credentials.
var ErrUnauthenticated = errors.New("not authenticated")

// keyError is why a key is refused. It is ErrUnauthenticated.
type keyError string

const (
	errMissingKey keyError = "missing API key"
	errInvalidKey keyError = "invalid API key"
)

// Error returns the message of the answer.
func (e keyError) Error() string { return string(e) }

// Is says whether target is ErrUnauthenticated.
func (e keyError) Is(target error) bool { return target == ErrUnauthenticated }

// Authenticate returns the account and the scopes of the key in the header
// X-API-Key. Its time does not depend on the secret. The error wraps
// store.ErrUnavailable while the server that holds the keys cannot be asked for a key
// that this process does not know.
func (k *Keys) Authenticate(r *http.Request) (Caller, error) {
	key := r.Header.Get("X-API-Key")
	if key == "" {
		return Caller{}, errMissingKey
	}
	info, live, err := k.find(key)
	if errors.Is(err, store.ErrUnavailable) {
		return Caller{}, err // the key may be new
	}
	caller := Caller{Account: info.Account, ID: info.ID, Scopes: info.Scopes}
	if !live {
		return caller, errInvalidKey
	}
	return caller, nil
}

// authenticate sets the caller and the account of a call.
func (a *adapter) authenticate(c *call) error {
	caller, err := a.callers.Authenticate(c.r)
	if caller.ID == "" {
		caller.ID = caller.Account
	}
	c.caller = caller
	switch {
	case errors.Is(err, ErrUnauthenticated):
		return refuse(http.StatusForbidden, err.Error())
	case err != nil:
		return err
	}
	c.account = a.engine.Tenant(caller.Account)
	return nil
}
