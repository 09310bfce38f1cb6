package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/internal/command"
)

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
	st, err := openPostgres(ctx, k.db, secret)
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	keys, err := httpadapter.StoredKeys(ctx, st)
	if err == nil {
		err = f(keys)
	}
	return errors.Join(err, st.Close())
}
