package bolt

import (
	"bytes"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
)

// changing applies change to the session that find returns, and stores the result if
// check returns nil.
type changing struct {
	store  *Store
	change store.Change
	check  func(before, after *store.Session) error
	find   func(b *batch) (stored, error)
	made   made // the last attempt
}

// made is a change that is ready to be stored.
type made struct {
	primary []byte
	based   []byte        // the stored record of the session that was changed; nil if the batch of the change read it
	before  store.Session // change may overwrite what it refers to: only fields that are values are used
	after   *store.Session
	to      records
}

// prepare makes the change outside the group commit, which is serial: several
// clients decode and encode at once, and while the disk syncs. The group commit
// stores the result if the record is still the same then, and repeats the change
// otherwise, also where it fails here.
func (c *changing) prepare(primary []byte) {
	var found stored
	var based []byte
	err := c.store.view(func(tx *bbolt.Tx) error {
		f, data, err := c.store.vault.findRecord(tx, primary)
		found, based = f, bytes.Clone(data)
		return err
	})
	if err == nil && c.make(found) == nil {
		c.made.based = based
	}
}

// commit stores the change.
func (c *changing) commit() (*store.Session, error) {
	if err := c.store.group.do(c.do); err != nil {
		return nil, err
	}
	if ref := c.made.before.Audio; ref != c.made.after.Audio {
		_ = c.store.audio.Release(ref) // what cannot be removed now is removed later
	}
	return c.made.after, nil
}

// do makes the change in a transaction, unless it is prepared.
func (c *changing) do(b *batch) error {
	var found stored
	var prepared bool
	err := guard(func() (err error) {
		if prepared = c.prepared(b); !prepared {
			found, err = c.find(b)
		}
		return err
	})
	if err == nil && !prepared {
		err = c.make(found)
	}
	if err != nil {
		return err
	}
	m := &c.made
	if ref := m.before.Audio; ref != m.after.Audio {
		b.afterCommit = append(b.afterCommit, func() { _ = c.store.audio.Release(ref) })
	}
	return b.write(func(tx *bbolt.Tx) error { return c.store.vault.replace(tx, m.primary, &m.before, m.after, m.to) })
}

// prepared reports whether the change was made from the record that is stored now.
func (c *changing) prepared(b *batch) bool {
	if c.made.based == nil {
		return false
	}
	k, r := b.session(c.made.primary)
	return bytes.Equal(k, c.made.primary) && bytes.Equal(r, c.made.based)
}

// make changes a session and encodes the result.
func (c *changing) make(found stored) error {
	m := made{primary: found.primary, before: *found.session, after: found.session}
	if err := c.change(m.after, c.store.now()); err != nil {
		return err
	}
	m.after.Scores = slices.Clone(m.after.Scores) // a scorer may have kept them
	m.after.Normalize()
	if err := c.check(&m.before, m.after); err != nil {
		return err
	}
	var err error
	if m.to, err = recordsOf(m.primary, m.after, found.sum); err != nil {
		return err
	}
	c.made = m
	return nil
}
