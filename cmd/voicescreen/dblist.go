package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

func newDBList() *cobra.Command {
	var (
		filter sessionFilter
		limit  int
	)
	cmd := dbCommand("list PATH", "List sessions",
		`List the newest sessions of a database, of all accounts or of those that the flags
choose: when they were created (UTC), their state, what they are for, who they are of,
and which labels they have. It prints no scores: "db export" does.`,
		"list clinic.db --account clinic-a --user patient-17\n  voicescreen db list postgres://voicescreen@db.example/voicescreen",
		1, func(cmd *cobra.Command, opts *bolt.Options, args []string) error {
			if err := filter.parse(cmd); err != nil {
				return err
			}
			if limit < 1 {
				return command.Usagef("--limit is %d, want 1 or more", limit)
			}
			return withStore(cmd.Context(), args[0], opts, func(st store.Store) error {
				newest := newestSessions{limit: limit}
				err := filter.eachSession(cmd.Context(), st, newest.add)
				if err != nil && !isDamaged(err) {
					return err
				}
				newest.cut()
				if err := printSessions(cmd.OutOrStdout(), newest.list); err != nil {
					return err
				}
				if n := len(newest.list); n < newest.seen {
					fmt.Fprintf(cmd.ErrOrStderr(), "%s: the newest %d of %s; --limit shows more\n", cmd.Root().Name(), n, command.Count(newest.seen, "session"))
				}
				return err
			})
		})
	filter.add(cmd)
	cmd.Flags().IntVar(&limit, "limit", 100, "list at most this many sessions")
	return cmd
}

// newestSessions keeps the newest of the sessions that it is given.
type newestSessions struct {
	limit int
	seen  int
	list  []*store.Session // at most twice the limit, without scores and features
}

func (n *newestSessions) add(s *store.Session) error {
	n.seen++
	s.Scores, s.Features = nil, nil
	if n.list = append(n.list, s); len(n.list)-n.limit >= n.limit {
		n.cut()
	}
	return nil
}

// cut leaves the newest sessions, in their order.
func (n *newestSessions) cut() {
	slices.SortFunc(n.list, func(a, b *store.Session) int {
		switch {
		case a.Cursor().Before(b.Cursor()):
			return -1
		case b.Cursor().Before(a.Cursor()):
			return 1
		}
		return strings.Compare(a.Account, b.Account)
	})
	if len(n.list) > n.limit {
		clear(n.list[n.limit:])
		n.list = n.list[:n.limit]
	}
}

func printSessions(w io.Writer, list []*store.Session) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "CREATED\tSTATE\tPRODUCT\tSESSION\tACCOUNT\tUSER\tLABELS")
	for _, s := range list {
		product := "-" // before the submission
		if s.Product.Valid() {
			product = s.Product.String()
		}
		fmt.Fprintf(tw, "%s\t%v\t%s\t%s\t%s\t%s\t%s\n", s.CreatedAt.UTC().Format(time.DateTime), s.Status, product,
			visible(s.ID), visible(s.Account), visible(s.UserID), labelNames(&s.Labels))
	}
	return tw.Flush()
}

// visible returns text from outside in a form that changes neither the table nor the
// terminal, "-" for "".
func visible(s string) string {
	switch q := strconv.QuoteToGraphic(s); {
	case s == "":
		return "-"
	case q[1:len(q)-1] != s: // of a control character, a quote or a backslash
		return q
	}
	return s
}

// labelNames says which labels there are, "-" for none.
func labelNames(l *screen.Labels) string {
	var names []string
	for _, label := range []struct {
		name  string
		given bool
	}{
		{"phq_2", len(l.PHQ2) > 0},
		{"phq_9", len(l.PHQ9) > 0},
		{"gad_7", len(l.GAD7) > 0},
		{"depression_binary", l.Depression.Valid()},
	} {
		if label.given {
			names = append(names, label.name)
		}
	}
	if names == nil {
		return "-"
	}
	return strings.Join(names, " ")
}
