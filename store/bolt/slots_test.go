package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

// TestRemovedSessionsCannotBeRestored puts the database from before a removal beside the
// key file from after it: the record in the old pages cannot be decrypted.
func TestRemovedSessionsCannotBeRestored(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(st *Store, s *store.Session) error{
		"Delete": func(st *Store, s *store.Session) error { return st.Delete(t.Context(), s.Account, s.ID) },
		"Forget": func(st *Store, s *store.Session) error {
			_, err := st.Forget(t.Context(), s.Account, s.UserID)
			return err
		},
		"Expire": func(st *Store, s *store.Session) error {
			_, err := st.Expire(t.Context(), st.now().Sub(s.UpdatedAt), 1)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, sessions := filled(t, 3)
			before := read(t, path)
			st := reopen(t, path)
			audio := filepath.Join(st.path+suffixAudioDir, sessions[0].Audio+audio.Suffix)
			kept := filepath.Join(t.TempDir(), "kept") // another name of the file: what stays on the disk
			if err := errors.Join(os.Link(audio, kept), remove(st, sessions[0])); err != nil {
				t.Fatal(err)
			}
			shut(t, st)
			write(t, path, before)
			write(t, audio, read(t, kept))
			st = reopen(t, path)
			if s, err := st.Get(t.Context(), sessions[0].Account, sessions[0].ID); !errors.Is(err, ErrCorrupt) {
				t.Errorf("the removed session: got %v and error %v, want %v", s, err, ErrCorrupt)
			}
			if content, err := readAudio(t, st, sessions[0].Audio); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("its audio: got %q and error %v, want %v", content, err, store.ErrNotFound)
			}
			for _, s := range sessions[1:] {
				if got, err := st.Get(t.Context(), s.Account, s.ID); err != nil || !reflect.DeepEqual(got, s.Clone()) {
					t.Errorf("session %s: got %v and error %v", s.ID, got, err)
				}
			}
		})
	}
}

