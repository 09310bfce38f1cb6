package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/voicescreen/voicescreen/store"
)

// changing replaces the session that lock finds by what change makes of it, if
// check returns no error: in one transaction and two round trips, one that locks
// the row and one that replaces it and commits.
type changing struct {
	what   string
	lock   string // the statement
	args   func() []any
	change store.Change
	check  func(before, after *store.Session) error
	none   error // where lock finds nothing
}

// Update is described at [store.Store].
func (s *Store) Update(ctx context.Context, account, id string, change store.Change) (*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	if !isText(account, id) {
		return nil, store.ErrNotFound
	}
	c := changing{
		what: "update a session", lock: sqlLock, args: func() []any { return s.clock.args(id, account) },
		change: change, check: (*store.Session).CheckChange, none: store.ErrNotFound,
	}
	after, _, err := s.replace(ctx, &c)
	return after, err
}

// Next is described at [store.Store]. A damaged record does not hold up the
// queue: it is skipped, and its error returned when nothing else is due.
func (s *Store) Next(ctx context.Context, change store.Change) (*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	place := s.since.due.begin()
	lock := sqlLockDue
	if s.away.missing.Load() {
		lock = sqlLockDueHere
	}
	c := changing{what: "take the next session", lock: lock, change: change, check: (*store.Session).CheckNext, none: store.ErrNoneDue}
	after, before, err := s.skipDamaged(ctx, &c, func(damaged []string) []any { return s.clock.args(place.from, damaged) })
	if err == nil {
		s.since.due.took(before.Due, place)
	}
	return after, err
}

// NextNotice is described at [store.Store]. A damaged record does not hold up
// the others, as in Next.
func (s *Store) NextNotice(ctx context.Context, without []string, change store.Change) (*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	leaveOut := slices.DeleteFunc(append([]string{}, without...), func(account string) bool { return !isText(account) })
	place := beginning
	if len(leaveOut) == 0 { // otherwise there may be others before the one that is taken
		place = s.since.notify.begin()
	}
	c := changing{what: "take the next notice", lock: sqlLockNotice, change: change, check: (*store.Session).CheckNextNotice, none: store.ErrNoneDue}
	after, before, err := s.skipDamaged(ctx, &c, func(damaged []string) []any { return s.clock.args(place.from, damaged, leaveOut) })
	if err == nil && len(leaveOut) == 0 {
		s.since.notify.took(before.Notify, place)
	}
	return after, err
}

// skipDamaged replaces the first session that can be read.
func (s *Store) skipDamaged(ctx context.Context, c *changing, args func(damaged []string) []any) (after *store.Session, before store.Session, err error) {
	damaged := []string{}
	c.args = func() []any { return args(damaged) }
	none := c.none
	for {
		after, before, err = s.replace(ctx, c)
		if !errors.Is(err, store.ErrDamaged) || errors.Is(c.none, store.ErrDamaged) && err == c.none {
			return after, before, err
		}
		damaged = append(damaged, before.ID)
		if c.none == none {
			c.none = err
		}
	}
}

// replace returns what was stored, and what the session was before, of which only
// fields that are values may be used. If the session is damaged, before has its
// ID alone.
func (s *Store) replace(ctx context.Context, c *changing) (after *store.Session, before store.Session, err error) {
	err = s.do(ctx, c.what, func(ctx context.Context, conn *pgx.Conn) error {
		r, err := s.locked(ctx, conn, c)
		if err != nil {
			return err
		}
		before = store.Session{ID: r.stored.ID}
		if after, err = r.session(s.vault); err != nil {
			return err
		}
		before = *after
		if err := c.change(after, r.now.UTC()); err != nil {
			return err
		}
		after.Scores = slices.Clone(after.Scores) // a scorer may have kept them
		after.Normalize()
		if err := c.check(&before, after); err != nil {
			return err
		}
		return s.commit(ctx, conn, r.key, &before, after)
	})
	if err != nil {
		return nil, before, err
	}
	s.changed(after)
	if before.Audio != after.Audio && before.Audio != "" {
		s.away.erase(before.Audio)
	}
	return after, before, nil
}

// locked begins the transaction and locks a session.
func (s *Store) locked(ctx context.Context, conn *pgx.Conn, c *changing) (*row, error) {
	r, found := &row{}, false
	b := &pgx.Batch{}
	s.begin(b)
	b.Queue(c.lock, c.args()...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := rows.Scan(append(r.head(), &r.now)...); err != nil {
				return err
			}
			found = true
		}
		return rows.Err()
	})
	if err := send(ctx, conn, b, false); err != nil {
		return nil, err
	}
	if !found {
		return nil, c.none
	}
	s.clock.saw(r.now)
	return r, nil
}

// commit replaces the session and ends the transaction. Key is the session's,
// sealed.
func (s *Store) commit(ctx context.Context, conn *pgx.Conn, key []byte, before, after *store.Session) error {
	values, err := s.vault.mutable(after, key)
	if err != nil {
		return err
	}
	s.since.lower(after.Due, after.Notify)
	b := &pgx.Batch{}
	if after.Audio != before.Audio && after.Audio != "" {
		b.Queue(sqlHoldAudio, after.Audio)
	}
	args := append([]any{after.ID}, values...)
	if after.Analyzed() {
		b.Queue(sqlReplaceAnalyzed, args...)
	} else { // what is stored stays
		b.Queue(sqlReplace, args[:len(args)-1]...)
	}
	if after.Audio != before.Audio && before.Audio != "" {
		b.Queue(sqlReleaseAudio, before.Audio)
	}
	b.Queue(sqlCommit)
	return send(ctx, conn, b, true)
}

// since says for both queues below which time nothing is due.
type since struct{ due, notify queue }

// lower notes that a session is due, and its notice, where they are not zero.
func (s *since) lower(due, notify time.Time) {
	s.due.lower(due)
	s.notify.lower(notify)
}
