package bolt

import (
	"context"
	"errors"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
)

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
