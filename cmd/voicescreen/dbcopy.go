package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
	"github.com/voicescreen/voicescreen/store/postgres"
)

func newDBCopy() *cobra.Command {
	var toKey string
	var recordings audioFlags
	cmd := dbCommand("copy FROM TO", "Copy a database to another kind of database, or go on with it",
		`Copy the sessions, the recordings that wait, the keys, webhooks, thresholds and models
of a database to another one: from a file to PostgreSQL, from PostgreSQL to a file, or
from PostgreSQL to PostgreSQL. Stop the servers of both first. A missing file is made.

What TO has already as FROM has it is left as it is: a copy that was interrupted goes on
when the command is repeated. What TO has otherwise is an error that names it, and stays.
At the end the sessions, recordings and documents of both are counted, and the numbers
must be equal: make keys in TO after the copy. Keys and webhooks that are kept in files
are not in a database: servers on PostgreSQL can use the same files.

TO is opened with the key of --to-key, or with that of FROM if it is not given.`,
		"copy clinic.db postgres://voicescreen@db.example/voicescreen --store-key store.key",
		2, func(cmd *cobra.Command, opts *bolt.Options, args []string) error {
			from, to := args[0], args[1]
			if from == to {
				return command.Usagef("FROM and TO are one database")
			}
			if !isPostgres(from) && !isPostgres(to) {
				return command.Usagef("both are files; want postgres://… for one of them, or \"db backup\", which copies a file")
			}
			if isPostgres(from) && isPostgres(to) && recordings.place != "" {
				return command.Usagef("--audio is for copies between a file and PostgreSQL")
			}
			if err := recordings.check("postgres://"); err != nil {
				return err
			}
			key, keyFlag := opts.Key, ""
			if toKey != "" {
				warnReadable(cmd.ErrOrStderr(), toKey)
				var err error
				if key, err = readSecret(toKey, ""); err != nil {
					return err
				}
				keyFlag = "--to-key"
			}
			return runCopy(cmd, side{from, opts.Key, ""}, side{to, key, keyFlag}, &recordings)
		})
	cmd.Flags().StringVar(&toKey, "to-key", "", "a file with the key of TO (default: that of FROM)")
	recordings.add(cmd)
	return cmd
}

// side is a database of a copy.
type side struct {
	db      string
	key     []byte
	keyFlag string // of the key; "" for --store-key
}

func (s side) hint(err error) error {
	if s.keyFlag != "" {
		return keyFrom(err, s.keyFlag)
	}
	return keyHint(err)
}

// documented is a store that knows the names of its documents.
type documented interface {
	store.Store
	Documents(ctx context.Context) ([]string, error)
}

// open opens a database. A file must be there unless it may be made.
func (s side) open(ctx context.Context, recordings *audioFlags, create bool) (documented, error) {
	if isPostgres(s.db) {
		a, err := recordings.open(ctx, slog.New(slog.DiscardHandler))
		if err != nil {
			return nil, err
		}
		st, err := postgres.Open(ctx, s.db, &postgres.Options{Key: s.key, Audio: a})
		if err != nil {
			return nil, s.hint(err)
		}
		return st, nil
	}
	if _, err := os.Stat(s.db); err != nil && !create {
		return nil, err
	}
	st, err := bolt.Open(s.db, &bolt.Options{Key: s.key})
	if err != nil {
		return nil, s.hint(err)
	}
	return st, nil
}