// TestAKeyThatCannotBeDestroyedIsDestroyedLater makes writes to the key file fail: the
// caller gets an error, and the next call or the next Open destroys the key.
func TestAKeyThatCannotBeDestroyedIsDestroyedLater(t *testing.T) {
	t.Parallel()
	for _, again := range []string{"next call", "next Open"} {
		t.Run(again, func(t *testing.T) {
			path, sessions := filled(t, 2)
			before := read(t, path)
			st := reopen(t, path)
			system := st.vault.file.writeAt
			st.vault.file.writeAt = func([]byte, int64) (int, error) { return 0, os.ErrPermission }
			if err := st.Delete(t.Context(), "clinic", "s0"); !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "not all of their keys are destroyed yet") {
				t.Errorf("Delete: got error %v, want %v", err, os.ErrPermission)
			}
			if _, err := st.Get(t.Context(), "clinic", "s0"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("Get: got error %v, want %v", err, store.ErrNotFound)
			}
			st.vault.file.writeAt = system
			if again == "next call" {
				if _, err := st.Forget(t.Context(), "clinic", "nobody"); err != nil {
					t.Fatal(err)
				}
			}
			shut(t, st)
			if again == "next Open" {
				shut(t, reopen(t, path))
			}
			write(t, path, before)
			st = reopen(t, path)
			if _, err := st.Get(t.Context(), "clinic", "s0"); !errors.Is(err, ErrCorrupt) {
				t.Errorf("with the database of before: got error %v, want %v", err, ErrCorrupt)
			}
			if _, err := st.Get(t.Context(), "clinic", sessions[1].ID); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestKeysAreDurableBeforeTheirSessions simulates a power failure after each call, after
// which the key file has only its synced content.
func TestKeysAreDurableBeforeTheirSessions(t *testing.T) {
	t.Parallel()
	path, _ := filled(t, 0)
	st := reopen(t, path)
	durable := read(t, path+suffixSlots)
	system := st.vault.file.sync
	st.vault.file.sync = func() error { durable = read(t, path+suffixSlots); return system() }
	st.vault.prepared = 0 // so that all slots are written again
	deleted := map[int]bool{}
	for i := range 20 {
		s := sample()
		s.ID = fmt.Sprint(i)
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		before := read(t, path)
		if i%3 == 2 { // free slots are used too
			if err := st.Delete(t.Context(), s.Account, fmt.Sprint(i-1)); err != nil {
				t.Fatal(err)
			}
			deleted[i-1] = true
		}
		crashed := filepath.Join(t.TempDir(), "test.db")
		write(t, crashed, before)
		write(t, crashed+suffixSlots, durable)
		after := reopen(t, crashed)
		for j := range i + 1 {
			_, err := after.Get(t.Context(), s.Account, fmt.Sprint(j))
			switch {
			case !deleted[j] && err != nil:
				t.Errorf("after %d: session %d: %v", i, j, err)
			case deleted[j] && !errors.Is(err, ErrCorrupt) && !errors.Is(err, store.ErrNotFound):
				t.Errorf("after %d: session %d, which is deleted: got error %v", i, j, err)
			}
		}
		shut(t, after)
	}
}

// TestSlotsAreUsedAgain creates and deletes one session at a time: the key file does not
// grow.
func TestSlotsAreUsedAgain(t *testing.T) {
	t.Parallel()
	path, _ := filled(t, 0)
	st := reopen(t, path)
	for i := range 50 {
		s := sample()
		s.ID = fmt.Sprint(i)
		if err := errors.Join(st.Create(t.Context(), s), st.Delete(t.Context(), s.Account, s.ID)); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.view(func(tx *bbolt.Tx) error {
		if n, err := st.vault.count(tx); n != 1 || err != nil {
			t.Errorf("got %d slots and error %v for one session at a time", n, err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestATransactionThatIsNotStoredLeavesNoKey seals a record in a transaction that is
// rolled back. The record may be on the disk, so no later session may get its key.
func TestATransactionThatIsNotStoredLeavesNoKey(t *testing.T) {
	t.Parallel()
	for name, removed := range map[string]int{"a slot that is new": 0, "a slot that was retired": 1} {
		t.Run(name, func(t *testing.T) {
			path, sessions := filled(t, removed)
			st := reopen(t, path)
			for _, s := range sessions {
				if err := st.Delete(t.Context(), s.Account, s.ID); err != nil {
					t.Fatal(err)
				}
			}
			s := sample()
			primary := st.vault.primaryKey(s.Account, s.ID)
			broken := errors.New("broken")
			var sealed []byte
			err := st.group.do(func(b *batch) error {
				return b.write(func(tx *bbolt.Tx) (err error) {
					sealed, _, err = st.vault.seal(tx, primary, recordsIn(primary, s).session)
					return errors.Join(err, broken)
				})
			})
			if !errors.Is(err, broken) {
				t.Fatal(err)
			}
			if _, _, err := st.vault.open(primary, sealed); err != nil {
				t.Fatalf("before the next transaction: %v", err)
			}
			if err := st.Create(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if _, _, err := st.vault.open(primary, sealed); !errors.Is(err, ErrCorrupt) {
				t.Errorf("the record that was not stored: got error %v, want %v", err, ErrCorrupt)
			}
			if _, err := st.Get(t.Context(), s.Account, s.ID); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestASlotInUseIsNotFreed leaves a slot in use in vault.ready, as a commit does that
// fails at its end. The next transaction drops it, also if that is rolled back.
func TestASlotInUseIsNotFreed(t *testing.T) {
	t.Parallel()
	path, _ := filled(t, 2)
	st := reopen(t, path)
	st.vault.ready = []uint64{0} // slot 0 is that of s0
	broken := errors.New("broken")
	err := st.group.do(func(b *batch) error {
		return b.write(func(tx *bbolt.Tx) error { return errors.Join(st.vault.begin(tx), broken) })
	})
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if len(st.vault.ready) != 0 {
		t.Errorf("got slots %v that are said to be ready, want none", st.vault.ready)
	}
}

// TestDeletingADamagedRecordDestroysNoOtherKey flips every bit of the slot and tag in a
// record, and deletes the session.
func TestDeletingADamagedRecordDestroysNoOtherKey(t *testing.T) {
	t.Parallel()
	path, sessions := filled(t, 4)
	st := reopen(t, path)
	for bit := range 8 * sealedPrefix {
		s := sample()
		s.ID, s.UserID = "victim", "victim"
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		primary := st.vault.primaryKey(s.Account, s.ID)
		var whole []byte
		err := st.db.Update(func(tx *bbolt.Tx) error {
			whole = bytes.Clone(tx.Bucket(bucketSessions).Get(primary))
			record := bytes.Clone(whole)
			record[bit/8] ^= 1 << (bit % 8)
			return tx.Bucket(bucketSessions).Put(primary, record)
		})
		if err := errors.Join(err, st.Delete(t.Context(), s.Account, s.ID)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := st.vault.open(primary, whole); !errors.Is(err, ErrCorrupt) {
			t.Errorf("bit %d: the deleted record: got error %v, want %v", bit, err, ErrCorrupt)
		}
		for _, s := range sessions {
			if _, err := st.Get(t.Context(), s.Account, s.ID); err != nil {
				t.Fatalf("bit %d: session %s: %v", bit, s.ID, err)
			}
		}
	}
}

// TestReadersNeverMissAKey reads a session that is removed concurrently: it is found or
// not found, and never damaged.
func TestReadersNeverMissAKey(t *testing.T) {
	t.Parallel()
	path, _ := filled(t, 0)
	st := reopen(t, path)
	var ended atomic.Bool
	var readers sync.WaitGroup
	var reads atomic.Int64
	s := sample()
	for range 4 {
		readers.Go(func() {
			for !ended.Load() {
				_, getErr := st.Get(t.Context(), s.Account, s.ID)
				_, listErr := st.List(t.Context(), s.Account, s.UserID, nil, 9)
				if getErr != nil && !errors.Is(getErr, store.ErrNotFound) || listErr != nil {
					t.Errorf("Get: got error %v; List: %v", getErr, listErr)
					return
				}
				reads.Add(1)
			}
		})
	}
	for i := range 1000 {
		if i >= 100 && reads.Load() > 500 {
			break
		}
		if err := errors.Join(st.Create(t.Context(), s), st.Delete(t.Context(), s.Account, s.ID)); err != nil {
			t.Fatal(err)
		}
	}
	ended.Store(true)
	readers.Wait()
}

// TestAFullDiskForKeysStoresNoSession makes writes to the key file fail.
func TestAFullDiskForKeysStoresNoSession(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(f *slotFile){
		"write": func(f *slotFile) { f.writeAt = func([]byte, int64) (int, error) { return 0, syscall.ENOSPC } },
		"sync":  func(f *slotFile) { f.sync = func() error { return syscall.ENOSPC } },
	} {
		path, _ := filled(t, 0)
		st := reopen(t, path)
		system := st.vault.file
		s := sample()
		st.vault.prepared = 0
		plant(&st.vault.file)
		if err := st.Create(t.Context(), s); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: got error %v, want %v", name, err, syscall.ENOSPC)
		}
		if _, err := st.Get(t.Context(), s.Account, s.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: Get: got error %v, want %v", name, err, store.ErrNotFound)
		}
		st.vault.file = system
		if err := errors.Join(st.Create(t.Context(), s), st.Delete(t.Context(), s.Account, s.ID)); err != nil {
			t.Errorf("%s: after the fault: %v", name, err)
		}
	}
}
