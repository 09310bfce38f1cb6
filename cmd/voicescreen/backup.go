package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/internal/command"
)

// backupFlags are the flags of "serve" for backups of its database.
type backupFlags struct {
	dir   string // "" for none
	every time.Duration
}

func (b *backupFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&b.dir, "backup", "", "a directory to back up the database to while it is served, with --backup-every")
	command.Folders(cmd, "backup")
	command.DurationVar(cmd, &b.every, "backup-every", "how often to back up, such as 24h, which is at midnight UTC")
}

const (
	// backupName is the time in the name of a backup, UTC.
	backupName = "20060102T150405Z.db"

	// minBackupEvery keeps two backups from having one name.
	minBackupEvery = time.Second
)

func (b *backupFlags) check() error {
	if b.dir == "" && b.every == 0 {
		return nil
	}
	if b.dir == "" {
		return command.Usagef("--backup-every needs --backup")
	}
	if b.every < minBackupEvery {
		return command.Usagef("--backup-every is %v, want %v or more", b.every, minBackupEvery)
	}
	if info, err := os.Stat(b.dir); err != nil || !info.IsDir() {
		return command.Usagef("--backup is %q, want a directory that is there", b.dir)
	}
	return nil
}

// last returns the time of the latest backup in the directory, which an earlier
// process made, and false if there is none: a backup is complete when its .db is
// there.
func (b *backupFlags) last() (at time.Time, ok bool) {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return time.Time{}, false // the next backup has the error
	}
	for _, e := range entries {
		if t, err := time.Parse(backupName, e.Name()); err == nil && t.After(at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// backupEvery backs up the engine's store again and again until ctx is done. The
// first backup waits for a multiple of the period and not for a whole one, so
// that a service that starts often is backed up too. Metrics has the last backup.
func backupEvery(ctx context.Context, e *voicescreen.Engine, b backupFlags, log *slog.Logger, metrics *httpadapter.Metrics) {
	if at, ok := b.last(); ok {
		metrics.OnBackup(at, nil)
	}
	now := time.Now()
	timer := time.NewTimer(now.Truncate(b.every).Add(b.every).Sub(now))
	defer timer.Stop()
	for {
		var at time.Time
		select {
		case <-ctx.Done():
			return
		case at = <-timer.C:
		}
		timer.Reset(b.every)
		path := filepath.Join(b.dir, at.UTC().Format(backupName))
		err := e.Backup(ctx, path)
		switch {
		case err == nil:
			log.Info("backed up", "path", path)
			metrics.OnBackup(at, nil)
		case ctx.Err() == nil && !errors.Is(err, voicescreen.ErrClosed):
			log.Error("back up", "error", err)
			metrics.OnBackup(at, err)
		}
	}
}
