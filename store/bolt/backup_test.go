package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

// checked returns the faults of a store and what it holds.
func checked(t testing.TB, path string, key []byte) (c Contents, faults []string) {
	t.Helper()
	c, err := Check(t.Context(), path, &Options{Key: key}, func(f string) error { faults = append(faults, f); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return c, faults
}

// busy changes a store until the function that it returns is called: sessions
// come with audio, let go of it, and go.
func busy(t *testing.T, st *Store) (stop func()) {
	var ended atomic.Bool
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := 0; !ended.Load(); i++ {
				s := sample()
				s.ID, s.Due = fmt.Sprintf("busy.%d.%d", worker, i), s.CreatedAt
				s.Audio = putAudio(t, st, audioOf(s))
				err := st.Create(t.Context(), s)
				if err == nil && i%2 == 0 {
					_, err = st.Update(t.Context(), s.Account, s.ID, func(s *store.Session, _ time.Time) error { s.Audio, s.Due = "", time.Time{}; return nil })
				}
				if err == nil && i%3 == 0 {
					err = st.Delete(t.Context(), s.Account, s.ID)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	return func() { ended.Store(true); all.Wait() }
}

// TestBackupsAreWhole takes backups while others write.
func TestBackupsAreWhole(t *testing.T) {
	t.Parallel()
	eachKey(t, func(t *testing.T, key []byte) {
		st := openedWith(t, key)
		kept := sample()
		kept.ID, kept.Audio = "kept", putAudio(t, st, "audio of kept")
		if err := st.Create(t.Context(), kept); err != nil {
			t.Fatal(err)
		}
		stop := busy(t, st)
		defer stop()
		for i := range 5 {
			path := filepath.Join(t.TempDir(), "backup.db")
			if err := st.Backup(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			names, err := os.ReadDir(path + suffixAudioDir)
			if err != nil {
				t.Fatal(err)
			}
			c, faults := checked(t, path, key)
			if len(faults) != 0 || c.Audio != len(names) {
				t.Errorf("backup %d: got %d faults, %d audio files of %d, the first faults %v", i, len(faults), len(names), c.Audio, faults[:min(len(faults), 3)])
			}
			from, err := Open(path, &Options{Key: key})
			if err != nil {
				t.Fatal(err)
			}
			if s, err := from.Get(t.Context(), kept.Account, kept.ID); err != nil || !reflect.DeepEqual(s, kept.Clone()) {
				t.Errorf("got %v and error %v", s, err)
			}
			if content, err := readAudio(t, from, kept.Audio); content != "audio of kept" || err != nil {
				t.Errorf("got audio %q and error %v", content, err)
			}
			shut(t, from)
			if err := st.Backup(t.Context(), path); err == nil {
				t.Error("a backup on another: got no error")
			}
		}
	})
}

// TestTheMomentOfABackupIsOne removes sessions while all of their audio and keys
// are copied, which else is done before.
func TestTheMomentOfABackupIsOne(t *testing.T) {
	t.Parallel()
	const sessions = 40
	path, list := filled(t, sessions)
	st := reopen(t, path)
	to := backup{ctx: t.Context(), path: filepath.Join(t.TempDir(), "backup.db"), copied: map[string]bool{}, syncDir: audio.SystemFiles().SyncDir}
	if err := os.Mkdir(to.path+suffixAudioDir, 0o700); err != nil {
		t.Fatal(err)
	}
	var removals sync.WaitGroup
	began := make(chan struct{})
	removals.Go(func() {
		for i := range list {
			s := list[len(list)-1-i]
			if i == 1 {
				close(began)
			}
			if err := st.Delete(t.Context(), s.Account, s.ID); err != nil {
				t.Error(err)
			}
		}
	})
	<-began
	tx, err := to.moment(st)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(to.sweep(), to.database(tx), tx.Rollback()); err != nil {
		t.Fatal(err)
	}
	removals.Wait()
	c, faults := checked(t, to.path, testKey)
	if len(faults) != 0 || c.Sessions < sessions/2 || c.Audio != c.Sessions {
		t.Errorf("got %+v and the faults %q", c, faults)
	}
}

// TestABackupHoldsNoKeyOfLaterSessions opens what sessions of the store left in
// it with the key file of a backup, as it is before the backup is opened.
func TestABackupHoldsNoKeyOfLaterSessions(t *testing.T) {
	t.Parallel()
	path, sessions := filled(t, 4)
	st := reopen(t, path)
	for _, s := range sessions[:2] { // the slot of the first is free then, the other condemned
		if err := st.Delete(t.Context(), s.Account, s.ID); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(t.TempDir(), "backup.db")
	if err := st.Backup(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	opens := map[string]error{"s2": nil, "s3": nil}
	for i := range 4 {
		s := sample()
		s.ID = fmt.Sprint("later", i)
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		opens[s.ID] = ErrCorrupt
	}
	v, err := openVault(to, st.vault.id, testKey)
	if err != nil {
		t.Fatal(err)
	}
	defer v.close()
	err = st.view(func(tx *bbolt.Tx) error {
		for id, want := range opens {
			primary := st.vault.primaryKey("clinic", id)
			if _, _, err := v.open(primary, tx.Bucket(bucketSessions).Get(primary)); !errors.Is(err, want) {
				t.Errorf("session %s with the keys of the backup: got error %v, want %v", id, err, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := outcome(t, "backup", to, sessions[2:]); n != 0 {
		t.Errorf("got %d faults", n)
	}
	if _, faults := checked(t, to, testKey); len(faults) != 0 {
		t.Errorf("got %q", faults)
	}
}

func TestABackupThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	path, _ := filled(t, 1)
	st := reopen(t, path)
	dir := t.TempDir()
	for _, name := range []string{"none/backup.db", "audio.db", "keys.db"} {
		if name == "audio.db" {
			write(t, filepath.Join(dir, name+suffixAudioDir), nil)
		}
		if name == "keys.db" {
			write(t, filepath.Join(dir, name+suffixSlots), nil)
		}
		if err := st.Backup(t.Context(), filepath.Join(dir, name)); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 { // what was there
		t.Errorf("got %v and error %v", entries, err)
	}
}

// TestABackupThatIsBrokenOffLeavesNothing ends the context at each moment at
// which a backup asks for it.
func TestABackupThatIsBrokenOffLeavesNothing(t *testing.T) {
	t.Parallel()
	path, _ := filled(t, 2)
	st := reopen(t, path)
	dir := t.TempDir()
	for asks := 0; ; asks++ {
		err := st.Backup(&endingContext{t.Context(), asks}, filepath.Join(dir, "backup.db"))
		if err == nil {
			if asks < 10 {
				t.Errorf("done after %d questions: this shows little", asks)
			}
			return
		}
		entries, readErr := os.ReadDir(dir)
		if !strings.Contains(err.Error(), context.Canceled.Error()) || len(entries) > 0 || readErr != nil { // bbolt keeps the text alone
			t.Fatalf("ended after %d questions: got error %v, and left %v (%v)", asks, err, entries, readErr)
		}
	}
}

// endingContext ends when it was asked a number of times.
type endingContext struct {
	context.Context
	asks int // that are left
}

func (c *endingContext) Err() error {
	if c.asks == 0 {
		return context.Canceled
	}
	c.asks--
	return nil
}

// TestABackupLeavesADatabaseAlone makes another database at the path of a backup
// at each moment at which that asks for its context.
func TestABackupLeavesADatabaseAlone(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]struct{ ours, other []byte }{
		"plain": {}, "encrypted": {testKey, testKey}, "encrypted and plain": {testKey, nil},
	} {
		t.Run(name, func(t *testing.T) {
			from := openedWith(t, keys.ours)
			for i := range 2 {
				s := sample()
				s.ID = fmt.Sprint(i)
				s.Audio = putAudio(t, from, audioOf(s))
				if err := from.Create(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			met := 0
			for asks := 0; ; asks++ {
				path := filepath.Join(t.TempDir(), "test.db")
				var other *Store
				var openErr error
				ctx := &callingContext{t.Context(), asks, func() { other, openErr = Open(path, &Options{Key: keys.other}) }}
				err := from.Backup(ctx, path)
				if other == nil && openErr == nil { // it does not ask so often
					break
				}
				if openErr != nil { // it met the keys of the backup
					if err != nil || keys.other == nil {
						t.Errorf("after %d questions: got error %v, and of the other %v", asks, err, openErr)
					}
					continue
				}
				met++
				if !errors.Is(err, fs.ErrExist) {
					t.Errorf("after %d questions: got error %v, want %v", asks, err, fs.ErrExist)
				}
				if left := audioFiles(t, other); len(left) != 0 {
					t.Errorf("after %d questions: got files %v left", asks, left)
				}
				s := sample()
				s.Audio = putAudio(t, other, "audio")
				if err := errors.Join(other.Create(t.Context(), s), other.Close()); err != nil {
					t.Error(err)
				}
				if c, faults := checked(t, path, keys.other); len(faults) != 0 || c.Sessions != 1 {
					t.Errorf("after %d questions: got %+v and %v", asks, c, faults)
				}
				if _, err := os.Stat(path + suffixSlots); (err == nil) != (keys.other != nil) {
					t.Errorf("after %d questions: the key file: got error %v", asks, err)
				}
			}
			if met < 4 {
				t.Errorf("met %d times: this shows little", met)
			}
		})
	}
}

// callingContext calls a function when it was asked a number of times.
type callingContext struct {
	context.Context
	asks int // that are left
	call func()
}

func (c *callingContext) Err() error {
	if c.asks == 0 {
		c.call()
	}
	c.asks--
	return nil
}

// TestABackupWhoseNameIsNotDurableIsNone lets each sync of a directory fail.
func TestABackupWhoseNameIsNotDurableIsNone(t *testing.T) {
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
				t.Errorf("done after %d syncs: this shows little", n)
			}
			return
		}
		entries, readErr := os.ReadDir(dir)
		if !errors.Is(err, syscall.EIO) || len(entries) > 0 || readErr != nil {
			t.Fatalf("after %d syncs: got error %v, and left %v (%v)", n, err, entries, readErr)
		}
	}
}

// TestCheckFindsWhatIsWrong plants faults one at a time.
func TestCheckFindsWhatIsWrong(t *testing.T) {
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
		`the file: a bucket stands in another`: in(func(_ *vault, tx *bbolt.Tx, _ []byte) error {
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
		`the queue is said to hold 9 sessions, want 3`: in(func(_ *vault, tx *bbolt.Tx, _ []byte) error {
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

// TestCopyEncryptsAPlainStore copies back and forth.
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
