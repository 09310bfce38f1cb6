package screen

import (
	"fmt"
	"slices"
	"strings"
)

// Enum holds the names of the values 1, 2, … of an enumeration. The zero value
// of every enumeration of this module means "not given" and has no name. An Enum
// is immutable and safe for concurrent use.
type Enum[T ~uint8] struct {
	kind  string // such as "category"
	names []string
}

// NewEnum returns the Enum whose values 1, 2, … have these names. kind names the
// enumeration in errors, such as "category".
func NewEnum[T ~uint8](kind string, names ...string) Enum[T] { return Enum[T]{kind, names} }

// Valid reports whether v is one of the values; the zero value is not.
func (e Enum[T]) Valid(v T) bool { return v >= 1 && int(v) <= len(e.names) }

// String returns the name of v, or for an invalid value a text such as
// "category(9)".
func (e Enum[T]) String(v T) string {
	if !e.Valid(v) {
		return fmt.Sprintf("%s(%d)", e.kind, uint8(v))
	}
	return e.names[v-1]
}

// MarshalText returns the name of v. An invalid value is an error.
func (e Enum[T]) MarshalText(v T) ([]byte, error) {
	if !e.Valid(v) {
		return nil, fmt.Errorf("screen: %d is an invalid %s", uint8(v), e.kind)
	}
	return []byte(e.names[v-1]), nil
}

// Parse returns the value whose name is text. The error does not repeat the
// text, which may be about a patient.
func (e Enum[T]) Parse(text string) (T, error) {
	return e.find(func(name string) bool { return name == text })
}

// ParseFold is [Enum.Parse] for a text in upper or lower case.
func (e Enum[T]) ParseFold(text string) (T, error) {
	return e.find(func(name string) bool { return strings.EqualFold(name, text) })
}

func (e Enum[T]) find(is func(name string) bool) (T, error) {
	if i := slices.IndexFunc(e.names, is); i >= 0 {
		return T(i + 1), nil
	}
	return 0, fmt.Errorf("screen: unknown %s", e.kind)
}

// Unmarshal sets v to the value whose name is text, or to 0 with the error of
// [Enum.Parse].
func (e Enum[T]) Unmarshal(v *T, text []byte) (err error) {
	*v, err = e.Parse(string(text))
	return err
}
