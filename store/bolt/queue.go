package bolt

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
)

// Next is described at [store.Store]. A damaged record does not hold up the
// queue: it is passed over, and its error returned when nothing else is due.
func (s *Store) Next(ctx context.Context, now time.Time, change func(*store.Session) error) (*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	err := s.view(func(tx *bbolt.Tx) error { // workers that look for work do not hold up who writes
		if k, _ := tx.Bucket(bucketDue).Cursor().First(); k == nil || len(k) > timeLen && keyTime(k).After(now) {
			return store.ErrNoneDue
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.change(change, (*store.Session).CheckNext, func(tx *bbolt.Tx) ([]byte, *store.Session, error) {
		return longestDue(tx, now)
	})
}

// longestDue returns the first session of the queue if it is due.
func longestDue(tx *bbolt.Tx, now time.Time) (primary []byte, s *store.Session, err error) {
	err = store.ErrNoneDue
	c := tx.Bucket(bucketDue).Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		if len(k) <= timeLen {
			err = fmt.Errorf("%w: a place in the queue is cut short", ErrCorrupt)
			continue
		}
		due := keyTime(k)
		if due.After(now) {
			break
		}
		s, loadErr := load(tx, k[timeLen:])
		switch {
		case loadErr != nil:
			err = fmt.Errorf("%w: a session that is due: %v", ErrCorrupt, loadErr)
		case !s.Due.Equal(due):
			err = fmt.Errorf("%w: a session stands at a wrong place in the queue", ErrCorrupt)
		default:
			return bytes.Clone(k[timeLen:]), s, nil
		}
	}
	return nil, nil, err
}

// Due is described at [store.Store].
func (s *Store) Due(ctx context.Context) (int, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return 0, err
	}
	defer s.calls.End()
	var n uint64
	err := s.view(func(tx *bbolt.Tx) error {
		n = tx.Bucket(bucketDue).Sequence()
		return nil
	})
	return int(n), err
}

// enqueue puts a session into the queue, unless it is never due.
func enqueue(tx *bbolt.Tx, primary []byte, due time.Time) error {
	if due.IsZero() {
		return nil
	}
	queue := tx.Bucket(bucketDue)
	if err := queue.Put(dueKey(due, primary), nil); err != nil {
		return err
	}
	return queue.SetSequence(queue.Sequence() + 1)
}

// dequeue takes a session out of the queue.
func dequeue(tx *bbolt.Tx, primary []byte, due time.Time) error {
	queue := tx.Bucket(bucketDue)
	k := dueKey(due, primary)
	if found, _ := queue.Cursor().Seek(k); !bytes.Equal(found, k) { // Get cannot tell an empty value from none
		return nil
	}
	if err := queue.Delete(k); err != nil {
		return err
	}
	return queue.SetSequence(max(queue.Sequence(), 1) - 1)
}

// List is described at [store.Store].
func (s *Store) List(ctx context.Context, account, userID string, after *store.Cursor, limit int) ([]*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	prefix := userPrefix(account, userID)
	var list []*store.Session
	err := s.view(func(tx *bbolt.Tx) error {
		start := prefix
		if after != nil {
			start = userKey(account, userID, *after)
		}
		c := tx.Bucket(bucketUsers).Cursor()
		k, primary := c.Seek(start)
		if after != nil && bytes.Equal(k, start) {
			k, primary = c.Next()
		}
		for ; len(list) < limit && bytes.HasPrefix(k, prefix); k, primary = c.Next() {
			session, err := load(tx, primary)
			if err != nil {
				return fmt.Errorf("%w: a session of a listing: %v", ErrCorrupt, err) // not ErrNotFound: that is for the caller
			}
			if session.Account != account || session.UserID != userID {
				return fmt.Errorf("%w: a session stands in another's listing", ErrCorrupt)
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
