package httpadapter

import (
	"fmt"
	"slices"
)

// Scope is what a key may be used for.
type Scope uint8

const (
	ScopeInitiate Scope = iota + 1 // open sessions
	ScopeSubmit                    // submit recordings
	ScopeRead                      // read results
	ScopeFeedback                  // attach labels
	ScopeAdmin                     // erase sessions and users
)

var scopeNames = []string{"initiate", "submit", "read", "feedback", "admin"}

// DefaultScopes are those of a key for which none are named: all but
// ScopeAdmin.
func DefaultScopes() []Scope {
	return []Scope{ScopeInitiate, ScopeSubmit, ScopeRead, ScopeFeedback}
}

// ParseScope returns the scope of a name, such as "initiate".
func ParseScope(name string) (Scope, error) {
	i := slices.Index(scopeNames, name)
	if i < 0 {
		return 0, fmt.Errorf("httpadapter: unknown scope %q, want one of %v", name, scopeNames)
	}
	return Scope(i + 1), nil
}

func (s Scope) valid() bool { return s >= ScopeInitiate && s <= ScopeAdmin }

func (s Scope) String() string {
	if !s.valid() {
		return fmt.Sprintf("Scope(%d)", uint8(s))
	}
	return scopeNames[s-1]
}

func (s Scope) MarshalText() ([]byte, error) {
	if !s.valid() {
		return nil, fmt.Errorf("httpadapter: %d is no scope", uint8(s))
	}
	return []byte(scopeNames[s-1]), nil
}

func (s *Scope) UnmarshalText(b []byte) (err error) {
	*s, err = ParseScope(string(b))
	return err
}
