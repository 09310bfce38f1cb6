package bolt

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
)

// release makes leases and notices due that an earlier process set too far in the
// future, as [store.MaxDelay] describes. Open calls it, when no other process has
// the store. Damaged records stay as they are.
func (s *Store) release() error {
	now := s.now()
	var leased, notices [][]byte // primary keys, the earliest due first
	err := s.view(func(tx *bbolt.Tx) error {
		leased = dueAfter(tx, now)
		notices = noticesAfter(tx, now.Add(store.MaxDelay))
		return nil
	})
	if err != nil || len(leased)+len(notices) == 0 {
		return err
	}
	return guard(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			err := s.vault.reschedule(tx, leased, now, func(s *store.Session, t time.Time) { s.Due, s.Owner = t, "" })
			if err != nil {
				return err
			}
			return s.vault.reschedule(tx, notices, now, func(s *store.Session, t time.Time) { s.Notify = t })
		})
	})
}

// reschedule calls change with each session and a new time. The times end at now and
// are a microsecond apart, in the order of primaries. Damaged and missing sessions
// are skipped.
func (v *vault) reschedule(tx *bbolt.Tx, primaries [][]byte, now time.Time, change func(*store.Session, time.Time)) error {
	for i, primary := range primaries {
		found, err := v.find(tx, primary)
		if errors.Is(err, ErrCorrupt) || errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		before := *found.session
		change(found.session, now.Add(-time.Duration(len(primaries)-1-i)*time.Microsecond))
		to, err := recordsOf(primary, found.session, found.sum)
		if err != nil {
			return err
		}
		if err := v.replace(tx, primary, &before, found.session, to); err != nil {
			return err
		}
	}
	return nil
}

// dueAfter returns the sessions that are due after a time, in the order of the
// queue.
func dueAfter(tx *bbolt.Tx, t time.Time) (primaries [][]byte) {
	c := tx.Bucket(bucketDue).Cursor()
	for k, _ := c.Seek(appendTime(nil, t)); k != nil; k, _ = c.Next() {
		if due, primary := splitDue(k); primary != nil && due.After(t) {
			primaries = append(primaries, bytes.Clone(primary))
		}
	}
	return primaries
}

// noticesAfter returns the sessions whose notices are due after a time, the
// earliest first.
func noticesAfter(tx *bbolt.Tx, t time.Time) (primaries [][]byte) {
	var keys [][]byte // as dueKey makes them
	_ = tx.Bucket(bucketNotices).ForEach(func(k, _ []byte) error {
		if len(k) <= sha256.Size+timeLen {
			return nil
		}
		if due, _ := splitDue(k[sha256.Size:]); due.After(t) {
			keys = append(keys, bytes.Clone(k[sha256.Size:]))
		}
		return nil
	})
	slices.SortFunc(keys, bytes.Compare)
	for _, k := range keys {
		primaries = append(primaries, k[timeLen:])
	}
	return primaries
}
