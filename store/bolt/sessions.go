package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

// Create is described at [store.Store].
func (s *Store) Create(ctx context.Context, session *store.Session) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	session = session.Clone()
	session.Created(s.dated())
	if err := session.Check(); err != nil {
		return err
	}
	primary := s.vault.primaryKey(session.Account, session.ID)
	to, err := recordsOf(primary, session, "") // before the group commit, which runs one call at a time
	if err != nil {
		return err
	}
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
		return b.write(func(tx *bbolt.Tx) error { return s.vault.replace(tx, primary, nil, session, to) })
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
		session, err = s.vault.load(tx, s.vault.primaryKey(account, id))
		return err
	})
	return session, err
}

// Head is described at [store.Store].
func (s *Store) Head(ctx context.Context, account, id string) (*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	var found stored
	err := s.view(func(tx *bbolt.Tx) (err error) {
		found, err = s.vault.find(tx, s.vault.primaryKey(account, id))
		return err
	})
	return found.session, err
}

// Update is described at [store.Store].
func (s *Store) Update(ctx context.Context, account, id string, change store.Change) (*store.Session, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	primary := s.vault.primaryKey(account, id)
	c := changing{store: s, change: change, check: (*store.Session).CheckChange}
	c.find = func(b *batch) (stored, error) { return s.vault.findIn(b, primary, account, id) }
	c.prepare(primary)
	return c.commit()
}

// Delete is described at [store.Store]. It removes a damaged record too.
func (s *Store) Delete(ctx context.Context, account, id string) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	primary := s.vault.primaryKey(account, id)
	_, err := s.removeFound(func(tx *bbolt.Tx) (primaries, stale [][]byte, err error) {
		if primary == nil || tx.Bucket(bucketSessions).Get(primary) == nil {
			return nil, nil, store.ErrNotFound
		}
		return [][]byte{primary}, nil, nil
	})
	return err
}

// Forget is described at [store.Store]. It removes damaged records too.
func (s *Store) Forget(ctx context.Context, account, userID string) (int, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return 0, err
	}
	defer s.calls.End()
	prefix := s.vault.userPrefix(account, userID)
	return s.removeFound(func(tx *bbolt.Tx) (primaries, stale [][]byte, err error) {
		c := tx.Bucket(bucketUsers).Cursor()
		for k, primary := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, primary = c.Next() {
			primaries = append(primaries, bytes.Clone(primary))
		}
		return primaries, nil, nil
	})
}

// removeFound removes the sessions whose primary keys find returns, and the stale
// entries of bucketKept that it returns. After the commit it removes the audio and
// destroys the keys of the sessions. It returns how many sessions it removed. If n is
// not 0, the error is that of erase.
func (s *Store) removeFound(find func(tx *bbolt.Tx) (primaries, stale [][]byte, err error)) (n int, err error) {
	var todo erasure
	err = s.group.do(func(b *batch) error {
		var primaries, stale [][]byte
		n, todo = 0, erasure{}
		err := guard(func() (err error) {
			primaries, stale, err = find(b.tx)
			return err
		})
		if err != nil || len(primaries)+len(stale) == 0 {
			return err
		}
		n = len(primaries)
		b.afterCommit = append(b.afterCommit, func() { _ = s.erase(todo) })
		return b.write(func(tx *bbolt.Tx) error {
			for _, k := range stale {
				if err := tx.Bucket(bucketKept).Delete(k); err != nil {
					return err
				}
			}
			for _, primary := range primaries {
				if err := s.vault.remove(tx, primary, &todo); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return 0, err
	}
	return n, s.erase(todo)
}

// dropRef removes the reference of a session to audio, if it is the session's.
func dropRef(tx *bbolt.Tx, primary []byte, ref string) error {
	refs := tx.Bucket(bucketAudio)
	if !audio.IsRef(ref) || !bytes.Equal(refs.Get([]byte(ref)), primary) {
		return nil
	}
	return refs.Delete([]byte(ref))
}

// erasure lists what Store.erase removes once the removal of sessions is durable.
type erasure struct {
	audio []string // references of the sessions' audio
	slots []uint64 // slots of the sessions' keys
}

// erase removes the audio of removed sessions and then destroys their keys. The
// order matters to a backup, which makes the removal of audio wait and so protects
// the keys too. An error means that a key is not destroyed yet: the next call that
// removes something and the next Open try again.
func (s *Store) erase(todo erasure) error {
	if err := errors.Join(s.audio.Release(todo.audio...), s.vault.destroy(todo.slots)); err != nil {
		return fmt.Errorf("store/bolt: the sessions are removed, but not all of their keys are destroyed yet: %w", err)
	}
	return nil
}

// remove removes the records and index entries of a session, and adds its audio and
// key to todo.
func (v *vault) remove(tx *bbolt.Tx, primary []byte, todo *erasure) error {
	found, err := v.find(tx, primary)
	if errors.Is(err, ErrCorrupt) {
		return v.removeDamaged(tx, primary, todo)
	}
	if err != nil {
		return err
	}
	s := found.session
	if err := tx.Bucket(bucketUsers).Delete(v.userKey(s.Account, s.UserID, s.Cursor())); err != nil {
		return err
	}
	if err := dequeue(tx, primary, s.Due); err != nil {
		return err
	}
	if err := v.reindex(tx, primary, s, &store.Session{}); err != nil {
		return err
	}
	if err := dropRef(tx, primary, s.Audio); err != nil {
		return err
	}
	todo.audio = append(todo.audio, s.Audio)
	if err := v.retire(tx, primary, todo); err != nil {
		return err
	}
	return drop(tx, primary)
}

// removeDamaged is remove for a damaged record: it searches the indexes for entries
// of the session.
func (v *vault) removeDamaged(tx *bbolt.Tx, primary []byte, todo *erasure) error {
	users, err := keysOf(tx.Bucket(bucketUsers), func(_, v []byte) bool { return bytes.Equal(v, primary) })
	if err != nil {
		return err
	}
	for _, k := range users {
		if err := tx.Bucket(bucketUsers).Delete(k); err != nil {
			return err
		}
	}
	due, err := keysOf(tx.Bucket(bucketDue), func(k, _ []byte) bool { return len(k) > timeLen && bytes.Equal(k[timeLen:], primary) })
	if err != nil {
		return err
	}
	for _, k := range due {
		if err := dequeue(tx, primary, keyTime(k)); err != nil {
			return err
		}
	}
	if err := unindexDamaged(tx, primary); err != nil {
		return err
	}
	refs, err := keysOf(tx.Bucket(bucketAudio), func(_, v []byte) bool { return bytes.Equal(v, primary) })
	if err != nil {
		return err
	}
	for _, k := range refs {
		todo.audio = append(todo.audio, string(k))
		if err := tx.Bucket(bucketAudio).Delete(k); err != nil {
			return err
		}
	}
	if err := v.retire(tx, primary, todo); err != nil {
		return err
	}
	return drop(tx, primary)
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
