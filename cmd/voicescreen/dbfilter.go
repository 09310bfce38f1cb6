package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// sessionFilter are the flags that choose sessions of a database.
type sessionFilter struct {
	account, user, status, product, since, until string

	byAccount, byUser bool
	ofStatus          screen.Status  // 0 for any
	ofProduct         screen.Product // 0 for any
	from, to          time.Time      // zero for no limit
}

func (f *sessionFilter) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.account, "account", "", "only sessions of this account; \"\" is that of a program without tenants (default all)")
	cmd.Flags().StringVar(&f.user, "user", "", "only sessions of this user (default all)")
	cmd.Flags().StringVar(&f.status, "status", "", "only sessions that are initiated, processing, success or failed (default all)")
	cmd.Flags().StringVar(&f.product, "product", "", "only sessions for depression_anxiety, depression_binary, depression_severity, anxiety_severity or deepfake (default all)")
	cmd.Flags().StringVar(&f.since, "since", "", "only sessions created from this day or time on (UTC), as 2026-01-31 or 2026-01-31T08:00:00Z")
	cmd.Flags().StringVar(&f.until, "until", "", "only sessions created before this day or time (UTC)")
	command.NoValues(cmd, "account", "user", "since", "until")
	command.Values(cmd, "status", "initiated", "processing", "success", "failed")
	command.Values(cmd, "product", "depression_anxiety", "depression_binary", "depression_severity", "anxiety_severity", "deepfake")
}

// parse reads the flags. Its errors are errors in the command line, and do not hold
// the name of a user.
func (f *sessionFilter) parse(cmd *cobra.Command) (err error) {
	f.byAccount, f.byUser = command.Given(cmd, "account") != "", command.Given(cmd, "user") != ""
	if f.status != "" && f.ofStatus.UnmarshalText([]byte(f.status)) != nil {
		return command.Usagef("--status is %q, want initiated, processing, success or failed", f.status)
	}
	if f.product != "" && f.ofProduct.UnmarshalText([]byte(f.product)) != nil {
		return command.Usagef("--product is %q, want depression_anxiety, depression_binary, depression_severity, anxiety_severity or deepfake", f.product)
	}
	if f.from, err = parseMoment("since", f.since); err != nil {
		return err
	}
	if f.to, err = parseMoment("until", f.until); err != nil {
		return err
	}
	if !f.from.IsZero() && !f.to.IsZero() && !f.from.Before(f.to) {
		return command.Usagef("--since is not before --until")
	}
	return nil
}

// parseMoment reads a day, which begins at midnight UTC, or a time; "" is the zero
// time.
func parseMoment(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, command.Usagef("--%s is %q, want a day as 2026-01-31 or a time as 2026-01-31T08:00:00Z", flag, text)
}

// matches reports whether a session is one that the flags choose.
func (f *sessionFilter) matches(s *store.Session) bool {
	return (!f.byAccount || s.Account == f.account) &&
		(!f.byUser || s.UserID == f.user) &&
		(f.ofStatus == 0 || s.Status == f.ofStatus) &&
		(f.ofProduct == 0 || s.Product == f.ofProduct) &&
		!s.CreatedAt.Before(f.from) &&
		(f.to.IsZero() || s.CreatedAt.Before(f.to))
}

// scanBatch is how many sessions are read at once. Chosen: a session with its
// features is some 10 KB, and so a batch a few megabytes.
const scanBatch = 256

// scanner is what is asked of a store here.
type scanner interface {
	Scan(ctx context.Context, after string, limit int) ([]*store.Session, error)
}

// eachSession calls f with each session that the flags choose, in the order of the
// store, and holds one batch in memory at a time. Nobody else may write to the store
// meanwhile. Records that cannot be read are left out: the error is a
// [store.DamagedError] when f was called with all others.
func (f *sessionFilter) eachSession(ctx context.Context, st scanner, do func(*store.Session) error) error {
	var left store.DamagedError
	for after := ""; ; {
		list, err := st.Scan(ctx, after, scanBatch)
		if err := left.Add(err); err != nil {
			return err
		}
		for _, s := range list {
			after = s.ID
			if !f.matches(s) {
				continue
			}
			if err := do(s); err != nil {
				return err
			}
		}
		if len(list) == scanBatch {
			continue
		}
		if left.Records > 0 {
			return &left
		}
		return nil
	}
}

// isDamaged reports whether err says no more than that some records were left out.
func isDamaged(err error) bool {
	var left *store.DamagedError
	return errors.As(err, &left)
}
