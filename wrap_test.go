package voicescreen_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// wrapped is a store that wraps another one and does not say so.
type wrapped struct{ store.Store }

// unwrapped is a store that wraps another one and says which.
type unwrapped struct{ store.Store }

func (w unwrapped) Unwrap() store.Store { return w.Store }

// TestWrappedStoresKeepWhatTheyCanDo backs up a store of bolt under other stores.
func TestWrappedStoresKeepWhatTheyCanDo(t *testing.T) {
	st, err := bolt.Open(filepath.Join(t.TempDir(), "clinic.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, c := range map[string]struct {
		store store.Store
		keeps bool
	}{
		"itself":                      {st, true},
		"wrapped":                     {unwrapped{st}, true},
		"wrapped twice":               {unwrapped{unwrapped{st}}, true},
		"wrapped without Unwrap":      {wrapped{st}, false},
		"hidden below":                {unwrapped{wrapped{st}}, false},
		"a store that cannot":         {unwrapped{newMemory(t)}, false},
		"wraps no store at this time": {unwrapped{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, can := store.As[interface{ Check() error }](c.store)
			if can {
				t.Error("found a method that no store has")
			}
			if _, watches := store.As[store.Watcher](c.store); watches {
				t.Error("found a Watcher, want none")
			}
			if c.store == (unwrapped{}) {
				return
			}
			e := newEngine(t, c.store, testOptions())
			err := e.Backup(t.Context(), filepath.Join(t.TempDir(), "backup.db"))
			if (err == nil) != c.keeps || !c.keeps && !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("Backup: got error %v, want it kept: %v", err, c.keeps)
			}
		})
	}
}
