package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
)

// List is described at [store.Store].
func (s *Store) List(ctx context.Context, account, userID string, after *store.Cursor, limit int) ([]*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	prefix := s.vault.userPrefix(account, userID)
	var list []*store.Session
	err := s.view(func(tx *bbolt.Tx) error {
		start := prefix
		if after != nil {
			start = s.vault.userKey(account, userID, *after)
		}
		c := tx.Bucket(bucketUsers).Cursor()
		k, primary := c.Seek(start)
		if after != nil && bytes.Equal(k, start) {
			k, primary = c.Next()
		}
		for ; len(list) < limit && bytes.HasPrefix(k, prefix); k, primary = c.Next() {
			session, err := s.vault.load(tx, primary)
			if err != nil {
				return fmt.Errorf("%w: a session of a listing: %v", ErrCorrupt, err) // not ErrNotFound, which stands for a mistake of the caller
			}
			if session.Account != account || session.UserID != userID {
				return fmt.Errorf("%w: a session is listed under another user", ErrCorrupt)
			}
			list = append(list, session)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Scan is described at [store.Store].
func (s *Store) Scan(ctx context.Context, after string, limit int) ([]*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	var list []*store.Session
	var damaged *store.DamagedError
	err := s.view(func(tx *bbolt.Tx) error {
		list, damaged = nil, nil
		c := tx.Bucket(bucketSessions).Cursor()
		k, record := c.First()
		if primary := s.vault.primaryKey("", after); primary != nil {
			prefix := idPrefix(primary)
			for k, record = c.Seek(prefix); isPrimary(k, prefix); {
				k, record = c.Next()
			}
		}
		for ; k != nil && len(list) < limit; k, record = c.Next() {
			session, err := s.vault.read(tx, k, record)
			switch {
			case err == nil:
				list = append(list, session)
			case !errors.Is(err, ErrCorrupt):
				return err
			case damaged == nil:
				damaged = &store.DamagedError{Records: 1, Err: err}
			default:
				damaged.Records++
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case damaged != nil:
		return list, damaged
	}
	return list, nil
}
