package bolt

import (
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
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

// checked returns the contents and the faults that Check finds in a store.
func checked(t testing.TB, path string, key []byte) (c Contents, faults []string) {
	t.Helper()
	c, err := Check(t.Context(), path, &Options{Key: key}, func(f string) error { faults = append(faults, f); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return c, faults
}

// busy changes a store until stop is called: it creates sessions with audio, removes
// the audio of some, and deletes some.
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

// TestBackupsAreComplete makes backups during other calls.
func TestBackupsAreComplete(t *testing.T) {
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
				t.Error("a backup over another one: got no error")
			}
		}
	})
}

// TestABackupIsOfOneMoment removes sessions while their audio and keys are copied in
// the snapshot, without the earlier copies that Backup makes.
func TestABackupIsOfOneMoment(t *testing.T) {
	t.Parallel()
	const sessions = 40
	path, list := filled(t, sessions)
	st := reopen(t, path)
	to := backup{ctx: t.Context(), path: filepath.Join(t.TempDir(), "backup.db"), copied: map[string]bool{}, syncDir: audio.SystemFiles().SyncDir}
	if err := os.Mkdir(to.path+suffixAudioDir, 0o700); err != nil {
		t.Fatal(err)
	}
	var removals sync.WaitGroup
	began, taken := make(chan struct{}), make(chan struct{})
	removals.Go(func() {
		for i := range list {
			s := list[len(list)-1-i]
			if i == 1 {
				close(began)
			}
			if i == sessions/2 {
				<-taken
			}
			if err := st.Delete(t.Context(), s.Account, s.ID); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Millisecond) // as the sync of a disk
		}
	})
	<-began
	tx, err := to.snapshot(st)
	close(taken)
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

// TestABackupHoldsNoKeyOfLaterSessions decrypts records of the store with the key file
// of a backup, before the backup is opened: only those of sessions in the backup may
// open.
func TestABackupHoldsNoKeyOfLaterSessions(t *testing.T) {
	t.Parallel()
	path, sessions := filled(t, 4)
	st := reopen(t, path)
	for _, s := range sessions[:2] { // now one slot is free and the other one retired
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
	if err != nil || len(entries) != 2 { // the two files written above
		t.Errorf("got %v and error %v", entries, err)
	}
}

// TestACancelledBackupLeavesNothing cancels the context at each point at which a
// backup checks it.
func TestACancelledBackupLeavesNothing(t *testing.T) {
	t.Parallel()
	path, _ := filled(t, 2)
	st := reopen(t, path)
	dir := t.TempDir()
	for asks := 0; ; asks++ {
		err := st.Backup(&endingContext{t.Context(), asks}, filepath.Join(dir, "backup.db"))
		if err == nil {
			if asks < 10 {
				t.Errorf("the backup checked its context %d times, want at least 10 for this test", asks)
			}
			return
		}
		entries, readErr := os.ReadDir(dir)
		if !strings.Contains(err.Error(), context.Canceled.Error()) || len(entries) > 0 || readErr != nil { // bbolt keeps only the text
			t.Fatalf("cancelled after %d checks: got error %v, and left %v (%v)", asks, err, entries, readErr)
		}
	}
}

// endingContext is a context that is cancelled after a number of calls of Err.
type endingContext struct {
	context.Context
	asks int // calls that remain
}

func (c *endingContext) Err() error {
	if c.asks == 0 {
		return context.Canceled
	}
	c.asks--
	return nil
}

// TestABackupLeavesADatabaseAlone creates another database at the path of a backup at
// each point at which the backup checks its context.
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
				if other == nil && openErr == nil { // the backup does not check so often
					break
				}
				if openErr != nil { // Open found the key file of the backup
					if err != nil || keys.other == nil {
						t.Errorf("after %d checks: got error %v, and from Open of the other %v", asks, err, openErr)
					}
					continue
				}
				met++
				if !errors.Is(err, fs.ErrExist) {
					t.Errorf("after %d checks: got error %v, want %v", asks, err, fs.ErrExist)
				}
				if left := audioFiles(t, other); len(left) != 0 {
					t.Errorf("after %d checks: got files %v left", asks, left)
				}
				s := sample()
				s.Audio = putAudio(t, other, "audio")
				if err := errors.Join(other.Create(t.Context(), s), other.Close()); err != nil {
					t.Error(err)
				}
				if c, faults := checked(t, path, keys.other); len(faults) != 0 || c.Sessions != 1 {
					t.Errorf("after %d checks: got %+v and %v", asks, c, faults)
				}
				if _, err := os.Stat(path + suffixSlots); (err == nil) != (keys.other != nil) {
					t.Errorf("after %d checks: the key file: got error %v", asks, err)
				}
			}
			if met < 4 {
				t.Errorf("got a database in the way %d times, want at least 4 for this test", met)
			}
		})
	}
}

// callingContext is a context that calls a function after a number of calls of Err.
type callingContext struct {
	context.Context
	asks int // calls that remain
	call func()
}

func (c *callingContext) Err() error {
	if c.asks == 0 {
		c.call()
	}
	c.asks--
	return nil
}
