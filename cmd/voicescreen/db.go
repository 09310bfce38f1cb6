package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
	"github.com/voicescreen/voicescreen/store/postgres"
)

func newDB() *cobra.Command {
	cmd := command.Group(&cobra.Command{
		Use:   "db",
		Short: "List, export, check, copy, back up, restore, compact and encrypt a database",
		Long: `A database clinic.db consists of three parts that belong together: the file, the
directory clinic.db.audio with the recordings that wait, and, if it is encrypted, the
file clinic.db.keyslots. The file also holds the models that were learned from labels, and
the norms that were adapted.

With postgres://… in place of a path, "db check", "db list", "db export", "db
delete-user" and "db rekey" work on a PostgreSQL database, while it is used. "db copy"
needs the servers of both sides stopped. Back PostgreSQL up and restore it with its own
tools.

Stop the service before you use these commands on a file: one process can have it
open. A running service makes backups with "serve --backup DIR --backup-every 24h",
and a program that embeds the engine with Engine.Backup. "db check", "db restore",
"db list" and "db export" take those too.`,
		Example: "  voicescreen db check clinic.db\n" +
			"  voicescreen db list clinic.db --account clinic-a\n" +
			"  voicescreen db export clinic.db --csv -o clinic.csv\n" +
			"  voicescreen db delete-user clinic.db --account clinic-a --user patient-17\n" +
			"  voicescreen db backup clinic.db /backup/monday.db\n" +
			"  voicescreen db restore /backup/monday.db clinic.db\n" +
			"  voicescreen db encrypt clinic.db encrypted.db --store-key store.key",
	})
	cmd.AddCommand(newDBCheck(), newDBBackup(), newDBRestore(), newDBCompact(), newDBEncrypt(), newDBRekey(), newDBCopy(),
		newDBList(), newDBExport(), newDBDeleteUser())
	return cmd
}

// dbCommand returns a command on a database, whose options run is given.
func dbCommand(use, short, long, example string, args int, run func(cmd *cobra.Command, opts *bolt.Options, args []string) error) *cobra.Command {
	var storeKey storeKeyFlag
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: "  voicescreen db " + example,
		Args: command.Args(cobra.ExactArgs(args)),
		RunE: func(cmd *cobra.Command, args []string) error {
			warnReadable(cmd.ErrOrStderr(), storeKey.file)
			key, err := storeKey.read()
			if err != nil {
				return err
			}
			return keyHint(run(cmd, &bolt.Options{Key: key}, args))
		},
	}
	storeKey.add(cmd)
	return cmd
}

func newDBCheck() *cobra.Command {
	return dbCommand("check PATH", "Find what is damaged in a database",
		`Check the structure of the file, every record, the indexes, the recordings to
their end, the keys, and the models that were learned from labels. Each fault is a
line on standard output, which names sessions by their identifiers; with any, the
exit status is 1. The database is opened for writing, which must be allowed, and one
of an older format is brought up to date in place. Of a PostgreSQL database every
record, the recordings, the keys, the webhooks and the models are read.`,
		"check clinic.db",
		1, func(cmd *cobra.Command, opts *bolt.Options, args []string) error {
			n := 0
			c, err := checkDB(cmd, args[0], opts, &n)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s, %d recordings with %d bytes, %s\n", command.Count(c.Sessions, "session"), c.Audio, c.Bytes, command.Count(n, "fault"))
			if n > 0 {
				return command.ErrReported
			}
			return nil
		})
}

// checkDB prints the faults of a database that is there, and counts them.
func checkDB(cmd *cobra.Command, path string, opts *bolt.Options, n *int) (bolt.Contents, error) {
	report := func(fault string) error {
		*n++
		_, err := fmt.Fprintln(cmd.OutOrStdout(), fault)
		return err
	}
	if isPostgres(path) {
		return checkPostgres(cmd, path, opts.Key, report)
	}
	if err := mustExist(path); err != nil {
		return bolt.Contents{}, err
	}
	return bolt.Check(cmd.Context(), path, opts, report)
}

func newDBBackup() *cobra.Command {
	return dbCommand("backup PATH TO", "Copy a database, and check the copy",
		`Copy a database with its recordings, keys and learned models to a place where there
is none, and check the copy. That of an encrypted database is encrypted with the same key. It
holds sessions that are erased later: erase old backups too. The database must not be
in use: a running service backs it up with "serve --backup DIR --backup-every 24h".`,
		"backup clinic.db /backup/monday.db --store-key store.key",
		2, copyChecked)
}

