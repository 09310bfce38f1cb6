package bolt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// Expire is described at [store.Store]. It removes damaged records too, and returns
// an empty key for each.
func (s *Store) Expire(ctx context.Context, age time.Duration, limit int) (expired []screen.SessionKey, err error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	if limit < 1 {
		return nil, nil
	}
	before := s.now().Add(-age)
	err = s.view(func(tx *bbolt.Tx) error { // if nothing has expired, writers do not wait
		if k, _ := tx.Bucket(bucketKept).Cursor().First(); k == nil || len(k) > timeLen && keyTime(k).After(before) {
			return store.ErrNoneDue
		}
		return nil
	})
	if errors.Is(err, store.ErrNoneDue) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	n, err := s.removeFound(func(tx *bbolt.Tx) (primaries, stale [][]byte, err error) {
		primaries, expired, stale = s.vault.expired(tx, before, limit)
		return primaries, stale, nil
	})
	return expired[:n], err
}

// expired returns at most limit sessions that are kept since before or longer, with
// their keys, and the stale index entries among them. An entry is stale if its
// session is missing or is kept since another time. The caller removes stale
// entries.
func (v *vault) expired(tx *bbolt.Tx, before time.Time, limit int) (primaries [][]byte, keys []screen.SessionKey, stale [][]byte) {
	c := tx.Bucket(bucketKept).Cursor()
	for k, _ := c.First(); k != nil && len(primaries) < limit; k, _ = c.Next() {
		if len(k) <= timeLen {
			stale = append(stale, bytes.Clone(k))
			continue
		}
		since := keyTime(k)
		if since.After(before) {
			break
		}
		primary := bytes.Clone(k[timeLen:])
		found, err := v.find(tx, primary)
		if errors.Is(err, store.ErrNotFound) || err == nil && !found.session.Kept().Equal(since) {
			stale = append(stale, bytes.Clone(k))
			continue
		}
		var key screen.SessionKey
		if err == nil {
			key = screen.SessionKey{Account: found.session.Account, ID: found.session.ID}
		}
		primaries, keys = append(primaries, primary), append(keys, key)
	}
	return primaries, keys, stale
}

// reindex moves the entries of a session in bucketNotices and bucketKept from those
// of before to those of after. An empty session has none. Most changes move neither,
// and reindex then opens no bucket.
func (v *vault) reindex(tx *bbolt.Tx, primary []byte, before, after *store.Session) error {
	if from, to := before.Notify, after.Notify; !from.Equal(to) {
		notice := func(account string, t time.Time) []byte {
			if t.IsZero() {
				return nil
			}
			return v.noticeKey(account, t, primary)
		}
		if err := move(tx.Bucket(bucketNotices), notice(before.Account, from), notice(after.Account, to)); err != nil {
			return err
		}
	}
	if from, to := before.Kept(), after.Kept(); !from.Equal(to) {
		return move(tx.Bucket(bucketKept), keptKey(from, primary), keptKey(to, primary))
	}
	return nil
}

// keptKey is the key of a session in bucketKept, nil for a zero time.
func keptKey(since time.Time, primary []byte) []byte {
	if since.IsZero() {
		return nil
	}
	return dueKey(since, primary)
}

// move deletes the key from and puts the key to, without a value. Either may be
// nil.
func move(bucket *bbolt.Bucket, from, to []byte) error {
	if from != nil {
		if err := bucket.Delete(from); err != nil {
			return err
		}
	}
	if to == nil {
		return nil
	}
	return bucket.Put(to, nil)
}

// unindexDamaged removes the entries of a session from bucketNotices and bucketKept
// when its record is damaged and cannot say which they are.
func unindexDamaged(tx *bbolt.Tx, primary []byte) error {
	for _, index := range []struct {
		name []byte
		at   int // where the primary key begins
	}{{bucketNotices, sha256.Size + timeLen}, {bucketKept, timeLen}} {
		bucket := tx.Bucket(index.name)
		keys, err := keysOf(bucket, func(k, _ []byte) bool { return len(k) > index.at && bytes.Equal(k[index.at:], primary) })
		if err != nil {
			return err
		}
		for _, k := range keys {
			if err := bucket.Delete(k); err != nil {
				return err
			}
		}
	}
	return nil
}
