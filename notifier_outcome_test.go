package voicescreen_test

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// TestOutcomesOfNotices has one notice that is delivered, one that fails, one
// whose last attempt fails and one that is too old.
func TestOutcomesOfNotices(t *testing.T) {
	st, now := newMemory(t), newClock()
	at := now.Now()
	for id, s := range map[string]store.Session{
		"failed": {UpdatedAt: at, Notices: 1}, "last": {UpdatedAt: at, Notices: 9}, "old": {UpdatedAt: at.Add(-8 * 24 * time.Hour)},
	} {
		s.ID, s.UserID, s.Account, s.Status, s.Notify, s.CreatedAt = id, "u", id, screen.StatusSuccess, at, s.UpdatedAt
		if err := st.Create(t.Context(), &s); err != nil {
			t.Fatal(err)
		}
	}
	good := &store.Session{ID: "good", UserID: "u", Account: "good", Status: screen.StatusSuccess, Notify: at, CreatedAt: at, UpdatedAt: at}
	if err := st.Create(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	fails := inbox{fail: true}
	in := inbox{}
	opts := in.options(st, now, "good", "failed", "last", "old")
	send := opts.Results.Notify.Send
	opts.Results.Notify.Send = func(ctx context.Context, n voicescreen.Notice) error {
		if n.Account == "good" {
			return send(ctx, n)
		}
		return fails.send(ctx, n)
	}
	type outcome struct {
		id      string
		attempt int
		failed  bool
		dropped bool
	}
	var mu sync.Mutex // protects got
	var got []outcome
	opts.Results.Notify.Outcome = func(n voicescreen.Notice, err error, dropped bool) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, outcome{n.SessionID, n.Attempt, err != nil, dropped})
		panic("a mistake of the program that embeds the engine")
	}
	newEngine(t, st, opts)
	want := []outcome{{"failed", 2, true, false}, {"good", 1, false, false}, {"last", 10, true, true}, {"old", 0, true, true}}
	eventually(t, "not every notice has an outcome", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(got) >= len(want)
	})
	mu.Lock()
	defer mu.Unlock()
	slices.SortFunc(got, func(a, b outcome) int { return cmp.Compare(a.id, b.id) })
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
