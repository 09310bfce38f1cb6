package voicescreen_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// partlyDamaged is a store one of whose records cannot be read.
type partlyDamaged struct{ store.Store }

func (s partlyDamaged) Scan(ctx context.Context, after string, limit int) ([]*store.Session, error) {
	list, err := s.Store.Scan(ctx, after, limit)
	if err == nil && after == "" {
		err = &store.DamagedError{Records: 1, Err: store.ErrDamaged}
	}
	return list, err
}

func TestAllSessionsOfAnAccount(t *testing.T) {
	eachStore(t, func(t *testing.T, st store.Store) {
		const n = 230 // more than a page of the store
		e := newEngine(t, partlyDamaged{st}, &voicescreen.Options{Workers: -1})
		for i := range 2 * n {
			s := &store.Session{Account: fmt.Sprint("account-", i%2), ID: fmt.Sprintf("session-%03d", i), UserID: "user", Status: screen.StatusInitiated,
				CreatedAt: time.Unix(int64(i), 0).UTC(), Metadata: screen.Metadata{Age: 1 + i}}
			if err := st.Create(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		seen := map[string]bool{}
		var last error
		for r, err := range e.Tenant("account-1").All(t.Context()) {
			if last != nil {
				t.Fatalf("the sequence goes on after %v", last)
			}
			if last = err; err != nil {
				continue
			}
			var i int
			if _, err := fmt.Sscanf(r.SessionID, "session-%d", &i); err != nil || i%2 != 1 || seen[r.SessionID] || r.Metadata.Age != 1+i {
				t.Errorf("got session %s with age %d, want each of account-1 once, with its metadata", r.SessionID, r.Metadata.Age)
			}
			seen[r.SessionID] = true
		}
		if len(seen) != n {
			t.Errorf("got %d sessions, want %d", len(seen), n)
		}
		var damaged *store.DamagedError
		if !errors.As(last, &damaged) || damaged.Records != 1 {
			t.Errorf("got the last error %v, want one damaged record", last)
		}
		for range e.Tenant("account-1").All(t.Context()) {
			break // a caller may stop
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		for r, err := range e.All(cancelled) {
			if r != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("a context that is done: got %v, %v, want its error", r, err)
			}
		}
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for r, err := range e.All(t.Context()) {
			if r != nil || !errors.Is(err, voicescreen.ErrClosed) {
				t.Errorf("after Close: got %v, %v, want ErrClosed", r, err)
			}
		}
	})
}
