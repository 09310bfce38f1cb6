package durable

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLockTimeout(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(name, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(name, 20*time.Millisecond); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("got %v, want an error about another process", err)
	}
	unlock()
	unlock, err = Lock(name, 0)
	if err != nil {
		t.Fatalf("got %v after the lock was released", err)
	}
	unlock()
}

func TestSyncDir(t *testing.T) {
	if err := SyncDir(t.TempDir()); err != nil {
		t.Error(err)
	}
	if err := SyncDir(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("got no error for a missing directory")
	}
}
