package bolt

import (
	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
)

// Commits returns how many transactions were stored since the database was
// made.
func (s *Store) Commits() (n int) {
	_ = s.view(func(tx *bbolt.Tx) error { n = tx.ID(); return nil })
	return n
}

// RecordSize returns how many bytes a session takes.
func RecordSize(session *store.Session) int {
	var v *vault
	r, err := recordsOf(v.primaryKey(session.Account, session.ID), session, "")
	if err != nil {
		panic(err)
	}
	return len(r.session) + len(r.analysis)
}

// PlainUpdate is Update in a transaction that no other call shares, as bbolt
// makes it.
func (s *Store) PlainUpdate(account, id string, change store.Change) error {
	primary := s.vault.primaryKey(account, id)
	find := func(b *batch) (stored, error) { return s.vault.findIn(b, primary, account, id) }
	c := changing{store: s, change: change, check: (*store.Session).CheckChange, find: find}
	return s.db.Update(func(tx *bbolt.Tx) error { return c.do(&batch{tx: tx}) })
}
