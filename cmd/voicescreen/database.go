package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
	"github.com/voicescreen/voicescreen/store/postgres"
)

// isPostgres says whether --db names a PostgreSQL database and not a file.
func isPostgres(db string) bool {
	return strings.HasPrefix(db, "postgres://") || strings.HasPrefix(db, "postgresql://")
}

// database is what a server keeps its data in: a PostgreSQL database, or a file,
// which the engine opens itself. The zero value is a file.
type database struct{ shared *postgres.Store }

// openDatabase opens the database if it is one of PostgreSQL.
func openDatabase(ctx context.Context, o *engineFlags, logger *slog.Logger) (database, error) {
	if !isPostgres(o.db) {
		return database{}, nil
	}
	key, err := o.storeKey.read()
	if err != nil {
		return database{}, err
	}
	recordings, err := o.audio.open(ctx, logger)
	if err != nil {
		return database{}, err
	}
	st, err := postgres.Open(ctx, o.db, &postgres.Options{Key: key, Audio: recordings, RowSecurity: o.rows})
	return database{st}, keyHint(err)
}

// engine returns an engine on the database. The caller closes both.
func (d database) engine(path string, opts *voicescreen.Options) (*voicescreen.Engine, error) {
	if d.shared == nil {
		return voicescreen.Open(path, opts)
	}
	return voicescreen.New(d.shared, opts)
}

func (d database) close() error {
	if d.shared == nil {
		return nil
	}
	return d.shared.Close()
}

// openPostgres opens a PostgreSQL database for one command.
func openPostgres(ctx context.Context, url string, key []byte) (*postgres.Store, error) {
	st, err := postgres.Open(ctx, url, &postgres.Options{Key: key})
	return st, keyHint(err)
}

// withStore calls f with a database that is there, a file or one of PostgreSQL.
func withStore(ctx context.Context, db string, opts *bolt.Options, f func(store.Store) error) error {
	if !isPostgres(db) {
		return withDB(db, opts, func(st *bolt.Store) error { return f(st) })
	}
	var key []byte
	if opts != nil {
		key = opts.Key
	}
	st, err := openPostgres(ctx, db, key)
	if err != nil {
		return err
	}
	return errors.Join(f(st), st.Close())
}

// openEngineOn returns an engine that analyses nothing, on a database that is there, and
// what closes both.
func openEngineOn(ctx context.Context, db string, opts *voicescreen.Options) (engine *voicescreen.Engine, done func() error, err error) {
	if !isPostgres(db) {
		if _, err := os.Stat(db); errors.Is(err, fs.ErrNotExist) { // Open would make it
			return nil, nil, fmt.Errorf("there is no database %s", db)
		}
		engine, err = voicescreen.Open(db, opts)
		return engine, func() error { return closeEngine(engine) }, keyHint(err)
	}
	st, err := openPostgres(ctx, db, opts.Store.Key)
	if err != nil {
		return nil, nil, err
	}
	if engine, err = voicescreen.New(st, opts); err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	return engine, func() error { return errors.Join(closeEngine(engine), st.Close()) }, nil
}
