package bolt

import (
	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
)

// Commits returns the number of transactions committed since the database was created.
func (s *Store) Commits() (n int) {
	_ = s.view(func(tx *bbolt.Tx) error { n = tx.ID(); return nil })
	return n
}

// RecordSize returns the size of the records of a session, in bytes.
func RecordSize(session *store.Session) int {
	var v *vault
	r, err := recordsOf(v.primaryKey(session.Account, session.ID), session, "")
	if err != nil {
		panic(err)
	}
	return len(r.session) + len(r.analysis)
}

// PlainUpdate is Update in a bbolt transaction of its own, without group commit.
func (s *Store) PlainUpdate(account, id string, change store.Change) error {
	primary := s.vault.primaryKey(account, id)
	find := func(b *batch) (stored, error) { return s.vault.findIn(b, primary, account, id) }
	c := changing{store: s, change: change, check: (*store.Session).CheckChange, find: find}
	return s.db.Update(func(tx *bbolt.Tx) error { return c.do(&batch{tx: tx}) })
}
