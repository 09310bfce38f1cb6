package voicescreen_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// encryptedOptions are testOptions of an encrypted store and with a scorer that
// is quick.
func encryptedOptions() *voicescreen.Options {
	opts := testOptions()
	opts.Store.Key = bytes.Repeat([]byte{7}, bolt.KeySize)
	fake, _, release := blocked()
	close(release)
	opts.Scoring.Models = []models.Scorer{fake}
	return opts
}

func TestTheKeyDecidesWhoOpensTheStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	opts := encryptedOptions()
	e := open(t, path, opts)
	id := initiate(t, e, "u")
	submit(t, e, id, speech())
	if r := wait(t, e, id); r.Status != screen.StatusSuccess {
		t.Errorf("got %+v, want success", r)
	}
	closeEngine(t, e)
	if _, err := voicescreen.Open(path, testOptions()); !errors.Is(err, bolt.ErrKey) {
		t.Errorf("without the key: got error %v, want %v", err, bolt.ErrKey)
	}
	e = open(t, path, opts)
	if r, err := e.Result(t.Context(), id); err != nil || r.Status != screen.StatusSuccess {
		t.Errorf("with the key: got %+v and error %v", r, err)
	}
}

func TestBackupIsAStoreOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	opts := encryptedOptions()
	opts.Workers = -1
	e := open(t, filepath.Join(dir, "test.db"), opts)
	id := initiate(t, e, "u")
	submit(t, e, id, speech())
	backup := filepath.Join(dir, "backup.db")
	if err := e.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if err := e.Backup(t.Context(), backup); err == nil {
		t.Error("on a backup that is there: got no error")
	}
	if err := e.Forget(t.Context(), "u"); err != nil {
		t.Fatal(err)
	}
	opts.Workers = 1
	if r := wait(t, open(t, backup, opts), id); r.Status != screen.StatusSuccess {
		t.Errorf("got %+v of what waited in the backup, want success", r)
	}
	memory := newEngine(t, newMemory(t), testOptions())
	if err := memory.Backup(t.Context(), backup); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a store in memory: got error %v, want %v", err, errors.ErrUnsupported)
	}
}

// TestADamagedRecordingGetsNoScore turns over one bit of a recording that
// waits: its session ends as failed after its attempts, the others as ever.
func TestADamagedRecordingGetsNoScore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	opts := encryptedOptions()
	workers := opts.Workers
	opts.Workers = -1
	e := open(t, path, opts)
	ids := map[string]string{} // by audio file: the session
	for range 3 {
		id := initiate(t, e, "u")
		submit(t, e, id, speech())
		entries, err := os.ReadDir(path + ".audio")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range entries {
			if ids[f.Name()] == "" {
				ids[f.Name()] = id
			}
		}
	}
	closeEngine(t, e)
	var damaged string
	for name, id := range ids {
		file := filepath.Join(path+".audio", name)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)-1000] ^= 1
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		damaged = id
		break
	}
	opts.Workers = workers
	e = open(t, path, opts)
	for _, id := range ids {
		r := wait(t, e, id)
		if failed := r.Failure != nil && r.Failure.Code == screen.CodeInternal && len(r.Scores) == 0; failed != (id == damaged) {
			t.Errorf("got %+v of a session that is damaged: %v", r, id == damaged)
		}
	}
}

// TestADamagedSessionIsAnErrorOfItsOwn turns over one bit of a record.
func TestADamagedSessionIsAnErrorOfItsOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	opts := encryptedOptions()
	e := open(t, path, opts)
	damaged, whole := initiate(t, e, "u"), initiate(t, e, "v")
	closeEngine(t, e)
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		sessions := tx.Bucket([]byte("sessions"))
		k, v := sessions.Cursor().Seek(append([]byte{byte(len(damaged))}, damaged...))
		record := bytes.Clone(v)
		record[len(record)-1] ^= 1
		return sessions.Put(k, record)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	e = open(t, path, opts)
	if r, err := e.Result(t.Context(), damaged); !errors.Is(err, bolt.ErrCorrupt) || errors.Is(err, voicescreen.ErrNotFound) || errors.Is(err, voicescreen.ErrInvalid) {
		t.Errorf("Result: got %+v and error %v, want %v", r, err, bolt.ErrCorrupt)
	}
	if _, err := e.Submit(t.Context(), damaged, bytes.NewReader(speech()), nil); !errors.Is(err, bolt.ErrCorrupt) {
		t.Errorf("Submit: got error %v, want %v", err, bolt.ErrCorrupt)
	}
	submit(t, e, whole, speech())
	if r := wait(t, e, whole); r.Status != screen.StatusSuccess {
		t.Errorf("the other session: got %+v, want success", r)
	}
	if err := e.Forget(t.Context(), "u"); err != nil {
		t.Errorf("Forget: %v", err)
	}
	if _, err := e.Result(t.Context(), damaged); !errors.Is(err, voicescreen.ErrNotFound) {
		t.Errorf("after Forget: got error %v, want %v", err, voicescreen.ErrNotFound)
	}
}
