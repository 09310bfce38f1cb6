package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/internal/command"
)

func newKeys() *cobra.Command {
	cmd := command.Group(&cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke API keys",
		Long: `Keep the API keys of "voicescreen serve" in a file, or in its PostgreSQL database.
It holds the SHA-256 of each key, and no key. A running server reads changes within a
second.`,
		Example: "  voicescreen keys create --keys keys.json --account clinic-a\n" +
			"  voicescreen keys create --db postgres://voicescreen@db.example/voicescreen --account clinic-a",
	})
	cmd.AddCommand(newKeysCreate(), newKeysList(), newKeysRevoke())
	return cmd
}

// keyFlags are the flags that the commands on keys share.
type keyFlags struct {
	keyStore
	account string
}

func (k *keyFlags) add(cmd *cobra.Command, account string) {
	k.keyStore.add(cmd)
	cmd.Flags().StringVar(&k.account, "account", "", account)
	command.NoValues(cmd, "account")
}

func newKeysCreate() *cobra.Command {
	var (
		k       keyFlags
		trail   auditFlags
		scopes  []string
		expires time.Duration
	)
	cmd := &cobra.Command{
		Use:   "create (--keys FILE | --db URL) --account NAME",
		Short: "Create a key and print it, once",
		Long: `Create a key for an account, and a missing file. The key is printed once, alone on
standard output; the file keeps its SHA-256. Keys of one account see the same
sessions, and none of other accounts.`,
		Example: "  voicescreen keys create --keys keys.json --account clinic-a\n" +
			"  voicescreen keys create --keys keys.json --account clinic-a --scopes read --expires 30d",
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := k.check(); err != nil {
				return err
			}
			if k.account == "" {
				return command.Usagef("--account is missing")
			}
			var parsed []httpadapter.Scope
			for _, name := range scopes {
				s, err := httpadapter.ParseScope(name)
				if err != nil {
					return command.Usagef("--scopes: %w", err)
				}
				parsed = append(parsed, s)
			}
			if len(parsed) == 0 && command.Given(cmd, "scopes") != "" {
				return command.Usagef("--scopes is empty")
			}
			if expires <= 0 && command.Given(cmd, "expires") != "" {
				return command.Usagef("--expires is %v, want more than 0", expires)
			}
			var until time.Time
			if expires > 0 {
				until = time.Now().Add(expires)
			}
			return k.use(cmd.Context(), true, func(keys *httpadapter.Keys) error {
				key, err := createKey(keys, until, k.account, parsed, &trail)
				if err != nil {
					return usageIfInvalid(err)
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "A key for account %s, which is not shown again:\n", k.account)
				_, err = fmt.Fprintln(cmd.OutOrStdout(), key)
				return err
			})
		},
	}
	k.add(cmd, "the account that the key works in (required)")
	trail.add(cmd)
	cmd.Flags().StringSliceVar(&scopes, "scopes", nil,
		fmt.Sprintf("what the key may be used for, of %s,admin (default all but admin)", scopeList(httpadapter.DefaultScopes())))
	command.Values(cmd, "scopes", append(strings.Split(scopeList(httpadapter.DefaultScopes()), ","), httpadapter.ScopeAdmin.String())...)
	command.DurationVar(cmd, &expires, "expires", "how long the key is valid, such as 90d (default for ever)")
	return cmd
}

// createKey makes a key and notes it in the audit log. A key that could not be
// noted is revoked.
func createKey(keys *httpadapter.Keys, until time.Time, account string, scopes []httpadapter.Scope, trail *auditFlags) (key string, err error) {
	if err := trail.check(); err != nil {
		return "", err
	}
	l, err := trail.openQuiet()
	if err != nil {
		return "", err
	}
	e := audit.Event{Account: account, Action: "keys create", Outcome: "failed"}
	key, err = keys.CreateUntil(until, account, scopes...)
	if err != nil {
		return "", errors.Join(err, note(l, audit.Event{Action: e.Action, Outcome: e.Outcome}))
	}
	e.Key, e.Outcome = keyID(key), "done"
	if err := note(l, e); err != nil {
		return "", errors.Join(err, keys.Revoke(e.Key))
	}
	return key, nil
}

func scopeList(scopes []httpadapter.Scope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = s.String()
	}
	return strings.Join(names, ",")
}

