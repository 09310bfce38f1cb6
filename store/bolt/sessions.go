package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
)

// Create is described at [store.Store].
func (s *Store) Create(ctx context.Context, session *store.Session) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	if err := session.Check(); err != nil {
		return err
	}
	session = session.Clone()
	primary := primaryKey(session.Account, session.ID)
	return s.group.do(func(b *batch) error {
		err := guard(func() error {
			prefix := idPrefix(primary)
			if k, _ := b.tx.Bucket(bucketSessions).Cursor().Seek(prefix); isPrimary(k, prefix) {
				return store.ErrExists
			}
			return nil
		})
		if err != nil {
			return err
		}
		return b.write(func(tx *bbolt.Tx) error { return replace(tx, primary, nil, session) })
	})
}

// Get is described at [store.Store].
func (s *Store) Get(ctx context.Context, account, id string) (*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	var session *store.Session
	err := s.view(func(tx *bbolt.Tx) (err error) {
		session, err = load(tx, primaryKey(account, id))
		return err
	})
	return session, err
}

// Update is described at [store.Store].
func (s *Store) Update(ctx context.Context, account, id string, change func(*store.Session) error) (*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	primary := primaryKey(account, id)
	return s.change(change, (*store.Session).CheckChange, func(tx *bbolt.Tx) ([]byte, *store.Session, error) {
		before, err := load(tx, primary)
		return primary, before, err
	})
}

// change replaces the session that find returns by what change makes of it, if
// check has nothing against it.
func (s *Store) change(
	change func(*store.Session) error,
	check func(before, after *store.Session) error,
	find func(tx *bbolt.Tx) (primary []byte, before *store.Session, err error),
) (*store.Session, error) {
	var before store.Session // without what it refers to, which change may overwrite
	var after *store.Session
	err := s.group.do(func(b *batch) error {
		var primary []byte
		var current *store.Session
		err := guard(func() (err error) {
			primary, current, err = find(b.tx)
			return err
		})
		if err != nil {
			return err
		}
		before = *current
		if err := change(current); err != nil {
			return err
		}
		if err := check(&before, current); err != nil {
			return err
		}
		after = current.Clone() // change may have kept current
		return b.write(func(tx *bbolt.Tx) error { return replace(tx, primary, &before, after) })
	})
	if err != nil {
		return nil, err
	}
	if before.Audio != after.Audio {
		s.audio.letGo(before.Audio)
	}
	return after, nil
}

// Delete is described at [store.Store]. It removes a damaged record too.
func (s *Store) Delete(ctx context.Context, account, id string) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	primary := primaryKey(account, id)
	var refs []string
	err := s.group.do(func(b *batch) error {
		var exists bool
		err := guard(func() error {
			exists = primary != nil && b.tx.Bucket(bucketSessions).Get(primary) != nil
			return nil
		})
		if err != nil {
			return err
		}
		if !exists {
			return store.ErrNotFound
		}
		return b.write(func(tx *bbolt.Tx) (err error) {
			refs, err = remove(tx, primary)
			return err
		})
	})
	if err != nil {
		return err
	}
	s.audio.letGo(refs...)
	return nil
}

// Forget is described at [store.Store]. It removes damaged records too.
func (s *Store) Forget(ctx context.Context, account, userID string) (int, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return 0, err
	}
	defer s.calls.End()
	prefix := userPrefix(account, userID)
	var primaries [][]byte
	var refs []string
	err := s.group.do(func(b *batch) error {
		primaries, refs = nil, nil
		err := guard(func() error {
			c := b.tx.Bucket(bucketUsers).Cursor()
			for k, primary := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, primary = c.Next() {
				primaries = append(primaries, bytes.Clone(primary))
			}
			return nil
		})
		if err != nil || len(primaries) == 0 {
			return err
		}
		return b.write(func(tx *bbolt.Tx) error {
			for _, primary := range primaries {
				gone, err := remove(tx, primary)
				if err != nil {
					return err
				}
				refs = append(refs, gone...)
			}
			return nil
		})
	})
	if err != nil {
		return 0, err
	}
	s.audio.letGo(refs...)
	return len(primaries), nil
}

