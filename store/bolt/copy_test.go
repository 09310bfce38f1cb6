package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

// TestABackupWhoseNameIsNotDurableIsRemoved makes each sync of a directory fail.
func TestABackupWhoseNameIsNotDurableIsRemoved(t *testing.T) {
	t.Parallel()
	path, _ := filled(t, 2)
	st := reopen(t, path)
	dir := t.TempDir()
	for n := 0; ; n++ {
		calls := 0
		st.audio.Files.SyncDir = func(dir string) error {
			if calls++; calls > n {
				return syscall.EIO
			}
			return audio.SystemFiles().SyncDir(dir)
		}
		err := st.Backup(t.Context(), filepath.Join(dir, "backup.db"))
		if err == nil {
			if n < 5 {
				t.Errorf("the backup made %d syncs, want at least 5 for this test", n)
			}
			return
		}
		entries, readErr := os.ReadDir(dir)
		if !errors.Is(err, syscall.EIO) || len(entries) > 0 || readErr != nil {
			t.Fatalf("after %d syncs: got error %v, and left %v (%v)", n, err, entries, readErr)
		}
	}
}

// TestCheckFindsFaults plants faults one at a time.
func TestCheckFindsFaults(t *testing.T) {
	t.Parallel()
	path, sessions := filled(t, 3)
	if c, faults := checked(t, path, testKey); len(faults) != 0 || c.Sessions != 3 || c.Audio != 3 || c.Bytes != int64(3*len(audioOf(sessions[0]))) {
		t.Fatalf("before: got %+v and %v", c, faults)
	}
	s := sessions[1]
	audio := filepath.Join(path+suffixAudioDir, s.Audio+audio.Suffix)
	in := func(change func(v *vault, tx *bbolt.Tx, primary []byte) error) func(st *Store) error {
		return func(st *Store) error {
			return st.db.Update(func(tx *bbolt.Tx) error {
				return change(st.vault, tx, st.vault.primaryKey(s.Account, s.ID))
			})
		}
	}
	for says, plant := range map[string]func(st *Store) error{
		`session "s1": store/bolt: the store is damaged: a record is not authentic`: in(func(_ *vault, tx *bbolt.Tx, primary []byte) error {
			record := bytes.Clone(tx.Bucket(bucketSessions).Get(primary))
			record[len(record)-1] ^= 1
			return tx.Bucket(bucketSessions).Put(primary, record)
		}),
		`session "s1": store/bolt: the store is damaged: a record of scores is not authentic`: in(func(_ *vault, tx *bbolt.Tx, primary []byte) error {
			record := bytes.Clone(tx.Bucket(bucketAnalyses).Get(primary))
			record[len(record)-1] ^= 1
			return tx.Bucket(bucketAnalyses).Put(primary, record)
		}),
		`session "s1": store/bolt: the store is damaged: the scores of a record are missing`: in(func(_ *vault, tx *bbolt.Tx, primary []byte) error {
			return tx.Bucket(bucketAnalyses).Delete(primary)
		}),
		`the index analyses has 4 entries, want 3`: in(func(_ *vault, tx *bbolt.Tx, primary []byte) error {
			return tx.Bucket(bucketAnalyses).Put(append(bytes.Clone(primary), 0), nil)
		}),
		`the file: a bucket contains another one`: in(func(_ *vault, tx *bbolt.Tx, _ []byte) error {
			_, err := tx.Bucket(bucketKept).CreateBucket([]byte("kept"))
			return err
		}),
		`session "s1": it is missing from the index of users`: in(func(v *vault, tx *bbolt.Tx, _ []byte) error {
			return tx.Bucket(bucketUsers).Delete(v.userKey(s.Account, s.UserID, s.Cursor()))
		}),
		`session "s1": it is missing from the index of what is due`: in(func(_ *vault, tx *bbolt.Tx, primary []byte) error {
			return tx.Bucket(bucketDue).Delete(dueKey(s.Due, primary))
		}),
		`the index kept has 4 entries, want 3`: in(func(_ *vault, tx *bbolt.Tx, primary []byte) error {
			return tx.Bucket(bucketKept).Put(dueKey(s.Due, primary), nil)
		}),
		`the queue counts 9 sessions, want 3`: in(func(_ *vault, tx *bbolt.Tx, _ []byte) error {
			return tx.Bucket(bucketDue).SetSequence(9)
		}),
		`3 of 4 key slots are accounted for`: in(func(v *vault, tx *bbolt.Tx, _ []byte) error { return v.setCount(tx, 4) }),
		`4 of 3 key slots are accounted for`: in(func(v *vault, tx *bbolt.Tx, _ []byte) error { return v.put(tx, slotFree, 3) }),
		`session "s1": its audio is missing`: func(*Store) error { return os.Remove(audio) },
		`session "s1": store/bolt: the store is damaged: audio is not authentic`: func(*Store) error {
			b := read(t, audio)
			b[len(b)-1] ^= 1
			write(t, audio, b)
			return nil
		},
	} {
		t.Run(says, func(t *testing.T) {
			whole := map[string][]byte{path: read(t, path), path + suffixSlots: read(t, path+suffixSlots), audio: read(t, audio)}
			defer func() {
				for name, b := range whole {
					write(t, name, b)
				}
			}()
			st := reopen(t, path)
			if err := plant(st); err != nil {
				t.Fatal(err)
			}
			shut(t, st)
			_, faults := checked(t, path, testKey)
			if !strings.Contains(strings.Join(faults, "\n"), says) {
				t.Errorf("got %q, want %q", faults, says)
			}
			for _, f := range faults {
				if strings.Contains(f, "user1") || strings.Contains(f, s.Account) {
					t.Errorf("the fault %q names a person", f)
				}
			}
		})
	}
	stop := errors.New("enough")
	st := reopen(t, path)
	if err := os.Remove(audio); err != nil {
		t.Fatal(err)
	}
	shut(t, st)
	if _, err := Check(t.Context(), path, &Options{Key: testKey}, func(string) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got error %v, want that of the caller", err)
	}
}

