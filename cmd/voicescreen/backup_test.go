package main

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
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
	var metrics httpadapter.Metrics
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	to := filepath.Join(dir, "backups")
	go func() {
		backupEvery(ctx, e, backupFlags{dir: to, every: 100 * time.Millisecond}, slog.New(slog.NewTextHandler(&log, nil)), &metrics)
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
	awaitMetric(t, &metrics, "voicescreen_backup_last_success 0\n")
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	await(`level=INFO msg="backed up"`)
	awaitMetric(t, &metrics, "voicescreen_backup_last_success 1\n")
	stop()
	<-done
	backups, err := filepath.Glob(filepath.Join(to, "*.db"))
	if err != nil || len(backups) == 0 {
		t.Fatalf("got backups %v and error %v", backups, err)
	}
	ok(t, "db", "check", backups[0])
}

// TestTheLastBackupOfAnEarlierProcessIsKnown stands in the metrics from the start.
func TestTheLastBackupOfAnEarlierProcessIsKnown(t *testing.T) {
	dir := t.TempDir()
	flags := backupFlags{dir: dir, every: 24 * time.Hour}
	if at, ok := flags.last(); ok {
		t.Errorf("got a backup at %v in an empty directory", at)
	}
	for _, name := range []string{"20261120T000000Z.db", "20261122T000000Z.db", "20261121T000000Z.db", "20261123T000000Z.db.keyslots", "notes.txt", "clinic.db"} {
		write(t, filepath.Join(dir, name), nil)
	}
	var metrics httpadapter.Metrics
	ctx, stop := context.WithCancel(t.Context())
	stop()
	backupEvery(ctx, nil, flags, slog.New(slog.DiscardHandler), &metrics)
	awaitMetric(t, &metrics, `voicescreen_backup_last_timestamp_seconds{outcome="success"} 1.7953056e+09`+"\n") // 2026-11-22 00:00:00 UTC
	awaitMetric(t, &metrics, "voicescreen_backup_last_success 1\n")
}

// awaitMetric waits until a line is among the metrics.
func awaitMetric(t *testing.T, m *httpadapter.Metrics, line string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		w := httptest.NewRecorder()
		m.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if strings.Contains(w.Body.String(), line) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("got metrics\n%s, want %s", w.Body, line)
		}
	}
}
