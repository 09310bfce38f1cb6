package bolt

import (
	"bytes"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

// record returns the record under a key; it returns ErrNotFound for a nil key.
func record(tx *bbolt.Tx, primary []byte) ([]byte, error) {
	if primary == nil {
		return nil, store.ErrNotFound
	}
	record := tx.Bucket(bucketSessions).Get(primary)
	if record == nil {
		return nil, store.ErrNotFound
	}
	return record, nil
}

// load reads a session; it returns ErrNotFound for a nil key.
func (v *vault) load(tx *bbolt.Tx, primary []byte) (*store.Session, error) {
	record, err := record(tx, primary)
	if err != nil {
		return nil, err
	}
	return v.read(tx, primary, record)
}

// read returns the session of a record under a key.
func (v *vault) read(tx *bbolt.Tx, primary, record []byte) (*store.Session, error) {
	s, sum, key, err := v.fields(primary, record)
	if err != nil || sum == "" {
		return s, err
	}
	analysis := tx.Bucket(bucketAnalyses).Get(primary)
	if analysis == nil {
		return nil, fmt.Errorf("%w: the scores of a record are missing", ErrCorrupt)
	}
	if analysis, err = v.openAnalysis(key, primary, analysis); err != nil {
		return nil, err
	}
	if err := decodeAnalysis(primary, sum, analysis, s); err != nil {
		return nil, err
	}
	return s, nil
}

// fields decodes the record of a session without its scores and features, and
// returns the checksum of their record and the key that seals both. A record of
// another session than primary names is ErrCorrupt.
func (v *vault) fields(primary, record []byte) (s *store.Session, sum string, key sessionKey, err error) {
	if s, sum, key, err = v.fieldsOf(primary, record); err == nil && !v.isKey(primary, s.Account, s.ID) {
		s, err = nil, errOther
	}
	return s, sum, key, err
}

// errOther is returned for a record that is stored under the key of another session.
var errOther = fmt.Errorf("%w: a record is of another session", ErrCorrupt)

// fieldsOf decodes the record of a session without its scores and features, and
// returns the checksum of their record and the key that seals both. It does not check
// that the session is the one of primary.
func (v *vault) fieldsOf(primary, record []byte) (s *store.Session, sum string, key sessionKey, err error) {
	if record, key, err = v.open(primary, record); err == nil {
		s, sum, err = decode(primary, record)
	}
	return s, sum, key, err
}

// stored is a session as stored, without scores and features. Sum is the checksum
// of the record of these, "" if there is none.
type stored struct {
	primary []byte
	session *store.Session
	sum     string
}

// find reads a session without its scores and features; it returns ErrNotFound for
// a nil key.
func (v *vault) find(tx *bbolt.Tx, primary []byte) (stored, error) {
	found, _, err := v.findRecord(tx, primary)
	return found, err
}

// findRecord is find that also returns the record, which is valid until the end of the
// transaction.
func (v *vault) findRecord(tx *bbolt.Tx, primary []byte) (found stored, data []byte, err error) {
	if data, err = record(tx, primary); err != nil {
		return stored{}, nil, err
	}
	s, sum, _, err := v.fields(primary, data)
	if err != nil {
		return stored{}, nil, err
	}
	return stored{primary, s, sum}, data, nil
}

// findIn reads the session of an account and ID in a batch, without its scores and
// features. Primary is its key; a nil one gives ErrNotFound.
func (v *vault) findIn(b *batch, primary []byte, account, id string) (stored, error) {
	k, record := b.session(primary)
	if primary == nil || !bytes.Equal(k, primary) {
		return stored{}, store.ErrNotFound
	}
	s, sum, _, err := v.fieldsOf(primary, record)
	if err == nil && (s.Account != account || s.ID != id) {
		err = errOther
	}
	if err != nil {
		return stored{}, err
	}
	return stored{primary, s, sum}, nil
}

// records are the encoded records of a session, before sealing. Analysis, the record
// of scores and features, is nil if the stored one stays.
type records struct{ session, analysis []byte }

// recordsOf encodes a session. If the session has neither scores nor features, the
// stored ones stay: sum is the checksum of their record, "" if there is none.
func recordsOf(primary []byte, s *store.Session, sum string) (r records, err error) {
	if s.Analyzed() {
		if r.analysis, sum, err = encodeAnalysis(primary, s); err != nil {
			return records{}, err
		}
	}
	r.session, err = encode(primary, s, sum)
	return r, err
}

// replace stores a session and updates the indexes. Before is the session as it is
// stored now, nil for a new one.
func (v *vault) replace(tx *bbolt.Tx, primary []byte, before, after *store.Session, to records) error {
	if before == nil {
		k := v.userKey(after.Account, after.UserID, after.Cursor())
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
	if err := v.reindex(tx, primary, before, after); err != nil {
		return err
	}
	if before.Audio != after.Audio {
		if err := dropRef(tx, primary, before.Audio); err != nil {
			return err
		}
		if audio.IsRef(after.Audio) {
			if err := tx.Bucket(bucketAudio).Put([]byte(after.Audio), primary); err != nil {
				return err
			}
		}
	}
	record, key, err := v.seal(tx, primary, to.session)
	if err != nil {
		return err
	}
	if to.analysis != nil {
		if err := tx.Bucket(bucketAnalyses).Put(primary, v.sealAnalysis(key, primary, to.analysis)); err != nil {
			return err
		}
	}
	return tx.Bucket(bucketSessions).Put(primary, record)
}

// drop removes the records of a session.
func drop(tx *bbolt.Tx, primary []byte) error {
	if err := tx.Bucket(bucketAnalyses).Delete(primary); err != nil {
		return err
	}
	return tx.Bucket(bucketSessions).Delete(primary)
}
