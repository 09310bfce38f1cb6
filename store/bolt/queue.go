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

// Next is described at [store.Store]. It skips damaged records, and returns their
// error only if no other session is due.
func (s *Store) Next(ctx context.Context, change store.Change) (*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	q := queue{dueBy: s.dueBy, due: func(s *store.Session) time.Time { return s.Due }}
	return s.next(q, change, (*store.Session).CheckNext)
}

// NextNotice is described at [store.Store]. It skips damaged records, and returns
// their error only if no other notice is due. Its time grows with the number of
// accounts that have notices, not with the number of notices.
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

// queue is an index of sessions in the order of a due time.
type queue struct {
	// dueBy yields the sessions that are due by now, the longest due first: their
	// due times and primary keys. The key of a damaged entry is nil.
	dueBy func(tx *bbolt.Tx, now time.Time) iter.Seq2[time.Time, []byte]
	due   func(*store.Session) time.Time // the due time of a session in this queue
}

// next changes the first session of a queue if it is due.
func (s *Store) next(q queue, change store.Change, check func(before, after *store.Session) error) (*store.Session, error) {
	err := s.view(func(tx *bbolt.Tx) error { // if nothing is due, writers do not wait
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
			err = fmt.Errorf("%w: an entry of the queue is cut short", ErrCorrupt)
			continue
		}
		s, findErr := v.find(tx, bytes.Clone(primary))
		switch {
		case findErr != nil:
			err = fmt.Errorf("%w: a session that is due: %v", ErrCorrupt, findErr)
		case !q.due(s.session).Equal(due):
			err = fmt.Errorf("%w: an entry of the queue is of another time than its session", ErrCorrupt)
		default:
			return s, nil
		}
	}
	return stored{}, err
}

// dueBy is queue.dueBy of Next.
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

// noticesBy is queue.dueBy of NextNotice: it merges the notices of all accounts
// except those whose sums are in leaveOut.
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
			next, more := after(h.account)
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
				heads = slices.Delete(heads, i, i+1) // the first loop has yielded short keys
				continue
			}
			heads[i] = h
		}
	}
}

// noticeHead is the first notice of an account that is not yielded yet.
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

// longest returns the index of the notice that is due longest; of equal times, the
// one with the smallest primary key.
func longest(heads []noticeHead) (at int) {
	for i := range heads {
		if bytes.Compare(heads[i].key[sha256.Size:], heads[at].key[sha256.Size:]) < 0 {
			at = i
		}
	}
	return at
}

// after returns the smallest key that sorts after all keys with a prefix. More is
// false if there is no such key.
func after(prefix []byte) (key []byte, more bool) {
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

// dequeue removes a session from the queue, if it is in it.
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
