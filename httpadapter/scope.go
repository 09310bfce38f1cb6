package httpadapter

import (
	"fmt"
	"slices"
)

// Scope is a permission of a key. The zero value is invalid.
type Scope uint8

const (
	ScopeInitiate Scope = iota + 1 // open sessions
	ScopeSubmit                    // submit recordings
	ScopeRead                      // read results
	ScopeFeedback                  // attach labels
	ScopeAdmin                     // erase sessions and users
)

var scopeNames = []string{"initiate", "submit", "read", "feedback", "admin"}

// DefaultScopes returns the scopes of a key that is created without a list of
// scopes: all but ScopeAdmin.
func DefaultScopes() []Scope {
	return []Scope{ScopeInitiate, ScopeSubmit, ScopeRead, ScopeFeedback}
}

// ParseScope returns the scope with a name, such as "initiate", or an error for an
// unknown name.
func ParseScope(name string) (Scope, error) {
	i := slices.Index(scopeNames, name)
	if i < 0 {
		return 0, fmt.Errorf("httpadapter: unknown scope %q, want one of %v", name, scopeNames)
	}
	return Scope(i + 1), nil
}

func (s Scope) valid() bool { return s >= ScopeInitiate && s <= ScopeAdmin }

// String returns the name of the scope.
func (s Scope) String() string {
	if !s.valid() {
		return fmt.Sprintf("Scope(%d)", uint8(s))
	}
	return scopeNames[s-1]
}

// MarshalText returns the name of the scope, or an error for an invalid scope.
func (s Scope) MarshalText() ([]byte, error) {
	if !s.valid() {
		return nil, fmt.Errorf("httpadapter: invalid scope %d", uint8(s))
	}
	return []byte(scopeNames[s-1]), nil
}

// UnmarshalText is ParseScope.
func (s *Scope) UnmarshalText(b []byte) (err error) {
	*s, err = ParseScope(string(b))
	return err
}
