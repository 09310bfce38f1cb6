package bolt

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"time"

	"github.com/voicescreen/voicescreen/store"
)

// The buckets; doc.go has the layout.
var (
	bucketMeta     = []byte("meta")
	bucketSessions = []byte("sessions")
	bucketUsers    = []byte("users")
	bucketDue      = []byte("due")
	bucketAudio    = []byte("audio")
)

// timeLen is the length of a time in a key and in a record: seconds and
// nanoseconds.
const timeLen = 8 + 4

// appendTime appends t so that earlier times sort first.
func appendTime(b []byte, t time.Time) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(t.Unix())^1<<63) // the sign bit flipped: negative seconds sort first
	return binary.BigEndian.AppendUint32(b, uint32(t.Nanosecond()))
}

// keyTime is the inverse of appendTime. B has at least timeLen bytes.
func keyTime(b []byte) time.Time {
	sec := int64(binary.BigEndian.Uint64(b) ^ 1<<63)
	return time.Unix(sec, int64(binary.BigEndian.Uint32(b[8:]))).UTC()
}

// primaryKey returns the key of a session, nil if there can be no such one.
func primaryKey(account, id string) []byte {
	if id == "" || len(id) > store.MaxID {
		return nil
	}
	hash := sha256.Sum256([]byte(account))
	k := make([]byte, 0, 1+len(id)+len(hash))
	k = append(k, byte(len(id)))
	k = append(k, id...)
	return append(k, hash[:]...)
}

// idPrefix is what the primary keys of this ID begin with, whatever the
// account.
func idPrefix(primary []byte) []byte { return primary[:1+int(primary[0])] }

// userPrefix is what the keys of a user's sessions in bucketUsers begin with.
func userPrefix(account, userID string) []byte {
	h := sha256.New()
	h.Write(binary.AppendUvarint(nil, uint64(len(account)))) // where the account ends
	h.Write([]byte(account))
	h.Write([]byte(userID))
	return h.Sum(nil)
}

// userKey is the place behind which a listing goes on.
func userKey(account, userID string, c store.Cursor) []byte {
	k := userPrefix(account, userID)
	n := len(k)
	k = appendTime(k, c.CreatedAt)
	for i := range k[n:] {
		k[n+i] ^= math.MaxUint8 // the newest first
	}
	return append(k, c.ID...)
}

// dueKey is the place of a session in the queue.
func dueKey(due time.Time, primary []byte) []byte {
	return append(appendTime(make([]byte, 0, timeLen+len(primary)), due), primary...)
}

// isPrimary says whether k is a primary key under the given ID prefix:
// nothing follows but the account.
func isPrimary(k, idPrefix []byte) bool {
	return len(k) == len(idPrefix)+sha256.Size && bytes.HasPrefix(k, idPrefix)
}
