package store_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/store"
)

func TestKindsAreReadAsTheyAreWritten(t *testing.T) {
	type kind interface {
		MarshalText() ([]byte, error)
		String() string
	}
	for _, c := range []struct {
		name  string
		last  uint8
		value func(v uint8) kind
		read  func(b []byte) (uint8, error)
	}{
		{"State", uint8(store.Failed), func(v uint8) kind { return store.State(v) },
			func(b []byte) (uint8, error) { var s store.State; err := s.UnmarshalText(b); return uint8(s), err }},
		{"Product", uint8(store.Deepfake), func(v uint8) kind { return store.Product(v) },
			func(b []byte) (uint8, error) { var p store.Product; err := p.UnmarshalText(b); return uint8(p), err }},
		{"Interview", uint8(store.InterviewUndecided), func(v uint8) kind { return store.Interview(v) },
			func(b []byte) (uint8, error) { var i store.Interview; err := i.UnmarshalText(b); return uint8(i), err }},
	} {
		seen := map[string]bool{}
		for v := uint8(1); v <= c.last; v++ {
			text, err := c.value(v).MarshalText()
			if err != nil || string(text) != c.value(v).String() || seen[string(text)] {
				t.Errorf("%s %d: got text %q and error %v, want a name of its own", c.name, v, text, err)
			}
			seen[string(text)] = true
			if got, err := c.read(text); got != v || err != nil {
				t.Errorf("%s %q: read as %d with error %v, want %d", c.name, text, got, err, v)
			}
		}
		for _, v := range []uint8{0, c.last + 1, 255} {
			if text, err := c.value(v).MarshalText(); err == nil {
				t.Errorf("%s %d: got text %q, want an error", c.name, v, text)
			}
			if name := c.value(v).String(); !strings.HasPrefix(name, c.name+"(") {
				t.Errorf("%s %d: got name %q", c.name, v, name)
			}
		}
		if _, err := c.read([]byte("none of them")); err == nil {
			t.Errorf("%s: got no error for a name of none", c.name)
		}
	}
}

func TestEachProductHasCategories(t *testing.T) {
	for p := store.DepressionAnxiety; p <= store.Deepfake; p++ {
		if len(p.Categories()) == 0 {
			t.Errorf("%v has no categories", p)
		}
		if got, want := p.Binary(), p == store.DepressionBinary || p == store.Deepfake; got != want {
			t.Errorf("%v: got binary %v, want %v", p, got, want)
		}
	}
	if got := store.Product(0).Categories(); got != nil {
		t.Errorf("got categories %v of no product", got)
	}
}

func TestFinalStates(t *testing.T) {
	for s := store.Initiated; s <= store.Failed; s++ {
		if got, want := s.Final(), s >= store.Succeeded; got != want {
			t.Errorf("%v: got final %v, want %v", s, got, want)
		}
	}
}

func TestCursorsAreInTheOrderOfAListing(t *testing.T) {
	now := time.Now()
	order := []store.Cursor{{now, "b"}, {now.Add(-1), "a"}, {now.Add(-1), "aa"}, {now.Add(-1), "b"}, {now.Add(-2), "a"}}
	for i, a := range order {
		for j, b := range order {
			if got := a.Before(b); got != (i < j) {
				t.Errorf("%v before %v: got %v", a, b, got)
			}
		}
	}
}

func TestErrorsOfARecordHoldNothingOfIt(t *testing.T) {
	s := &store.Session{Account: "canary", ID: strings.Repeat("canary", 100), UserID: "canary", State: store.Failed}
	moved := *s
	moved.UserID = "canary too"
	for _, err := range []error{s.Check(), s.CheckChange(&moved), s.CheckNext(s)} {
		if !errors.Is(err, store.ErrInvalid) || strings.Contains(err.Error(), "canary") {
			t.Errorf("got error %v, want %v without the record's content", err, store.ErrInvalid)
		}
	}
}

func TestCallsAreCountedUntilTheyEnd(t *testing.T) {
	var calls store.Calls
	if err := calls.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	var ended atomic.Bool
	time.AfterFunc(20*time.Millisecond, func() {
		ended.Store(true)
		calls.End()
	})
	if err := calls.Close(); err != nil || !ended.Load() {
		t.Errorf("Close returned %v, and the call had ended: %v", err, ended.Load())
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ctx := range []context.Context{t.Context(), done} {
		if err := calls.Begin(ctx); !errors.Is(err, store.ErrClosed) {
			t.Errorf("Begin after Close: got error %v, want %v", err, store.ErrClosed)
		}
	}
	if err := calls.Close(); !errors.Is(err, store.ErrClosed) {
		t.Errorf("second Close: got error %v, want %v", err, store.ErrClosed)
	}
}