// openKeys opens a key file that must be there.
func openKeys(path string) (*httpadapter.Keys, error) {
	keys, err := httpadapter.OpenKeys(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no key file %s; make one with \"voicescreen keys create --keys %s --account NAME\"", path, path)
	}
	return keys, err
}

func newKeysList() *cobra.Command {
	var k keyFlags
	cmd := &cobra.Command{
		Use:   "list (--keys FILE | --db URL) [--account NAME]",
		Short: "List keys by their IDs",
		Long: `List the keys of all accounts, or of one, expired and revoked ones included. The ID
of a key is the part between its underscores.`,
		Example: "  voicescreen keys list --keys keys.json",
		Args:    command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := k.check(); err != nil {
				return err
			}
			return k.use(cmd.Context(), false, func(keys *httpadapter.Keys) error {
				warnReadable(cmd.ErrOrStderr(), k.file)
				list, err := keys.List()
				if err != nil {
					return err
				}
				return printKeys(cmd.OutOrStdout(), list, k.account)
			})
		},
	}
	k.add(cmd, "only the keys of this account")
	return cmd
}

func printKeys(w io.Writer, list []httpadapter.Key, account string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "ID\tACCOUNT\tSTATE\tSCOPES\tCREATED\tEXPIRES")
	now := time.Now()
	for _, key := range list {
		if account != "" && key.Account != account {
			continue
		}
		state := "valid"
		switch {
		case !key.RevokedAt.IsZero():
			state = "revoked"
		case !key.Live(now):
			state = "expired"
		}
		expires := "never"
		if !key.ExpiresAt.IsZero() {
			expires = key.ExpiresAt.UTC().Format(time.DateTime)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", key.ID, key.Account, state,
			scopeList(key.Scopes), key.CreatedAt.UTC().Format(time.DateTime), expires)
	}
	return tw.Flush()
}

func newKeysRevoke() *cobra.Command {
	var (
		k     keyFlags
		trail auditFlags
		id    string
	)
	cmd := &cobra.Command{
		Use:   "revoke (--keys FILE | --db URL) (--account NAME | --id ID)",
		Short: "Revoke all keys of an account, or one key",
		Long: `Revoke all keys of an account, or one key by its ID. Running servers refuse requests
with a revoked key within a second.`,
		Example: "  voicescreen keys revoke --keys keys.json --account clinic-a\n" +
			"  voicescreen keys revoke --keys keys.json --id 0123456789abcdef",
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := k.check(); err != nil {
				return err
			}
			if (k.account == "") == (id == "") {
				return command.Usagef("want --account or --id, and not both")
			}
			return k.use(cmd.Context(), false, func(keys *httpadapter.Keys) error {
				if err := trail.check(); err != nil {
					return err
				}
				l, err := trail.openQuiet()
				if err != nil {
					return err
				}
				said, err := revokeKeys(keys, id, k.account)
				e := audit.Event{Action: "keys revoke", Outcome: "failed"}
				if err == nil { // only then are the two what they should be
					e.Account, e.Key, e.Outcome = k.account, keyID(id), "done"
				}
				if err := errors.Join(err, note(l, e)); err != nil {
					return err
				}
				fmt.Fprintln(cmd.ErrOrStderr(), said)
				return nil
			})
		},
	}
	trail.add(cmd)
	k.add(cmd, "the account whose keys are revoked")
	cmd.Flags().StringVar(&id, "id", "", "the ID of one key, as listed")
	command.NoValues(cmd, "id")
	return cmd
}

// keyID returns the ID of a key, which may be given itself.
func keyID(key string) string {
	if parts := strings.Split(key, "_"); len(parts) == 3 {
		return parts[1]
	}
	return key
}

// revokeKeys revokes the key of an ID or, without one, those of an account, and
// says what it did.
func revokeKeys(keys *httpadapter.Keys, id, account string) (said string, err error) {
	if id != "" {
		return "The key is revoked.", keys.Revoke(id)
	}
	n, err := keys.RevokeAccount(account)
	if err != nil {
		return "", err
	}
	if n == 0 {
		return "", fmt.Errorf("account %s has no valid keys", account)
	}
	return fmt.Sprintf("%d of the keys of account %s are revoked.", n, account), nil
}
