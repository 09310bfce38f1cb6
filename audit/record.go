package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// The actions of the log itself. No Event may begin with "audit.".
const (
	ActionBegin  = "audit.begin"  // the first record of a file
	ActionResume = "audit.resume" // the log was opened again
)

const actionPrefix = "audit."

// Event is one entry of the caller. Its fields are UTF-8 text of at most 256 bytes;
// a field that does not apply is "". Records cannot be erased: an Event must not
// hold data of a patient.
type Event struct {
	Account string `json:"account,omitempty"`
	Key     string `json:"key,omitempty"` // the ID of the key, never the key
	Action  string `json:"action"`
	Session string `json:"session,omitempty"`
	Outcome string `json:"outcome,omitempty"` // such as a status
}

// maxField bounds the fields of an Event in bytes. Chosen: several times the
// longest account name or session ID.
const maxField = 256

// ErrEvent is the error for an invalid Event. It does not hold the Event.
var ErrEvent = errors.New("audit: an event needs an action, and fields of at most 256 bytes of UTF-8")

func (e *Event) check() error {
	for _, field := range []string{e.Account, e.Key, e.Action, e.Session, e.Outcome} {
		if len(field) > maxField || !utf8.ValidString(field) {
			return ErrEvent
		}
	}
	if e.Action == "" || strings.HasPrefix(e.Action, actionPrefix) {
		return ErrEvent
	}
	return nil
}

// Record is an Event in the chain. Its hash covers all fields but Hash.
type Record struct {
	Seq  uint64    `json:"seq"`  // from 1
	Time time.Time `json:"time"` // UTC
	Event
	Replica string `json:"replica,omitempty"` // Options.Replica of the process that wrote it
	Note    *Note  `json:"note,omitempty"`    // of a record of the log itself
	Prev    string `json:"prev"`              // the hash of the record before; 64 zeros in the first
	Hash    string `json:"-"`                 // 64 hexadecimal digits
}

// Note is the content of a record of the log itself.
type Note struct {
	Algorithm  string `json:"algorithm,omitempty"`   // sha256 or hmac-sha256
	Headless   bool   `json:"headless,omitempty"`    // the log was opened without its head
	TornBytes  int64  `json:"torn_bytes,omitempty"`  // length of the torn end before this record
	TornSHA256 string `json:"torn_sha256,omitempty"` // of the torn end
}

// noHash is the Prev of the first record.
const noHash = "0000000000000000000000000000000000000000000000000000000000000000"

// A line is the hashed part, then hashLead, the hash, hashTail and the line end.
const (
	hashLead = `,"hash":"`
	hashTail = `"}`
	sealLen  = len(hashLead) + 2*sha256.Size + len(hashTail)
)

// sealer makes hashes or HMACs. It is for one goroutine.
type sealer struct{ h hash.Hash }

// newSealer returns a sealer of HMACs, or of hashes if key is empty.
func newSealer(key []byte) sealer {
	if len(key) == 0 {
		return sealer{sha256.New()}
	}
	return sealer{hmac.New(sha256.New, key)}
}

func (s sealer) sum(data []byte) string {
	s.h.Reset()
	s.h.Write(data) // never fails
	var sum [sha256.Size]byte
	return hex.EncodeToString(s.h.Sum(sum[:0]))
}

// seal appends the JSON of v, a struct, to dst, with the hash as the last member.
func (s sealer) seal(dst []byte, v any) (line []byte, hash string, err error) {
	body, err := json.Marshal(v)
	if err != nil {
		return dst, "", err
	}
	body = body[:len(body)-1] // the closing brace
	hash = s.sum(body)
	dst = append(dst, body...)
	dst = append(dst, hashLead...)
	dst = append(dst, hash...)
	return append(dst, hashTail...), hash, nil
}

// errNotWhole is one value, since all lines of a damaged log may have this error.
var errNotWhole = errors.New("it is not a whole record")

// open checks the hash of a line without its line end, and decodes it into v,
// a pointer to a struct. Every byte of the line counts.
func (s sealer) open(line []byte, v any) (hash string, err error) {
	n := len(line) - sealLen
	if n <= 0 || !bytes.HasPrefix(line[n:], []byte(hashLead)) || !bytes.HasSuffix(line, []byte(hashTail)) {
		return "", errNotWhole
	}
	hash = s.sum(line[:n])
	if !hmac.Equal([]byte(hash), line[n+len(hashLead):len(line)-len(hashTail)]) {
		return "", errors.New("its hash is not that of its content, or the key is another")
	}
	dec := json.NewDecoder(io.MultiReader(bytes.NewReader(line[:n]), bytes.NewReader([]byte("}"))))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return "", errors.New("it is not of the form of a record")
	}
	return hash, nil
}

// follow returns an error unless r is the record after before.
func (r *Record) follow(before Head) error {
	switch {
	case r.Seq == before.Seq+1 && r.Prev == before.Hash:
		return nil
	case r.Seq == before.Seq+1:
		return fmt.Errorf("record %d does not have the hash of the record before it, which is another than it was", r.Seq)
	}
	return fmt.Errorf("record %d follows record %d: records were deleted, inserted or moved", r.Seq, before.Seq)
}

// at returns the head of a log that ends with r.
func (r *Record) at() Head { return Head{Seq: r.Seq, Hash: r.Hash} }
