package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// A notice whose session cannot be read holds up no other, and is not logged at
// every look.
func TestADamagedNoticeIsPassedOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	now := newClock()
	st, err := bolt.Open(path, &bolt.Options{Now: now.Now})
	if err != nil {
		t.Fatal(err)
	}
	at := now.Now()
	for _, id := range []string{"damaged", "whole"} {
		s := &store.Session{ID: id, UserID: "u", Status: screen.StatusSuccess, CreatedAt: at, UpdatedAt: at, Notify: at}
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, path, "damaged")
	var in inbox
	var log bytes.Buffer
	opts := in.options(nil, now, "")
	opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
	e := open(t, path, opts)
	if got := in.wait(t, 1); got[0].SessionID != "whole" {
		t.Errorf("got %+v, want the notice that can be read", got[0])
	}
	time.Sleep(100 * time.Millisecond) // four looks at what is due
	closeEngine(t, e)
	if n := strings.Count(log.String(), "take a notice"); n != 1 {
		t.Errorf("got %d lines of the notice that cannot be read, want one a minute:\n%s", n, &log)
	}
}

func TestAPanicOfSendIsAFailedAttempt(t *testing.T) {
	st := newMemory(t)
	var in inbox
	now := newClock()
	opts := in.options(st, now, "")
	opts.Results.Notify.Send = func(context.Context, voicescreen.Notice) error { panic("canary") }
	e := newEngine(t, st, opts)
	id := initiate(t, e, "u")
	submit(t, e, id, tiny)
	if s := settled(t, st, id, 1, now.Now()); s.Notices != 1 || s.Notify.IsZero() {
		t.Errorf("got %d attempts and the next at %v, want 1 and another", s.Notices, s.Notify)
	}
}

func TestHalfANotifierIsRefused(t *testing.T) {
	var in inbox
	for _, n := range []voicescreen.NotifyOptions{{Send: in.send}, {Accounts: func() []string { return nil }}} {
		opts := testOptions()
		opts.Results.Notify = n
		if _, err := voicescreen.New(newMemory(t), opts); !errors.Is(err, voicescreen.ErrInvalid) {
			t.Errorf("got error %v, want %v", err, voicescreen.ErrInvalid)
		}
	}
}

func TestAnOldNoticeIsDropped(t *testing.T) {
	st := newMemory(t)
	var in inbox
	now := newClock()
	at := now.Now()
	if err := st.Create(t.Context(), &store.Session{ID: "s", UserID: "u", Status: screen.StatusSuccess, CreatedAt: at, UpdatedAt: at, Notify: at}); err != nil {
		t.Fatal(err)
	}
	now.Add(8 * 24 * time.Hour)
	newEngine(t, st, in.options(st, now, ""))
	for end := time.Now().Add(soon); ; time.Sleep(time.Millisecond) {
		if s, err := st.Get(t.Context(), "", "s"); err != nil || s.Notify.IsZero() {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the notice is still there")
		}
	}
	if got := in.notices(); len(got) > 0 {
		t.Errorf("got %d notices, want none", len(got))
	}
}
