package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// TestCopyModelsLeavesNothingBehind where the store is not made, and
// overwrites nothing.
func TestCopyModelsLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "clinic.db"), filepath.Join(dir, "backup.db")
	text := fmt.Sprintf(`{"format":"voicescreen-learned/1","models":{"depression":[%s]}}`, modelText(t, shippedBayes(t, screen.Depression)))
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(from+".models", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	broken := errors.New("broken")
	if err := voicescreen.CopyModels(from, to, func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
	if _, err := os.Stat(to + ".models"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a copy stays whose store was not made: %v", err)
	}
	there := func() error { return voicescreen.CheckModels(to) }
	if err := voicescreen.CopyModels(from, to, there); err != nil {
		t.Errorf("got error %v", err)
	}
	if _, err := os.Stat(to + ".models"); err != nil {
		t.Error(err)
	}
	if err := voicescreen.CopyModels(from, to, there); err == nil {
		t.Error("a copy is there: got no error")
	}
	write(text[:len(text)/2])
	for name, err := range map[string]error{
		"CheckModels": voicescreen.CheckModels(from),
		"CopyModels":  voicescreen.CopyModels(from, filepath.Join(dir, "other.db"), there),
	} {
		if err == nil || !strings.Contains(err.Error(), "learned models") {
			t.Errorf("%s of a damaged file: got error %v", name, err)
		}
	}
	if err := voicescreen.CopyModels(filepath.Join(dir, "none.db"), filepath.Join(dir, "other.db"), there); err != nil {
		t.Errorf("without models: got error %v", err)
	}
}

// modelText is a model as it stands in its file.
func modelText(t *testing.T, m *models.BayesFile) string {
	t.Helper()
	var b strings.Builder
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

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
