package bolt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
)

// Next is described at [store.Store]. A damaged record does not hold up the
// queue: it is skipped, and its error returned when nothing else is due.
func (s *Store) Next(ctx context.Context, change store.Change) (*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	q := queue{dueBy: s.dueBy, due: func(s *store.Session) time.Time { return s.Due }}
	return s.next(q, change, (*store.Session).CheckNext)
}

// NextNotice is described at [store.Store]. A damaged record does not hold up
// the others, as in Next. The time it takes grows with the number of accounts
// that have notices, and not with the number of notices.
func (s *Store) NextNotice(ctx context.Context, without []string, change store.Change) (*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	leaveOut := make(map[[sha256.Size]byte]bool, len(without))
	for _, account := range without {
		leaveOut[s.vault.sum(account)] = true
	}
	q := queue{
		dueBy: func(tx *bbolt.Tx, now time.Time) iter.Seq2[time.Time, []byte] { return noticesBy(tx, now, leaveOut) },
		due:   func(s *store.Session) time.Time { return s.Notify },
	}
	return s.next(q, change, (*store.Session).CheckNextNotice)
}

// queue is an order in which sessions are due.
type queue struct {
	// dueBy yields when sessions are due and their primary keys, those that are
	// due longest first, of all that are due by now. A nil key is that of a
	// damaged entry.
	dueBy func(tx *bbolt.Tx, now time.Time) iter.Seq2[time.Time, []byte]
	due   func(*store.Session) time.Time // what the order is that of
}

// next changes the first session of a queue if it is due.
func (s *Store) next(q queue, change store.Change, check func(before, after *store.Session) error) (*store.Session, error) {
	err := s.view(func(tx *bbolt.Tx) error { // workers that look for work do not hold up writers
		for range q.dueBy(tx, s.now()) {
			return nil
		}
		return store.ErrNoneDue
	})
	if err != nil {
		return nil, err
	}
	find := func(b *batch) (stored, error) { return q.first(b.tx, s.vault, s.now()) }
	c := changing{store: s, change: change, check: check, find: find}
	return c.commit()
}

// first returns the first session of the queue that can be read, if it is due.
func (q queue) first(tx *bbolt.Tx, v *vault, now time.Time) (stored, error) {
	err := store.ErrNoneDue
	for due, primary := range q.dueBy(tx, now) {
		if primary == nil {
			err = fmt.Errorf("%w: a place in the queue is cut short", ErrCorrupt)
			continue
		}
		s, findErr := v.find(tx, bytes.Clone(primary))
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

// dueBy is that of Next.
func (s *Store) dueBy(tx *bbolt.Tx, now time.Time) iter.Seq2[time.Time, []byte] {
	return func(yield func(time.Time, []byte) bool) {
		c := tx.Bucket(bucketDue).Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			due, primary := splitDue(k)
			if due.After(now) || !yield(due, primary) {
				return
			}
		}
	}
}

// splitDue is the inverse of dueKey. Primary is nil if the key is cut short.
func splitDue(k []byte) (due time.Time, primary []byte) {
	if len(k) <= timeLen {
		return time.Time{}, nil
	}
	return keyTime(k), k[timeLen:]
}

// noticesBy is the dueBy of NextNotice: it merges the notices of the accounts,
// whose sums are not in leaveOut.
func noticesBy(tx *bbolt.Tx, now time.Time, leaveOut map[[sha256.Size]byte]bool) iter.Seq2[time.Time, []byte] {
	return func(yield func(time.Time, []byte) bool) {
		var heads []noticeHead
		c := tx.Bucket(bucketNotices).Cursor()
		for k, _ := c.First(); k != nil; {
			h, ok := newNoticeHead(k)
			if !ok {
				if !yield(time.Time{}, nil) {
					return
				}
				k, _ = c.Next()
				continue
			}
			if !leaveOut[[sha256.Size]byte(h.account)] && !h.due.After(now) {
				heads = append(heads, h)
			}
			next, more := behind(h.account)
			if !more {
				break
			}
			k, _ = c.Seek(next)
		}
		for len(heads) > 0 {
			i := longest(heads)
			if !yield(heads[i].due, heads[i].primary) {
				return
			}
			c.Seek(heads[i].key)
			k, _ := c.Next()
			h, ok := newNoticeHead(k)
			if !ok || !bytes.Equal(h.account, heads[i].account) || h.due.After(now) {
				heads = slices.Delete(heads, i, i+1) // a key that is cut short was met above
				continue
			}
			heads[i] = h
		}
	}
}

// noticeHead is the first notice of an account.
type noticeHead struct {
	key, account []byte
	due          time.Time
	primary      []byte
}

// newNoticeHead reads a key of bucketNotices. Ok is false if it is cut short.
func newNoticeHead(k []byte) (h noticeHead, ok bool) {
	if len(k) <= sha256.Size+timeLen {
		return h, false
	}
	h.key, h.account = k, k[:sha256.Size]
	h.due, h.primary = splitDue(k[sha256.Size:])
	return h, true
}

// longest returns which notice has been due longest, by primary key where times
// agree.
func longest(heads []noticeHead) (at int) {
	for i := range heads {
		if bytes.Compare(heads[i].key[sha256.Size:], heads[at].key[sha256.Size:]) < 0 {
			at = i
		}
	}
	return at
}

// behind returns the smallest key that does not begin with prefix and sorts
// after it. More is false if there is none.
func behind(prefix []byte) (key []byte, more bool) {
	key = bytes.Clone(prefix)
	for i := len(key) - 1; i >= 0; i-- {
		if key[i]++; key[i] != 0 {
			return key[:i+1], true
		}
	}
	return nil, false
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
	if found, _ := queue.Cursor().Seek(k); !bytes.Equal(found, k) { // Get returns nil for an empty value too
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
