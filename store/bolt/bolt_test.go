package bolt_test

import (
	"path/filepath"
	"testing"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
	"github.com/voicescreen/voicescreen/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store { return openIn(t, t.TempDir()) })
}

func TestStoreIsDurable(t *testing.T) {
	t.Parallel()
	storetest.RunDurable(t, openIn)
}

// openIn opens the store of a test in a directory.
func openIn(t *testing.T, dir string) store.Store {
	t.Helper()
	st, err := bolt.Open(filepath.Join(dir, "test.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return st
}
