package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/internal/command"
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
	st, err := postgres.Open(ctx, o.db, &postgres.Options{Key: key, Audio: recordings})
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

// keyStore is where the commands on keys find them: a file, or a PostgreSQL
// database.
type keyStore struct {
	file, db string
	storeKey storeKeyFlag
}

func (k *keyStore) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&k.file, "keys", "", "the key file")
	cmd.Flags().StringVar(&k.db, "db", "", "instead of a key file, the PostgreSQL database that holds the keys, postgres://…")
	k.storeKey.add(cmd)
}

func (k *keyStore) check() error {
	switch {
	case k.file == "" && k.db == "":
		return command.Usagef("--keys is missing, want the path of the key file, or --db postgres://…")
	case k.file != "" && k.db != "":
		return command.Usagef("want --keys or --db, and not both")
	case k.file != "" && k.storeKey.file != "":
		return command.Usagef("--store-key is for --db: a key file is not encrypted")
	case k.db != "" && !isPostgres(k.db):
		return command.Usagef("--db is for keys in PostgreSQL, want postgres://…; the keys beside a database file are in the file of --keys")
	}
	return nil
}

// use calls f with the keys. A missing file is made if create is true.
func (k *keyStore) use(ctx context.Context, create bool, f func(keys *httpadapter.Keys) error) error {
	if k.db == "" {
		open := openKeys
		if create {
			open = httpadapter.CreateKeys
		}
		keys, err := open(k.file)
		if err != nil {
			return err
		}
		return f(keys)
	}
	secret, err := k.storeKey.read()
	if err != nil {
		return err
	}
	st, err := postgres.Open(ctx, k.db, &postgres.Options{Key: secret})
	if err != nil {
		return keyHint(fmt.Errorf("keys: %w", err))
	}
	keys, err := httpadapter.StoredKeys(ctx, st)
	if err == nil {
		err = f(keys)
	}
	return errors.Join(err, st.Close())
}