func runCopy(cmd *cobra.Command, a, b side, recordings *audioFlags) (err error) {
	from, err := a.open(cmd.Context(), recordings, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := b.open(cmd.Context(), recordings, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	c := copying{from: from, to: to}
	var left store.DamagedError // what was left out: the copy is complete but for it
	if err := left.Add(c.run(cmd.Context())); err != nil {
		return err
	}
	var counts [2]held
	for i, st := range []documented{from, to} {
		if counts[i], err = count(cmd.Context(), st); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "copied %s; there already %s\nfrom: %v\nto:   %v\n", command.Count(c.copied, "session"), command.Count(c.present, "session"), counts[0], counts[1])
	if left.Records > 0 {
		return errors.Join(err, &left)
	}
	if counts[0] != counts[1] {
		err = errors.Join(err, errors.New("the numbers differ: TO had other sessions or documents"+c.others(cmd.Context())+", or FROM changed meanwhile"))
	}
	return err
}

// others names the documents that TO alone has, in brackets; "" if there are none.
func (c *copying) others(ctx context.Context) string {
	mine, err := c.from.Documents(ctx)
	theirs, terr := c.to.Documents(ctx)
	theirs = slices.DeleteFunc(theirs, func(name string) bool { return slices.Contains(mine, name) || slices.Contains(passing, name) })
	if err != nil || terr != nil || len(theirs) == 0 {
		return ""
	}
	return " (" + strings.Join(theirs, ", ") + ")"
}

// held is what a store holds.
type held struct{ sessions, recordings, documents int }

func (h held) String() string {
	return fmt.Sprintf("%s, %s, %s", command.Count(h.sessions, "session"), command.Count(h.recordings, "recording"), command.Count(h.documents, "document"))
}

func count(ctx context.Context, st documented) (h held, err error) {
	all := sessionFilter{}
	err = all.eachSession(ctx, st, func(s *store.Session) error {
		h.sessions++
		if s.Audio != "" {
			h.recordings++
		}
		return nil
	})
	if err != nil && !isDamaged(err) {
		return h, err
	}
	names, err := st.Documents(ctx)
	for _, name := range names {
		if !slices.Contains(passing, name) {
			h.documents++
		}
	}
	return h, err
}

// copying copies a store to another one.
type copying struct {
	from, to documented

	mu              sync.Mutex // protects what follows
	copied, present int        // sessions
	left            store.DamagedError
}

// copiers is how many sessions are copied at once. Chosen: they share commits, and the
// pool of connections has as many.
const copiers = 16

// run copies everything. The error is a store.DamagedError if all was copied that can be
// read.
func (c *copying) run(ctx context.Context) error {
	names, err := c.from.Documents(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := c.document(ctx, name); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan *store.Session)
	var all sync.WaitGroup
	for range copiers {
		all.Go(func() {
			for s := range next {
				if err := c.session(ctx, s); err != nil {
					cancel(err)
				}
			}
		})
	}
	err = (&sessionFilter{}).eachSession(ctx, c.from, func(s *store.Session) error {
		select {
		case next <- s:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(next)
	all.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := c.left.Add(err); err != nil {
		return err
	}
	if c.left.Records > 0 {
		return &c.left
	}
	return nil
}

// passing are the documents that say what servers do at the moment: which are live, and what
// they delivered last. Those of TO stay.
var passing = []string{httpadapter.ReplicasDocument, webhook.DeliveriesDocument}

// document copies a document, unless it is there.
func (c *copying) document(ctx context.Context, name string) error {
	data, _, err := c.from.Document(ctx, name)
	if errors.Is(err, store.ErrDamaged) {
		return c.left.Add(&store.DamagedError{Records: 1, Err: fmt.Errorf("document %q: %w", name, err)})
	}
	if err != nil {
		return err
	}
	_, err = c.to.PutDocument(ctx, name, 0, data)
	if !errors.Is(err, store.ErrConflict) {
		return err
	}
	if slices.Contains(passing, name) {
		return nil
	}
	there, _, err := c.to.Document(ctx, name)
	if err == nil && !bytes.Equal(there, data) {
		err = fmt.Errorf("document %q: TO has another one", name)
	}
	return err
}

// session copies a session with its recording, unless it is there. What cannot be read
// is counted.
func (c *copying) session(ctx context.Context, s *store.Session) error {
	there, err := c.to.Get(ctx, s.Account, s.ID)
	switch {
	case err == nil:
		if !equalSessions(s, there) {
			return fmt.Errorf("session %s: TO has another one of this identifier", s.ID)
		}
		c.note(&c.present)
		return nil
	case !errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("session %s: %w", s.ID, err)
	}
	copied := s.Clone()
	if s.Audio != "" {
		r, err := c.from.Audio().Open(ctx, s.Audio)
		if err == nil {
			copied.Audio, err = c.to.Audio().Put(ctx, r)
			err = errors.Join(err, r.Close())
		}
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged) {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.left.Add(&store.DamagedError{Records: 1, Err: fmt.Errorf("session %q: its recording: %w", s.ID, err)})
		}
		if errors.Is(err, postgres.ErrElsewhere) {
			return fmt.Errorf("session %s: %w; name where it is with --audio", s.ID, postgres.ErrElsewhere)
		}
		if err != nil {
			return fmt.Errorf("session %s: its recording: %w", s.ID, err)
		}
	}
	if err := c.to.Create(ctx, copied); err != nil {
		if copied.Audio != "" {
			err = errors.Join(err, c.to.Audio().Remove(context.WithoutCancel(ctx), copied.Audio))
		}
		return fmt.Errorf("session %s: %w", s.ID, err)
	}
	c.note(&c.copied)
	return nil
}

func (c *copying) note(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}

// equalSessions reports whether two sessions are the same but for the reference to their
// recordings. What a store that only one process can open does to leases when it is
// opened is no difference.
func equalSessions(a, b *store.Session) bool {
	var texts [2][]byte
	for i, s := range []*store.Session{a, b} {
		s = s.Clone()
		if s.Audio != "" {
			s.Audio = "a recording"
		}
		if s.Status == screen.StatusProcessing {
			s.Due, s.Owner = s.SubmittedAt, ""
		}
		var err error
		if texts[i], err = store.Marshal(s); err != nil {
			return false
		}
	}
	return bytes.Equal(texts[0], texts[1])
}
