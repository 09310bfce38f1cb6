package bolt

import (
	"strconv"

	"go.etcd.io/bbolt"
)

// sinceFormat says which version of the format brought the buckets that the
// first one did not have.
var sinceFormat = map[string]int{string(bucketNotices): 2, string(bucketKept): 2, string(bucketAnalyses): 4}

// upgrade brings a store of a former format to this one. Format 1 had no indexes
// of notices, none yet, and of what is kept. A damaged record does not say since
// when it is kept: it stays until it is deleted. Before format 4 scores and
// features stood in the records of sessions, where they stay until the session
// changes.
func upgrade(tx *bbolt.Tx, version int) error {
	for name, since := range sinceFormat {
		if version < since {
			if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
				return err
			}
		}
	}
	if version == 1 {
		if err := indexKept(tx); err != nil {
			return err
		}
	}
	to := formatVersion
	if version == 3 {
		to = formatEncrypted
	}
	return tx.Bucket(bucketMeta).Put(keyFormat, []byte(strconv.Itoa(to)))
}

// indexKept fills bucketKept of a store that is not encrypted.
func indexKept(tx *bbolt.Tx) error {
	kept := tx.Bucket(bucketKept)
	return tx.Bucket(bucketSessions).ForEach(func(primary, record []byte) error {
		s, _, err := decode(primary, record)
		if err != nil || s.Kept().IsZero() {
			return nil
		}
		return kept.Put(dueKey(s.Kept(), primary), nil)
	})
}
