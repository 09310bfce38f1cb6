package bolt

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// The buckets; doc.go has the layout.
var (
	bucketMeta      = []byte("meta")
	bucketSessions  = []byte("sessions")
	bucketUsers     = []byte("users")
	bucketDue       = []byte("due")
	bucketAudio     = []byte("audio")
	bucketNotices   = []byte("notices")
	bucketKept      = []byte("kept")
	bucketAnalyses  = []byte("analyses")
	bucketDocuments = []byte("documents")
	bucketSlots     = []byte("slots") // of encrypted stores only
)

// buckets are the buckets of every store, plain or encrypted.
var buckets = [][]byte{bucketMeta, bucketSessions, bucketUsers, bucketDue, bucketAudio, bucketNotices, bucketKept, bucketAnalyses, bucketDocuments}

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

// sum represents strings of the caller in a key: their SHA-256 or, in an encrypted
// store, their HMAC-SHA-256, so that a reader of the file cannot test names.
func (v *vault) sum(parts ...string) [sha256.Size]byte {
	var buf [128]byte // chosen: enough for most accounts and users
	b := buf[:0]
	for _, part := range parts {
		b = append(b, part...)
	}
	if v == nil {
		return sha256.Sum256(b)
	}
	h := hmac.New(sha256.New, v.index)
	h.Write(bytes.Clone(b)) // b stays on the stack
	return [sha256.Size]byte(h.Sum(nil))
}

// appendSum appends the sum of strings.
func (v *vault) appendSum(b []byte, parts ...string) []byte {
	sum := v.sum(parts...)
	return append(b, sum[:]...)
}

// primaryKey returns the key of a session, nil if the ID is empty or longer than
// screen.MaxID.
func (v *vault) primaryKey(account, id string) []byte {
	if id == "" || len(id) > screen.MaxID {
		return nil
	}
	k := make([]byte, 0, 1+len(id)+sha256.Size)
	k = append(k, byte(len(id)))
	k = append(k, id...)
	return v.appendSum(k, account)
}

// isKey reports whether primary is the key of the session with that account and ID.
func (v *vault) isKey(primary []byte, account, id string) bool {
	sum := v.sum(account)
	return len(primary) == 1+len(id)+len(sum) && int(primary[0]) == len(id) &&
		string(primary[1:][:len(id)]) == id && bytes.Equal(primary[1+len(id):], sum[:])
}

// idPrefix is the part of a primary key before the account: the ID with its length.
func idPrefix(primary []byte) []byte { return primary[:1+int(primary[0])] }

// userPrefix is the common prefix of the keys of a user's sessions in bucketUsers.
func (v *vault) userPrefix(account, userID string) []byte {
	length := binary.AppendUvarint(nil, uint64(len(account))) // separates account and user
	return v.appendSum(nil, string(length), account, userID)
}

// userKey is the key in bucketUsers of the session at a cursor.
func (v *vault) userKey(account, userID string, c store.Cursor) []byte {
	k := v.userPrefix(account, userID)
	n := len(k)
	k = appendTime(k, c.CreatedAt)
	for i := range k[n:] {
		k[n+i] ^= math.MaxUint8 // the newest first
	}
	return append(k, c.ID...)
}

// dueKey is the key of a session in an index that is ordered by time: bucketDue or
// bucketKept.
func dueKey(due time.Time, primary []byte) []byte {
	return append(appendTime(make([]byte, 0, timeLen+len(primary)), due), primary...)
}

// noticeKey is the key of a session in bucketNotices: ordered by account, then by
// time.
func (v *vault) noticeKey(account string, notify time.Time, primary []byte) []byte {
	return append(v.appendSum(nil, account), dueKey(notify, primary)...)
}

// isPrimary reports whether k is a primary key with the given ID prefix: only the
// account follows the prefix.
func isPrimary(k, idPrefix []byte) bool {
	return len(k) == len(idPrefix)+sha256.Size && bytes.HasPrefix(k, idPrefix)
}
