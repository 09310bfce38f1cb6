package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/internal/command"
)

// webhookFlags are the flags that the commands on webhooks share: where the webhooks
// are, in a file or in a PostgreSQL database, and of which account.
type webhookFlags struct {
	file, db, account string
	storeKey          storeKeyFlag
}

func (w *webhookFlags) add(cmd *cobra.Command) {
	w.addFile(cmd)
	cmd.Flags().StringVar(&w.account, "account", "", "the account to notify (required)")
	command.NoValues(cmd, "account")
}

func (w *webhookFlags) addFile(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.file, "webhooks", "", "the file of the webhooks")
	cmd.Flags().StringVar(&w.db, "db", "", "instead of a file, the PostgreSQL database that holds the webhooks, postgres://…")
	w.storeKey.add(cmd)
}

func (w *webhookFlags) check(account bool) error {
	switch {
	case w.file == "" && w.db == "":
		return command.Usagef("--webhooks is missing, want the path of the file of the webhooks, or --db postgres://…")
	case w.file != "" && w.db != "":
		return command.Usagef("want --webhooks or --db, and not both")
	case w.file != "" && w.storeKey.file != "":
		return command.Usagef("--store-key is for --db: a file of webhooks is not encrypted")
	case w.db != "" && !isPostgres(w.db):
		return command.Usagef("--db is for webhooks in PostgreSQL, want postgres://…; the webhooks beside a database file are in the file of --webhooks")
	case account && w.account == "":
		return command.Usagef("--account is missing")
	}
	return nil
}

// use calls f with the webhooks. A missing file is made if create is true.
func (w *webhookFlags) use(ctx context.Context, create bool, f func(*webhook.Endpoints) error) error {
	if w.db == "" {
		open := openWebhooks
		if create {
			open = webhook.Open
		}
		endpoints, err := open(w.file)
		if err != nil {
			return err
		}
		return f(endpoints)
	}
	key, err := w.storeKey.read()
	if err != nil {
		return err
	}
	st, err := openPostgres(ctx, w.db, key)
	if err != nil {
		return err
	}
	endpoints, err := webhook.Stored(ctx, st)
	if err == nil {
		err = f(endpoints)
	}
	return errors.Join(err, st.Close())
}

// openWebhooks opens a file that must be there: a new one would hide that its name
// is mistyped.
func openWebhooks(path string) (*webhook.Endpoints, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s; make one with \"voicescreen webhooks set --webhooks %s --account NAME --url URL\"", path, path)
	}
	return webhook.Open(path)
}

// printSecret prints a secret alone on standard output.
func (w *webhookFlags) printSecret(cmd *cobra.Command, secret string) error {
	fmt.Fprintf(cmd.ErrOrStderr(), "The secret of the signatures for account %s, which is not shown again:\n", w.account)
	_, err := fmt.Fprintln(cmd.OutOrStdout(), secret)
	return err
}
