package bolt

import "go.etcd.io/bbolt"

// Commits returns how many transactions were stored since the database was
// made.
func (s *Store) Commits() (n int) {
	_ = s.view(func(tx *bbolt.Tx) error { n = tx.ID(); return nil })
	return n
}
