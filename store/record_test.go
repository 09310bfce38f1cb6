package store_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

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

func TestErrorsContainNothingOfTheRecord(t *testing.T) {
	s := &store.Session{Account: "canary", ID: strings.Repeat("canary", 100), UserID: "canary", Status: screen.StatusFailed}
	moved := *s
	moved.UserID = "canary too"
	for _, err := range []error{s.Check(), s.CheckChange(&moved), s.CheckNext(s)} {
		if !errors.Is(err, store.ErrInvalid) || strings.Contains(err.Error(), "canary") {
			t.Errorf("got error %v, want %v without the record's content", err, store.ErrInvalid)
		}
	}
}

func TestCloseWaitsForCalls(t *testing.T) {
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
		t.Errorf("Close returned %v, and the call had ended: %v, want nil after its end", err, ended.Load())
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
