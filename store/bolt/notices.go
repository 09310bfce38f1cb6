package bolt

import (
	"bytes"
	"context"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
)

var _ store.NoticeCounter = (*Store)(nil)

// Notices is described at [store.NoticeCounter]. It reads one entry of an index
// for each notice, and for each account one record, which has its name: the index
// has the sum only.
func (s *Store) Notices(ctx context.Context) (map[string]int, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	counts := map[string]int{}
	err := s.view(func(tx *bbolt.Tx) error {
		var (
			sum   []byte // of the account of the notices that n counts
			name  string
			named bool
			n     int
		)
		add := func() {
			if named && n > 0 {
				counts[name] += n
			}
		}
		c := tx.Bucket(bucketNotices).Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			h, ok := newNoticeHead(k)
			if !ok {
				continue
			}
			if !bytes.Equal(h.account, sum) {
				add()
				sum, named, n = h.account, false, 0
			}
			n++
			if !named { // the records before it, if any, are damaged
				if found, err := s.vault.find(tx, bytes.Clone(h.primary)); err == nil {
					name, named = found.session.Account, true
				}
			}
		}
		add()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return counts, nil
}
