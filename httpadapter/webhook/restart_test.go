package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// TestNoticesSurviveARestart: the receiver is down when a session has its result,
// the process ends, and the next process sends the notice.
func TestNoticesSurviveARestart(t *testing.T) {
	r := newReceiver(t)
	r.set(http.StatusServiceUnavailable, nil)
	path := filepath.Join(t.TempDir(), "test.db")
	var mu sync.Mutex // protects now
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	opts := &voicescreen.Options{
		Workers: 1,
		Queue:   voicescreen.QueueOptions{Poll: 5 * time.Millisecond},
		Results: voicescreen.ResultOptions{Notify: r.sender.NotifyOptions()},
		Logger:  slog.New(slog.NewTextHandler(r.log, nil)),
	}
	st, engine := openAll(t, path, clock, opts)
	id := submitAs(t, engine.Tenant("clinic"), "canary")
	first := r.wait(t, 1)[0]
	for end := time.Now().Add(soon); ; time.Sleep(time.Millisecond) { // until the failure is stored
		s, err := st.Get(t.Context(), "clinic", id)
		if err != nil || time.Now().After(end) {
			t.Fatalf("the failure is not stored (%v)", err)
		}
		if s.Notices == 1 && s.Notify.Before(now.Add(30*time.Second)) {
			break
		}
	}
	closeAll(t, engine, st)

	r.set(http.StatusOK, nil)
	mu.Lock()
	now = now.Add(time.Minute)
	mu.Unlock()
	st, engine = openAll(t, path, clock, opts)
	second := r.wait(t, 2)[1]
	closeAll(t, engine, st)
	if !verify(t, second, r.secret) || !strings.Contains(string(second.body), `"session_id":"`+id+`"`) {
		t.Errorf("got body %s and header %v, want a signed notice of the session", second.body, second.header)
	}
	if a, b := first.header.Get("Webhook-Id"), second.header.Get("Webhook-Id"); a != b || !bytes.Equal(first.body, second.body) {
		t.Errorf("got id %q and then %q, want the same notice", a, b)
	}
	if log := r.log.String(); strings.Contains(log, "canary") || strings.Contains(log, "example.com") || !strings.Contains(log, "503") {
		t.Errorf("got log %s, want the failure and neither user nor address", log)
	}
}

func openAll(t *testing.T, path string, now func() time.Time, opts *voicescreen.Options) (store.Store, *voicescreen.Engine) {
	t.Helper()
	st, err := bolt.Open(path, &bolt.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := voicescreen.New(st, opts)
	if err != nil {
		t.Fatal(err)
	}
	return st, engine
}

func closeAll(t *testing.T, e *voicescreen.Engine, st store.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	if err := errors.Join(e.Close(ctx), st.Close()); err != nil {
		t.Fatal(err)
	}
}

// submitAs submits a recording of a user and returns the session.
func submitAs(t *testing.T, a *voicescreen.Account, user string) string {
	t.Helper()
	id, err := a.Initiate(t.Context(), voicescreen.InitiateRequest{UserID: user, Consent: true})
	if err != nil {
		t.Fatal(err)
	}
	recording, err := os.ReadFile("../../testdata/spoken_en.wav")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Submit(t.Context(), id, bytes.NewReader(recording), nil); err != nil {
		t.Fatal(err)
	}
	return id
}
