package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// Delete is described at [store.Store]. It removes a damaged record too.
func (s *Store) Delete(ctx context.Context, account, id string) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	if !isText(account, id) {
		return store.ErrNotFound
	}
	gone, err := s.remove(ctx, "delete a session", sqlDelete, id, account)
	if err == nil && len(gone) == 0 {
		err = store.ErrNotFound
	}
	return err
}

// Forget is described at [store.Store]. It removes damaged records too.
func (s *Store) Forget(ctx context.Context, account, userID string) (int, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return 0, err
	}
	defer s.calls.End()
	if !isText(account, userID) {
		return 0, nil
	}
	gone, err := s.remove(ctx, "forget a user", sqlForget, account, userID)
	return len(gone), err
}

// Expire is described at [store.Store]. It removes damaged records too.
func (s *Store) Expire(ctx context.Context, age time.Duration, limit int) ([]screen.SessionKey, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	if limit < 1 {
		return nil, nil
	}
	return s.remove(ctx, "expire sessions", sqlExpire, s.clock.args(age, limit)...)
}

// remove runs a statement that removes sessions and their audio, and returns the
// keys of the sessions.
func (s *Store) remove(ctx context.Context, what, sql string, args ...any) (gone []screen.SessionKey, err error) {
	var refs []string
	err = s.write(ctx, what, sql, func(rows pgx.Rows) error {
		gone, refs = nil, nil
		var key screen.SessionKey
		var ref string
		_, err := pgx.ForEachRow(rows, []any{&key.Account, &key.ID, &ref}, func() error {
			gone = append(gone, key)
			if ref != "" {
				refs = append(refs, ref)
			}
			return nil
		})
		return err
	}, args...)
	if err != nil {
		return nil, err
	}
	s.hints.add(gone...)
	s.away.erase(refs...)
	return gone, nil
}
