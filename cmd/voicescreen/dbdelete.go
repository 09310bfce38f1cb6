package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// userDeletion are the flags of "db delete-user".
type userDeletion struct {
	account, user string
	yes           bool
	trail         auditFlags
}

// actionDeleteUser is the name of the command in the audit log.
const actionDeleteUser = "db delete-user"

func newDBDeleteUser() *cobra.Command {
	var d userDeletion
	cmd := dbCommand("delete-user PATH --account NAME --user ID", "Erase everything about a user",
		`Erase all sessions of one user of an account, with their recordings, scores and
labels, as DELETE /v2/users/{user_id} does. It asks before it erases, or wants --yes.

What it does not reach: backups and exports that were made before, and models that
were learned from the labels. The file of a database that is not encrypted holds the
bytes until "db compact" or later sessions overwrite them. With --audit each erased
session is recorded, without the user.`,
		"delete-user clinic.db --account clinic-a --user patient-17",
		1, func(cmd *cobra.Command, opts *bolt.Options, args []string) error {
			for _, name := range []string{"account", "user"} {
				if command.Given(cmd, name) == "" {
					return command.Usagef("--%s is missing", name)
				}
			}
			if d.user == "" {
				return command.Usagef("--user is empty")
			}
			if err := d.trail.check(); err != nil {
				return err
			}
			return withStore(cmd.Context(), args[0], opts, func(st store.Store) error { return d.run(cmd, st) })
		})
	cmd.Flags().StringVar(&d.account, "account", "", "the account of the user; \"\" is that of a program without tenants (required)")
	cmd.Flags().StringVar(&d.user, "user", "", "the user (required)")
	command.NoValues(cmd, "account", "user")
	cmd.Flags().BoolVar(&d.yes, "yes", false, "do not ask")
	d.trail.add(cmd)
	return cmd
}

// run erases the user after the confirmation, and notes it in the audit log before
// and after.
func (d *userDeletion) run(cmd *cobra.Command, st store.Store) error {
	ids, latest, err := sessionsOf(cmd.Context(), st, d.account, d.user)
	damaged := errors.Is(err, store.ErrDamaged) // Forget erases damaged records too
	if err != nil && !damaged {
		return err
	}
	if len(ids) == 0 && !damaged {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "0 sessions erased: the account has none of this user")
		return err
	}
	if !d.yes {
		what := command.Count(len(ids), "session") + " of this user, the latest of " + latest.UTC().Format(time.DateTime)
		if damaged {
			what = "all sessions of this user, of which some are damaged"
		}
		if err := confirm(cmd, "Erase "+what+"? This cannot be undone. Type yes: "); err != nil {
			return err
		}
	}
	l, err := d.trail.openQuiet()
	if err != nil {
		return err
	}
	n, err := d.erase(cmd.Context(), st, l, ids)
	if n > 0 || err == nil {
		_, perr := fmt.Fprintf(cmd.OutOrStdout(), "%s erased\n", command.Count(n, "session"))
		err = errors.Join(err, perr)
	}
	return err
}

// erase erases the user. What cannot be noted before is not done.
func (d *userDeletion) erase(ctx context.Context, st store.Store, l *audit.Log, ids []string) (n int, err error) {
	if l == nil {
		return st.Forget(ctx, d.account, d.user)
	}
	defer func() {
		_, cerr := l.Close()
		err = errors.Join(err, cerr)
	}()
	e := audit.Event{Account: d.account, Action: actionDeleteUser, Outcome: "begun"}
	if err := l.Append(e); err != nil {
		return 0, err
	}
	n, err = st.Forget(ctx, d.account, d.user)
	if n == 0 && err != nil {
		e.Outcome = "failed"
		return 0, errors.Join(err, l.Append(e))
	}
	e.Outcome = "erased"
	for _, e.Session = range ids {
		err = errors.Join(err, l.Append(e))
	}
	e.Session, e.Outcome = "", "done"
	return n, errors.Join(err, l.Append(e))
}

// sessionsOf returns the identifiers of all sessions of a user, and when the latest
// was created. The error wraps store.ErrDamaged if one of them cannot be read.
func sessionsOf(ctx context.Context, st store.Store, account, user string) (ids []string, latest time.Time, err error) {
	for after := (*store.Cursor)(nil); ; {
		list, err := st.List(ctx, account, user, after, scanBatch)
		if err != nil {
			return ids, latest, err
		}
		for _, s := range list {
			if after == nil {
				latest = s.CreatedAt // the newest is first
			}
			after = &store.Cursor{CreatedAt: s.CreatedAt, ID: s.ID}
			ids = append(ids, s.ID)
		}
		if len(list) < scanBatch {
			return ids, latest, nil
		}
	}
}

// confirm asks on standard error, and returns an error unless the answer on standard
// input is yes.
func confirm(cmd *cobra.Command, question string) error {
	fmt.Fprint(cmd.ErrOrStderr(), question)
	answers := make(chan string, 1)
	go func() { // which an interrupt leaves waiting for the rest of the process
		line, err := bufio.NewReader(io.LimitReader(cmd.InOrStdin(), 1024)).ReadString('\n')
		if err != nil && line == "" {
			fmt.Fprintln(cmd.ErrOrStderr())
		}
		answers <- line
	}()
	select {
	case <-cmd.Context().Done():
		fmt.Fprintln(cmd.ErrOrStderr())
		return cmd.Context().Err()
	case line := <-answers:
		if strings.EqualFold(strings.TrimSpace(line), "yes") {
			return nil
		}
		return errors.New("not confirmed: nothing was erased; the answer is \"yes\", or give --yes")
	}
}
