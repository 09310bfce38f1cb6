package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// TestCalibratePassesOverDamage flips a bit in the records of two sessions, and
// makes a third one be compared with an earlier one that is damaged.
func TestCalibratePassesOverDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	st, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	addLabelled(t, st, "a", 50, 1)
	last, err := st.Get(t.Context(), "a", "a-0")
	if err != nil {
		t.Fatal(err)
	}
	last.ID, last.CreatedAt, last.Baseline = "a-last", last.CreatedAt.Add(time.Hour), true
	if err := errors.Join(st.Create(t.Context(), last), st.Close()); err != nil {
		t.Fatal(err)
	}
	damage(t, path, "a-0", "a-49")
	e, err := voicescreen.Open(path, idle())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	got := calibrate(t, e, voicescreen.CalibrateOptions{DryRun: true})
	if got.Damaged != 2 || got.Skipped != 1 || got.Learned == nil || got.Learned.File.Labels.Sessions != 48 {
		t.Errorf("got %+v, want 48 sessions, 2 damaged and 1 skipped", got)
	}
}

// damage flips a bit in the records of sessions of the bolt store at path.
func damage(t *testing.T, path string, ids ...string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		sessions := tx.Bucket([]byte("sessions"))
		for _, id := range ids {
			k, record := sessions.Cursor().Seek(append([]byte{byte(len(id))}, id...))
			record = bytes.Clone(record)
			record[len(record)/2] ^= 1
			if err := sessions.Put(bytes.Clone(k), record); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
