package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
)

// TestBackupsGoOnAfterAnError backs up to a directory that is away for a while.
func TestBackupsGoOnAfterAnError(t *testing.T) {
	dir := t.TempDir()
	e, err := voicescreen.Open(filepath.Join(dir, "clinic.db"), &voicescreen.Options{Workers: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := closeEngine(e); err != nil {
			t.Error(err)
		}
	}()
	var log lockedBuffer
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	to := filepath.Join(dir, "backups")
	go func() {
		backupEvery(ctx, e, backupFlags{dir: to, every: 100 * time.Millisecond}, slog.New(slog.NewTextHandler(&log, nil)))
		close(done)
	}()
	await := func(text string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !strings.Contains(log.String(), text); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("got log\n%s, want %q", log.String(), text)
			}
		}
	}
	await(`level=ERROR msg="back up"`)
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	await(`level=INFO msg="backed up"`)
	stop()
	<-done
	backups, err := filepath.Glob(filepath.Join(to, "*.db"))
	if err != nil || len(backups) == 0 {
		t.Fatalf("got backups %v and error %v", backups, err)
	}
	ok(t, "db", "check", backups[0])
}
