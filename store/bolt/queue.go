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
	q := queue{bucket: bucketDue, due: func(s *store.Session) time.Time { return s.Due }}
	return s.next(q, now, change, (*store.Session).CheckNext)
}

// NextNotice is described at [store.Store]. A damaged record does not hold up
// the others, as in Next.
func (s *Store) NextNotice(ctx context.Context, account string, now time.Time, change func(*store.Session) error) (*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	q := queue{bucket: bucketNotices, prefix: s.vault.noticesOf(account), due: func(s *store.Session) time.Time { return s.Notify }}
	return s.next(q, now, change, (*store.Session).CheckNextNotice)
}

// queue is where sessions stand in the order of a time, under dueKey behind a
// prefix.
type queue struct {
	bucket, prefix []byte
	due            func(*store.Session) time.Time // what the order is that of
}

// next changes the first session of a queue if it is due.
func (s *Store) next(q queue, now time.Time, change func(*store.Session) error, check func(before, after *store.Session) error) (*store.Session, error) {
	err := s.view(func(tx *bbolt.Tx) error { // workers that look for work do not hold up who writes
		k, _ := tx.Bucket(q.bucket).Cursor().Seek(q.prefix)
		k, found := bytes.CutPrefix(k, q.prefix)
		if k == nil || !found || len(k) > timeLen && keyTime(k).After(now) {
			return store.ErrNoneDue
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.change(change, check, func(b *batch) (stored, error) { return q.first(b.tx, s.vault, now) })
}

// first returns the first session of the queue if it is due.
func (q queue) first(tx *bbolt.Tx, v *vault, now time.Time) (stored, error) {
	err := store.ErrNoneDue
	c := tx.Bucket(q.bucket).Cursor()
	for key, _ := c.Seek(q.prefix); key != nil; key, _ = c.Next() {
		k, found := bytes.CutPrefix(key, q.prefix)
		if !found {
			break
		}
		if len(k) <= timeLen {
			err = fmt.Errorf("%w: a place in the queue is cut short", ErrCorrupt)
			continue
		}
		due := keyTime(k)
		if due.After(now) {
			break
		}
		s, findErr := v.find(tx, bytes.Clone(k[timeLen:]))
		switch {
		case findErr != nil:
			err = fmt.Errorf("%w: a session that is due: %v", ErrCorrupt, findErr)
		case !q.due(s.session).Equal(due):
			err = fmt.Errorf("%w: a session stands at a wrong place in the queue", ErrCorrupt)
		default:
			return s, nil
		}
	}
	return stored{}, err
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