func TestCompact(t *testing.T) {
	t.Parallel()
	path, sessions := filled(t, 5)
	st := reopen(t, path)
	for i := range 300 {
		s := sample()
		s.ID = fmt.Sprint(i)
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.Forget(t.Context(), "clinic", sample().UserID); err != nil {
		t.Fatal(err)
	}
	shut(t, st)
	before, after, err := Compact(path, &Options{Key: testKey})
	if err != nil || after >= before {
		t.Fatalf("got %d of %d bytes and error %v", after, before, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != after {
		t.Errorf("the file has %d bytes (%v), want %d", info.Size(), err, after)
	}
	if c, faults := checked(t, path, testKey); len(faults) != 0 || c.Sessions != len(sessions) {
		t.Errorf("got %+v and %v", c, faults)
	}
	if n := outcome(t, "compacted", path, sessions); n != 0 {
		t.Errorf("got %d faults", n)
	}
	if names, err := os.ReadDir(filepath.Dir(path)); err != nil || len(names) != 3 {
		t.Errorf("got %v and error %v, want the database, its audio and its keys", names, err)
	}
}

// TestCopyEncryptsAPlainStore copies a plain store into an encrypted one, twice: the
// second time fails.
func TestCopyEncryptsAPlainStore(t *testing.T) {
	t.Parallel()
	from := openedWith(t, nil)
	var want []*store.Session
	for i := range 300 { // more than a page
		s := sample()
		s.ID, s.Audio = fmt.Sprint("copy", i), ""
		if i%10 == 0 {
			s.Audio = putAudio(t, from, audioOf(s))
		}
		if err := from.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		want = append(want, s)
	}
	to := openedWith(t, testKey)
	if n, err := Copy(t.Context(), to, from); n != len(want) || err != nil {
		t.Fatalf("got %d sessions and error %v, want %d", n, err, len(want))
	}
	for _, s := range want {
		got, err := to.Get(t.Context(), s.Account, s.ID)
		if err != nil {
			t.Fatal(err)
		}
		if s.Audio != "" {
			if content, err := readAudio(t, to, got.Audio); content != audioOf(s) || err != nil {
				t.Errorf("got audio %q and error %v", content, err)
			}
		}
		got.Audio = s.Audio
		if !reflect.DeepEqual(got, s.Clone()) {
			t.Errorf("got another session than was copied: %s", s.ID)
		}
	}
	shut(t, to)
	if _, faults := checked(t, to.path, testKey); len(faults) != 0 {
		t.Errorf("got %v", faults)
	}
	again := reopen(t, to.path)
	if _, err := Copy(t.Context(), again, from); !errors.Is(err, store.ErrExists) {
		t.Errorf("a second time: got error %v, want %v", err, store.ErrExists)
	}
	if names := audioFiles(t, again); len(names) != 30 {
		t.Errorf("a second time: got %d audio files, want those of the first", len(names))
	}
}
