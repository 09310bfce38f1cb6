package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/voicescreen/voicescreen/store"
)

// The first byte of a record is its version. A change of its layout needs a new one.
const (
	recordVersion   = 1    // of a session without scores and features
	analysisVersion = 0x41 // of scores and features; chosen: different from recordVersion
)

// headerLen is the length of the version and the checksum before a record's body.
const headerLen = 1 + crc32.Size

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum includes the key, so that a record under another key counts as damaged.
func checksum(primary, record []byte) uint32 {
	sum := crc32.Checksum(primary, castagnoli)
	sum = crc32.Update(sum, castagnoli, record[:1])
	return crc32.Update(sum, castagnoli, record[headerLen:])
}

// newHeader returns the header of a record, with capacity for length bytes. The caller
// appends the body and then calls finish.
func newHeader(version byte, length int) []byte {
	return append(make([]byte, 0, length), version, 0, 0, 0, 0)
}

// finish sets the checksum of a record.
func finish(primary, record []byte) []byte {
	binary.BigEndian.PutUint32(record[1:], checksum(primary, record))
	return record
}

// body returns the body of a record. Any damage is ErrCorrupt.
func body(primary, record []byte, version byte) ([]byte, error) {
	if len(record) < headerLen || record[0] != version {
		return nil, fmt.Errorf("%w: a record is cut short or of another version", ErrCorrupt)
	}
	if binary.BigEndian.Uint32(record[1:]) != checksum(primary, record) {
		return nil, fmt.Errorf("%w: a record does not match its checksum", ErrCorrupt)
	}
	return record[headerLen:], nil
}

// encode returns the record of a session without scores and features. Sum is the
// checksum of the record of these, as encodeAnalysis returned it, or "".
func encode(primary []byte, s *store.Session, sum string) ([]byte, error) {
	head := *s
	head.Scores, head.Features = nil, nil
	b, err := store.Marshal(&head)
	if err != nil {
		return nil, err
	}
	record := newHeader(recordVersion, headerLen+1+len(sum)+len(b))
	record = append(append(record, byte(len(sum))), sum...)
	return finish(primary, append(record, b...)), nil
}

// usualAnalysis is the usual length of a record of scores and features, in bytes.
const usualAnalysis = 6 << 10

// encodeAnalysis returns the record of a session's scores and features and its
// checksum, or nil and "" if the session has neither.
func encodeAnalysis(primary []byte, s *store.Session) (record []byte, sum string, err error) {
	if !s.Analyzed() {
		return nil, "", nil
	}
	record, err = store.AppendAnalysis(newHeader(analysisVersion, usualAnalysis), s)
	if err != nil {
		return nil, "", err
	}
	return finish(primary, record), string(record[1:headerLen]), nil
}

// decode returns the session in a record, and the checksum of the record of its scores
// and features, "" if there is none. Any damage is ErrCorrupt, without the content of
// the record. The session shares no memory with b.
func decode(primary, b []byte) (s *store.Session, sum string, err error) {
	if b, err = body(primary, b, recordVersion); err != nil {
		return nil, "", err
	}
	return decodeBody(b)
}

// decodeBody decodes the body of a session's record, without version and checksum.
func decodeBody(b []byte) (s *store.Session, sum string, err error) {
	if len(b) == 0 || b[0] != 0 && b[0] != crc32.Size || len(b) < 1+int(b[0]) {
		return nil, "", fmt.Errorf("%w: a record is cut short", ErrCorrupt)
	}
	sum, b = string(b[1:1+b[0]]), b[1+b[0]:]
	if s, err = store.Unmarshal(b); err != nil {
		return nil, "", corrupted(err)
	}
	if s.Analyzed() {
		return nil, "", fmt.Errorf("%w: a record holds scores", ErrCorrupt)
	}
	return s, sum, nil
}

// decodeAnalysis sets the scores and features of s from the record b, whose checksum
// must be sum. They share no memory with b.
func decodeAnalysis(primary []byte, sum string, b []byte, s *store.Session) error {
	content, err := body(primary, b, analysisVersion)
	if err != nil {
		return err
	}
	if string(b[1:headerLen]) != sum {
		return fmt.Errorf("%w: scores are of another time than their session", ErrCorrupt)
	}
	return corrupted(store.UnmarshalAnalysis(content, s))
}

// corrupted wraps ErrCorrupt around an ErrDamaged of the codec.
func corrupted(err error) error {
	if errors.Is(err, store.ErrDamaged) {
		return fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	return err
}
