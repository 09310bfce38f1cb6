package httpadapter_test

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
	"github.com/voicescreen/voicescreen/store/memory"
)

// storedKeys returns the keys of a replica on a store.
func storedKeys(t *testing.T, st store.Store) *httpadapter.Keys {
	t.Helper()
	k, err := httpadapter.StoredKeys(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestReplicasShareTheKeysOfTheirStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // with a clock of its own: a busy machine does not make it late
		st := memory.New(nil)
		one, other := storedKeys(t, st), storedKeys(t, st)
		key := mustCreate(t, one, "clinic")
		afterASecond(t, "the new key is valid", func() bool { _, ok := other.Lookup(key); return ok })
		if err := one.Revoke(key); err != nil {
			t.Fatal(err)
		}
		afterASecond(t, "the revoked key is invalid", func() bool { _, ok := other.Lookup(key); return !ok })
	})
}

func TestStoredKeysSurviveARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clinic.db")
	var key string
	for start := range 2 {
		st, err := bolt.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		k := storedKeys(t, st)
		if start == 0 {
			key = mustCreate(t, k, "clinic")
		}
		if info, ok := k.Lookup(key); !ok || info.Account != "clinic" {
			t.Errorf("start %d: got %+v, %v, want the key of clinic", start+1, info, ok)
		}
		data, _, err := st.Document(t.Context(), "keys")
		if err != nil || len(data) == 0 || bytes.Contains(data, []byte(key[20:])) {
			t.Errorf("start %d: got a document of %d bytes, error %v, or the secret in it", start+1, len(data), err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// awayStore is a store whose documents cannot be read while away is set.
type awayStore struct {
	store.Store
	away atomic.Bool
}

func (a *awayStore) Document(ctx context.Context, name string) ([]byte, uint64, error) {
	if a.away.Load() {
		return nil, 0, store.ErrUnavailable
	}
	return a.Store.Document(ctx, name)
}

// While the store cannot be asked, a key that a replica does not know may be a new one:
// it is not refused as invalid. A known key is valid.
func TestAnUnknownKeyOfAStoreThatIsAway(t *testing.T) {
	st := &awayStore{Store: memory.New(nil)}
	one, other := storedKeys(t, st), storedKeys(t, st)
	known := mustCreate(t, one, "clinic")
	ask := func(key string) error {
		r := httptest.NewRequest("GET", "/sessions", nil)
		r.Header.Set("X-API-Key", key)
		_, err := one.Authenticate(r)
		return err
	}
	unknown := mustCreate(t, other, "clinic")
	st.away.Store(true)
	if err := ask(unknown); !errors.Is(err, store.ErrUnavailable) || errors.Is(err, httpadapter.ErrUnauthenticated) {
		t.Errorf("an unknown key: got error %v, want %v", err, store.ErrUnavailable)
	}
	if err := ask(known); err != nil {
		t.Errorf("a known key: got error %v", err)
	}
	st.away.Store(false)
	if err := ask(unknown); err != nil {
		t.Errorf("afterwards: got error %v", err)
	}
	if err := ask("vk_0"); !errors.Is(err, httpadapter.ErrUnauthenticated) {
		t.Errorf("a malformed key: got error %v, want %v", err, httpadapter.ErrUnauthenticated)
	}
}

func TestStoredKeysRefuseAMalformedDocument(t *testing.T) {
	st := memory.New(nil)
	if _, err := st.PutDocument(t.Context(), "keys", 0, []byte(`{"format":"voicescreen-keys/1"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := httpadapter.StoredKeys(t.Context(), st); err == nil {
		t.Error("got no error for a document without a list of keys")
	}
}
