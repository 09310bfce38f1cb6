package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// readThresholds reads the file of thresholds at path, none for "".
func readThresholds(path string) (screen.AccountThresholds, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("thresholds %s: %w", path, command.Bare(err))
	}
	defer f.Close()
	a, err := screen.ReadThresholds(f)
	if err != nil {
		return nil, fmt.Errorf("thresholds %s: %w", path, err)
	}
	return a, nil
}

func newThresholds() *cobra.Command {
	cmd := command.Group(&cobra.Command{
		Use:   "thresholds",
		Short: "Set, show and remove the thresholds of accounts in a database",
		Long: `Keep the decision thresholds of accounts, which "voicelab thresholds" chooses, in the
database. Servers and workers on a PostgreSQL database use them within a second. One that
has a file of its own, with --thresholds, uses that. Of a database file stop the server
first. Scores that were computed stay as they are.`,
		Example: "  voicescreen thresholds set thresholds.json --db postgres://voicescreen@db.example/voicescreen",
	})
	cmd.AddCommand(
		thresholdsCommand("set FILE", "Replace the thresholds of all accounts by those of a file", "set thresholds.json --db clinic.db", 1,
			func(_ *cobra.Command, e *voicescreen.Engine, args []string) error {
				a, err := readThresholds(args[0])
				if err != nil {
					return err
				}
				return e.SetThresholds(a)
			}),
		thresholdsCommand("show", "Print the thresholds in the form of a file", "show --db clinic.db", 0,
			func(cmd *cobra.Command, e *voicescreen.Engine, _ []string) error {
				a := e.Thresholds()
				if len(a) == 0 {
					_, err := fmt.Fprintln(cmd.ErrOrStderr(), "There are none: those of the models are in use.")
					return err
				}
				return screen.WriteThresholds(cmd.OutOrStdout(), a)
			}),
		thresholdsCommand("remove", "Use the thresholds of the models for all accounts", "remove --db clinic.db", 0,
			func(_ *cobra.Command, e *voicescreen.Engine, _ []string) error { return e.SetThresholds(nil) }),
	)
	return cmd
}

// thresholdsCommand returns a command on the thresholds of a database that is there.
func thresholdsCommand(use, short, example string, args int, run func(*cobra.Command, *voicescreen.Engine, []string) error) *cobra.Command {
	var (
		db       string
		storeKey storeKeyFlag
	)
	cmd := &cobra.Command{
		Use: use + " --db DB", Short: short, Example: "  voicescreen thresholds " + example,
		Args: command.Args(cobra.ExactArgs(args)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if db == "" {
				return command.Usagef("--db is missing")
			}
			warnReadable(cmd.ErrOrStderr(), storeKey.file)
			key, err := storeKey.read()
			if err != nil {
				return err
			}
			engine, done, err := openEngineOn(cmd.Context(), db, &voicescreen.Options{Workers: -1, Store: bolt.Options{Key: key}})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, done()) }()
			return run(cmd, engine, args)
		},
	}
	cmd.Flags().StringVar(&db, "db", "", "the database file, or postgres://… (required)")
	storeKey.add(cmd)
	return cmd
}
