package bolt

import (
	"bytes"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/voicescreen/voicescreen/store"
)

// times draws times of the years 1 to 9999, often equal ones.
func times() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		sec := rapid.OneOf(rapid.Int64Range(-62135596800, 253402300799), rapid.Int64Range(-1, 1)).Draw(t, "seconds")
		return time.Unix(sec, rapid.OneOf(rapid.Int64Range(0, 999_999_999), rapid.Int64Range(0, 1)).Draw(t, "nanoseconds")).UTC()
	})
}

func TestKeysSortAsTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := times().Draw(t, "a"), times().Draw(t, "b")
		if got, want := bytes.Compare(appendTime(nil, a), appendTime(nil, b)), a.Compare(b); got != want {
			t.Errorf("%v and %v: got order %d, want %d", a, b, got, want)
		}
		if got := keyTime(appendTime(nil, a)); !got.Equal(a) {
			t.Errorf("got time %v back, want %v", got, a)
		}
		c := store.Cursor{CreatedAt: a, ID: rapid.StringN(0, 3, 9).Draw(t, "first ID")}
		d := store.Cursor{CreatedAt: b, ID: rapid.StringN(0, 3, 9).Draw(t, "second ID")}
		if got, want := bytes.Compare(plain.userKey("a", "u", c), plain.userKey("a", "u", d)) < 0, c.Before(d); got != want {
			t.Errorf("%v and %v: got before %v, want %v", c, d, got, want)
		}
	})
}

func TestKeysOfDifferentSessionsDiffer(t *testing.T) {
	small := rapid.StringOfN(rapid.RuneFrom([]rune{'a', 'b', 0}), 0, 3, -1) // so that concatenations often agree
	rapid.Check(t, func(t *rapid.T) {
		type name struct{ account, other string }
		a, b := name{small.Draw(t, "account"), small.Draw(t, "name")}, name{small.Draw(t, "other account"), small.Draw(t, "other name")}
		if same := bytes.Equal(plain.userPrefix(a.account, a.other), plain.userPrefix(b.account, b.other)); same != (a == b) {
			t.Errorf("users %q and %q: got the same prefix %v", a, b, same)
		}
		k, l := plain.primaryKey(a.account, a.other), plain.primaryKey(b.account, b.other)
		if a.other == "" || b.other == "" {
			if a.other == "" && k != nil || b.other == "" && l != nil {
				t.Errorf("got a key for no ID")
			}
			return
		}
		if same := bytes.Equal(k, l); same != (a == b) {
			t.Errorf("sessions %q and %q: got the same key %v", a, b, same)
		}
		if isPrimary(k, idPrefix(l)) != (a.other == b.other) {
			t.Errorf("sessions %q and %q: got the same ID %v", a, b, a.other != b.other)
		}
	})
}

// plain makes the keys of plain stores.
var plain *vault
