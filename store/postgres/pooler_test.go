package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/internal/proof/pgserver"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/postgres"
	"github.com/voicescreen/voicescreen/store/storetest"
)

// TestStoreBehindAPooler runs the suite through pgbouncer in transaction mode,
// where any two transactions may be on two connections.
func TestStoreBehindAPooler(t *testing.T) {
	s := started(t)
	pooler, err := s.StartPooler()
	if errors.Is(err, pgserver.ErrNoPooler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pooler.Stop)
	through := func(t *testing.T, direct string, now func() time.Time) store.Store {
		t.Helper()
		return open(t, pooler.URL(databaseName(direct))+described, &postgres.Options{Now: now, ListenURL: direct + "&pool_max_conns=3"})
	}
	t.Run("suite", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(t *testing.T, now func() time.Time) store.Store { return through(t, database(t), now) })
	})
	t.Run("notifications", func(t *testing.T) {
		t.Parallel()
		st := through(t, database(t), nil)
		defer st.Close()
		heard := make(chan screen.SessionKey, 100)
		go func() { _ = st.(store.Watcher).Watch(t.Context(), func(key screen.SessionKey) { heard <- key }) }()
		for n := 0; ; n++ {
			id := fmt.Sprint(n)
			if err := st.Create(t.Context(), newSession(id)); err != nil {
				t.Fatal(err)
			}
			select {
			case key := <-heard:
				if key.ID != "" {
					return
				}
			case <-time.After(50 * time.Millisecond):
			}
			if n == 200 {
				t.Fatal("nothing is heard")
			}
		}
	})
	t.Run("limits", func(t *testing.T) {
		t.Parallel()
		direct := database(t)
		st := open(t, pooler.URL(databaseName(direct))+described, &postgres.Options{LockTimeout: 50 * time.Millisecond})
		defer st.Close()
		if err := st.Create(t.Context(), newSession("s")); err != nil {
			t.Fatal(err)
		}
		_, err := st.Update(t.Context(), "clinic", "s", func(*store.Session, time.Time) error {
			_, err := st.Update(t.Context(), "clinic", "s", attempt) // not allowed: here to see the lock
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "55P03") {
			t.Errorf("got error %v, want that of a lock that was not given", err)
		}
	})
}
