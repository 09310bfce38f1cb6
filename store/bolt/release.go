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

// release makes due what lies in the future although it cannot, as
// [store.MaxDelay] describes. Open calls it, when no other process has the
// store. Damaged records stay as they are.
func (s *Store) release() error {
	now := s.now()
	var leased, notices [][]byte // primary keys, those due first in front
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
			err := s.vault.amend(tx, leased, now, func(s *store.Session, t time.Time) { s.Due, s.Owner = t, "" })
			if err != nil {
				return err
			}
			return s.vault.amend(tx, notices, now, func(s *store.Session, t time.Time) { s.Notify = t })
		})
	})
}

// amend changes sessions, each with a time that is not after now; the times are
// in the order of the sessions.
func (v *vault) amend(tx *bbolt.Tx, primaries [][]byte, now time.Time, change func(*store.Session, time.Time)) error {
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
	var places [][]byte // due keys
	_ = tx.Bucket(bucketNotices).ForEach(func(k, _ []byte) error {
		if len(k) <= sha256.Size+timeLen {
			return nil
		}
		if due, _ := splitDue(k[sha256.Size:]); due.After(t) {
			places = append(places, bytes.Clone(k[sha256.Size:]))
		}
		return nil
	})
	slices.SortFunc(places, bytes.Compare)
	for _, place := range places {
		primaries = append(primaries, place[timeLen:])
	}
	return primaries
}
