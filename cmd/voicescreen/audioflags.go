package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/internal/throttle"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
	"github.com/voicescreen/voicescreen/store/audio/s3"
	"github.com/voicescreen/voicescreen/store/postgres"
)

// envCustomerKey names the environment variable that may hold the key of sse=c.
const envCustomerKey = "VOICESCREEN_S3_CUSTOMER_KEY"

// audioFlags are the flags of "serve" and "work" for where recordings wait.
type audioFlags struct {
	place string // a directory or s3://…; "" for the database
	key   string // file of the key of sse=c; "" for the environment
}

func (a *audioFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.place, "audio", "", "with PostgreSQL: where recordings wait to be analysed, a directory that all machines share or s3://bucket/prefix?endpoint=https://… (default in the database)")
	cmd.Flags().StringVar(&a.key, "s3-customer-key", "", "with --audio s3://…?sse=c: a file with the key that the S3 server encrypts with, 64 hexadecimal digits (default: "+envCustomerKey+")")
	command.SecretFile(cmd, "s3-customer-key", envCustomerKey)
}

func (a *audioFlags) isBucket() bool { return strings.HasPrefix(a.place, "s3:") }

// check returns a usage error for flags that do not fit. Db is --db.
func (a *audioFlags) check(db string) error {
	switch {
	case a.place == "" && a.key == "":
		return nil
	case !a.isBucket() && a.key != "":
		return command.Usagef("--s3-customer-key needs --audio s3://…?sse=c")
	case !isPostgres(db):
		return command.Usagef("--audio is for a PostgreSQL database; a database file has its recordings in a directory beside it")
	case a.isBucket():
		if _, err := s3.ParseURL(a.place); err != nil {
			return command.Usage(fmt.Errorf("--audio: %w", err))
		}
		return nil
	case strings.Contains(a.place, "://"):
		return command.Usagef("--audio is no directory and does not begin with s3://")
	}
	if info, err := os.Stat(a.place); err != nil || !info.IsDir() { // a new one may be where nothing is mounted
		return command.Usagef("--audio is %q, want a directory that is there, or s3://bucket/prefix", a.place)
	}
	return nil
}

// open returns where recordings wait, nil for the database. A bucket that does not exist,
// or that the credentials do not open, is an error; a server that does not answer now is
// a warning.
func (a *audioFlags) open(ctx context.Context, logger *slog.Logger) (store.Audio, error) {
	if a.place == "" {
		return nil, nil
	}
	if !a.isBucket() {
		d, err := audio.Open(a.place, nil)
		if err != nil {
			return nil, fmt.Errorf("--audio: %w", err)
		}
		return d, nil
	}
	l, err := s3.ParseURL(a.place)
	if err != nil {
		return nil, fmt.Errorf("--audio: %w", err)
	}
	var key []byte
	if l.Encryption == s3.CustomerKey {
		if key, err = readSecret(a.key, envCustomerKey); err != nil {
			return nil, err
		}
	}
	b, err := s3.Open(l, &s3.Options{CustomerKey: key})
	if err == nil {
		err = b.Ping(ctx)
	}
	if errors.Is(err, store.ErrUnavailable) {
		logger.Warn("--audio: the S3 server does not answer; submissions are refused until it does", "error", err)
		return b, nil
	}
	if err != nil {
		return nil, fmt.Errorf("--audio: %w", err)
	}
	return b, nil
}

// checkWaiting refuses to start workers that could not read the recordings that wait.
func (o *engineFlags) checkWaiting(ctx context.Context, db database) error {
	if db.shared == nil || o.workers == 0 {
		return nil
	}
	err := db.shared.CheckAudio(ctx)
	if errors.Is(err, postgres.ErrElsewhere) {
		return command.Usagef("--audio is missing: recordings wait outside the database, in the directory or the bucket that was given to the servers as --audio")
	}
	return err
}

// lackEvery is how often a process looks whether it lacks --audio. Chosen; it reads a
// variable, and asks the database only if it does.
const lackEvery = time.Second

// watchAudio logs that servers put recordings where this process cannot read them, until
// ctx is done. Other processes analyse them.
func watchAudio(ctx context.Context, db database, logger *slog.Logger) {
	if db.shared == nil {
		return
	}
	var line throttle.Line
	tick := time.NewTicker(lackEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if db.shared.LacksAudio() && errors.Is(db.shared.CheckAudio(ctx), postgres.ErrElsewhere) {
			line.Log(logger, slog.LevelError, "recordings wait where this process cannot read them; start it with the same --audio as the servers")
		}
	}
}
