package bolt_test

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
	"github.com/voicescreen/voicescreen/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, now func() time.Time) store.Store { return openIn(t, t.TempDir(), now) })
}

func TestEncryptedStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, now func() time.Time) store.Store { return openEncrypted(t, t.TempDir(), now) })
}

func TestEncryptedStoreIsDurable(t *testing.T) {
	t.Parallel()
	storetest.RunDurable(t, openEncrypted)
}

func TestStoreIsDurable(t *testing.T) {
	t.Parallel()
	storetest.RunDurable(t, openIn)
}

// openIn opens the store of a test in a directory.
func openIn(t *testing.T, dir string, now func() time.Time) store.Store {
	t.Helper()
	st, err := bolt.Open(filepath.Join(dir, "test.db"), &bolt.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// testKey is the key of the encrypted stores of tests.
var testKey = bytes.Repeat([]byte{0x5a}, bolt.KeySize)

// openEncrypted opens the encrypted store of a test in a directory.
func openEncrypted(t *testing.T, dir string, now func() time.Time) store.Store {
	t.Helper()
	st, err := bolt.Open(filepath.Join(dir, "test.db"), &bolt.Options{Key: testKey, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return st
}