// load reads a session; a nil key is of none.
func load(tx *bbolt.Tx, primary []byte) (*store.Session, error) {
	if primary == nil {
		return nil, store.ErrNotFound
	}
	record := tx.Bucket(bucketSessions).Get(primary)
	if record == nil {
		return nil, store.ErrNotFound
	}
	s, err := decode(primary, record)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(primary, primaryKey(s.Account, s.ID)) {
		return nil, fmt.Errorf("%w: a record is of another session", ErrCorrupt)
	}
	return s, nil
}

// replace stores a session and keeps the indexes. Before is what is stored now,
// nil if there is none.
func replace(tx *bbolt.Tx, primary []byte, before, after *store.Session) error {
	if before == nil {
		k := userKey(after.Account, after.UserID, after.Cursor())
		if err := tx.Bucket(bucketUsers).Put(k, primary); err != nil {
			return err
		}
		before = &store.Session{}
	}
	if !before.Due.Equal(after.Due) {
		if err := dequeue(tx, primary, before.Due); err != nil {
			return err
		}
		if err := enqueue(tx, primary, after.Due); err != nil {
			return err
		}
	}
	if before.Audio != after.Audio {
		if err := dropRef(tx, primary, before.Audio); err != nil {
			return err
		}
		if isRef(after.Audio) {
			if err := tx.Bucket(bucketAudio).Put([]byte(after.Audio), primary); err != nil {
				return err
			}
		}
	}
	return tx.Bucket(bucketSessions).Put(primary, encode(primary, after))
}

// dropRef lets a session no longer refer to audio.
func dropRef(tx *bbolt.Tx, primary []byte, ref string) error {
	audio := tx.Bucket(bucketAudio)
	if !isRef(ref) || !bytes.Equal(audio.Get([]byte(ref)), primary) {
		return nil
	}
	return audio.Delete([]byte(ref))
}

// remove takes a session out of everything and returns the audio it had.
func remove(tx *bbolt.Tx, primary []byte) (refs []string, err error) {
	s, err := load(tx, primary)
	if errors.Is(err, ErrCorrupt) {
		return removeDamaged(tx, primary)
	}
	if err != nil {
		return nil, err
	}
	if err := tx.Bucket(bucketUsers).Delete(userKey(s.Account, s.UserID, s.Cursor())); err != nil {
		return nil, err
	}
	if err := dequeue(tx, primary, s.Due); err != nil {
		return nil, err
	}
	if err := dropRef(tx, primary, s.Audio); err != nil {
		return nil, err
	}
	return []string{s.Audio}, tx.Bucket(bucketSessions).Delete(primary)
}

// removeDamaged takes a session out of everything whose record does not say
// where it stands.
func removeDamaged(tx *bbolt.Tx, primary []byte) (refs []string, err error) {
	users, err := keysOf(tx.Bucket(bucketUsers), func(_, v []byte) bool { return bytes.Equal(v, primary) })
	if err != nil {
		return nil, err
	}
	for _, k := range users {
		if err := tx.Bucket(bucketUsers).Delete(k); err != nil {
			return nil, err
		}
	}
	due, err := keysOf(tx.Bucket(bucketDue), func(k, _ []byte) bool { return len(k) > timeLen && bytes.Equal(k[timeLen:], primary) })
	if err != nil {
		return nil, err
	}
	for _, k := range due {
		if err := dequeue(tx, primary, keyTime(k)); err != nil {
			return nil, err
		}
	}
	audio, err := keysOf(tx.Bucket(bucketAudio), func(_, v []byte) bool { return bytes.Equal(v, primary) })
	if err != nil {
		return nil, err
	}
	for _, k := range audio {
		refs = append(refs, string(k))
		if err := tx.Bucket(bucketAudio).Delete(k); err != nil {
			return nil, err
		}
	}
	return refs, tx.Bucket(bucketSessions).Delete(primary)
}

// keysOf returns the keys of a bucket that match.
func keysOf(bucket *bbolt.Bucket, match func(k, v []byte) bool) (keys [][]byte, err error) {
	err = bucket.ForEach(func(k, v []byte) error {
		if match(k, v) {
			keys = append(keys, bytes.Clone(k))
		}
		return nil
	})
	return keys, err
}