func newDBRestore() *cobra.Command {
	return dbCommand("restore BACKUP PATH", "Check a backup, and make a database of it",
		`Check a backup, and copy it to a place where there is no database. Of a backup
with faults nothing is copied: "db check" prints them. The backup is opened for
writing.`,
		"restore /backup/monday.db clinic.db --store-key store.key",
		2, func(cmd *cobra.Command, opts *bolt.Options, args []string) error {
			n := 0
			if err := errors.Join(mustExist(args[0]), isFile(args[1])); err != nil {
				return err
			}
			if _, err := checkDB(cmd, args[0], opts, &n); err != nil {
				return err
			}
			if n > 0 {
				return fmt.Errorf("%s: the backup has %s, and is not restored", args[0], command.Count(n, "fault"))
			}
			return copyChecked(cmd, opts, args)
		})
}

// copyChecked copies a database and checks the copy.
func copyChecked(cmd *cobra.Command, opts *bolt.Options, args []string) error {
	if err := isFile(args[1]); err != nil {
		return err
	}
	err := withDB(args[0], opts, func(st *bolt.Store) error { return st.Backup(cmd.Context(), args[1]) })
	if err != nil {
		return err
	}
	n := 0
	c, err := checkDB(cmd, args[1], opts, &n)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %d recordings, %s\n", args[1], command.Count(c.Sessions, "session"), c.Audio, command.Count(n, "fault"))
	if n > 0 {
		return command.ErrReported
	}
	return nil
}

func newDBCompact() *cobra.Command {
	return dbCommand("compact PATH", "Give back the space of what was removed",
		"Rewrite a database without the space of what was removed. It needs room for a\nsecond one beside it.",
		"compact clinic.db",
		1, func(cmd *cobra.Command, opts *bolt.Options, args []string) error {
			if err := mustExist(args[0]); err != nil {
				return err
			}
			before, after, err := bolt.Compact(args[0], opts)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d bytes, before %d\n", after, before)
			return err
		})
}

func newDBEncrypt() *cobra.Command {
	return dbCommand("encrypt PATH TO", "Make an encrypted database of a plain one",
		`Copy the sessions and recordings of a database that is not encrypted into a new
one that is. The old one stays. Once it is removed its disk may still hold what it
held: disks and file systems have their own means for that. Sessions that are
damaged, or whose recording is, are left out, and counted in an error.`,
		"encrypt clinic.db encrypted.db --store-key store.key",
		2, func(cmd *cobra.Command, opts *bolt.Options, args []string) error {
			if opts.Key == nil {
				return command.Usagef("--store-key is needed, or %s", envStoreKey)
			}
			if err := mustNotExist(args[1]); err != nil {
				return err
			}
			return withDB(args[0], nil, func(from *bolt.Store) error {
				to, err := bolt.Open(args[1], opts)
				if err != nil {
					return err
				}
				var left store.DamagedError // what was left out: the copy is complete but for it
				n, err := bolt.Copy(cmd.Context(), to, from)
				if err := errors.Join(left.Add(err), to.Close()); err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", args[1], command.Count(n, "session"))
				if left.Records > 0 {
					err = errors.Join(err, &left)
				}
				return err
			})
		})
}

func newDBRekey() *cobra.Command {
	var file string
	cmd := dbCommand("rekey PATH --new-key FILE", "Change the key of an encrypted database",
		`Change the key of an encrypted database, in a moment. It does not help against
somebody who has the old key and a copy of the key file from before.`,
		"rekey clinic.db --store-key store.key --new-key new.key",
		1, func(cmd *cobra.Command, opts *bolt.Options, args []string) error {
			if file == "" {
				return command.Usagef("--new-key is missing")
			}
			warnReadable(cmd.ErrOrStderr(), file)
			key, err := readSecret(file, "")
			if err != nil {
				return err
			}
			if isPostgres(args[0]) {
				return postgres.Rekey(cmd.Context(), args[0], opts.Key, key)
			}
			if err := mustExist(args[0]); err != nil {
				return err
			}
			return bolt.Rekey(args[0], opts.Key, key)
		})
	cmd.Flags().StringVar(&file, "new-key", "", "a file with the new key (required)")
	return cmd
}

// withDB calls f with a database that is there.
func withDB(path string, opts *bolt.Options, f func(*bolt.Store) error) error {
	if err := mustExist(path); err != nil {
		return err
	}
	st, err := bolt.Open(path, opts)
	if err != nil {
		return err
	}
	return errors.Join(f(st), st.Close())
}

// mustExist says that there is no database, which bolt.Open would make.
func mustExist(path string) error {
	if isPostgres(path) {
		return command.Usagef("this command is for database files; PostgreSQL has tools of its own for it, such as pg_basebackup, pg_dump and VACUUM")
	}
	_, err := os.Stat(path)
	return err
}

// isFile says that a path names no PostgreSQL database.
func isFile(path string) error {
	if isPostgres(path) {
		return mustExist(path)
	}
	return nil
}

func mustNotExist(path string) error {
	if err := isFile(path); err != nil {
		return err
	}
	_, err := os.Lstat(path)
	if err == nil {
		return fmt.Errorf("%s is there already", path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
