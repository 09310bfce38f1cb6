package postgres

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// Create is described at [store.Store]. A lost connection is not tried again: the
// session may have been created, and a second try would find it in the way.
func (s *Store) Create(ctx context.Context, session *store.Session) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	session = session.Clone()
	checked := *session
	checked.Created(time.Unix(0, 0)) // the server gives the times
	if err := checked.Check(); err != nil {
		return err
	}
	_, key := s.vault.newKey(ofSession, session.ID)
	values, err := s.vault.mutable(session, key)
	if err != nil {
		return err
	}
	rest, last := values[2:len(values)-5], values[len(values)-5:] // sqlCreate has the key between them
	args := s.clock.creationArgs(session.ID, session.Account, session.UserID, values[0], values[1], moment(session.CreatedAt))
	args = append(append(append(args, rest...), key), last...)
	s.since.lower(session.Due, session.Notify)
	var created bool
	err = s.do(ctx, "create a session", func(ctx context.Context, c *pgx.Conn) error {
		b := &pgx.Batch{}
		several := s.pooled || session.Audio != ""
		if several {
			s.begin(b)
		}
		if session.Audio != "" {
			b.Queue(sqlHoldAudio, session.Audio)
		}
		b.Queue(sqlCreate, args...).Query(func(rows pgx.Rows) error {
			var at time.Time
			_, err := pgx.ForEachRow(rows, []any{&at}, func() error {
				created = true
				return nil
			})
			if created && session.CreatedAt.IsZero() {
				s.clock.created(at)
			}
			return err
		})
		if several {
			b.Queue(sqlCommit)
		}
		return send(ctx, c, b, true)
	})
	if err != nil {
		return err
	}
	if !created {
		return store.ErrExists
	}
	s.changed(session)
	return nil
}

// changed notes that a session was created or changed.
func (s *Store) changed(session *store.Session) {
	s.since.lower(session.Due, session.Notify)
	s.hints.add(screen.SessionKey{Account: session.Account, ID: session.ID})
}

// Get is described at [store.Store].
func (s *Store) Get(ctx context.Context, account, id string) (*store.Session, error) {
	return s.get(ctx, sqlGet, account, id, true)
}

// Head is described at [store.Store].
func (s *Store) Head(ctx context.Context, account, id string) (*store.Session, error) {
	return s.get(ctx, sqlHead, account, id, false)
}

func (s *Store) get(ctx context.Context, sql, account, id string, whole bool) (*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	if !isText(account, id) {
		return nil, store.ErrNotFound
	}
	rows, err := s.rows(ctx, "get a session", sql, whole, id, account)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, store.ErrNotFound
	}
	return rows[0].session(s.vault)
}

// rows reads sessions, with their analyses if whole is true.
func (s *Store) rows(ctx context.Context, what, sql string, whole bool, args ...any) (found []*row, err error) {
	err = s.read(ctx, what, sql, func(rows pgx.Rows) error {
		found = nil
		for rows.Next() {
			r := &row{}
			to := r.head()
			if whole {
				to = append(to, &r.analysis)
			}
			if err := rows.Scan(to...); err != nil {
				return err
			}
			found = append(found, r)
		}
		return rows.Err()
	}, args...)
	return found, err
}

// List is described at [store.Store].
func (s *Store) List(ctx context.Context, account, userID string, after *store.Cursor, limit int) ([]*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	if limit < 1 || !isText(account, userID) {
		return nil, nil
	}
	var at *time.Time // NULL: from the beginning
	var id *string    // NULL: behind all that is created then
	if after != nil {
		t := after.CreatedAt.Truncate(time.Microsecond)
		if at, id = &t, &after.ID; t.Before(after.CreatedAt) { // between two that can be stored
			t, id = t.Add(time.Microsecond), nil
		} else if !isText(after.ID) {
			valid := strings.ToValidUTF8(strings.ReplaceAll(after.ID, "\x00", "\x01"), "\uFFFD")
			id = &valid
		}
	}
	rows, err := s.rows(ctx, "list sessions", sqlList, true, account, userID, at, id, limit)
	if err != nil {
		return nil, err
	}
	var list []*store.Session
	for _, r := range rows {
		session, err := r.session(s.vault)
		if err != nil {
			return nil, err
		}
		list = append(list, session)
	}
	return list, nil
}

// Scan is described at [store.Store]. It goes by ID.
func (s *Store) Scan(ctx context.Context, after string, limit int) ([]*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	var list []*store.Session
	var damaged store.DamagedError
	for len(list) < limit {
		want := limit - len(list)
		rows, err := s.rows(ctx, "scan sessions", sqlScan, true, after, want)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			after = r.stored.ID
			session, err := r.session(s.vault)
			if err != nil {
				_ = damaged.Add(&store.DamagedError{Records: 1, Err: err}) // never fails
				continue
			}
			list = append(list, session)
		}
		if len(rows) < want {
			break
		}
	}
	if damaged.Records > 0 {
		return list, &damaged
	}
	return list, nil
}

// Due is described at [store.Store].
func (s *Store) Due(ctx context.Context) (n int, err error) {
	if err := s.calls.Begin(ctx); err != nil {
		return 0, err
	}
	defer s.calls.End()
	err = s.read(ctx, "count what is due", sqlDue, func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&n}, func() error { return nil })
		return err
	})
	return n, err
}

// Notices is described at [store.NoticeCounter].
func (s *Store) Notices(ctx context.Context) (map[string]int, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	counts := map[string]int{}
	err := s.read(ctx, "count notices", sqlNotices, func(rows pgx.Rows) error {
		clear(counts)
		var account string
		var n int
		_, err := pgx.ForEachRow(rows, []any{&account, &n}, func() error {
			counts[account] = n
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return counts, nil
}

// isText says whether the database can hold what is looked for.
func isText(texts ...string) bool {
	for _, s := range texts {
		if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
			return false
		}
	}
	return true
}
