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

// buckets are those of every store.
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

// sum stands in a key for strings of the caller: a SHA-256, or of an encrypted
// store an HMAC-SHA-256, so that a reader of the file cannot test names.
func (v *vault) sum(parts ...string) [sha256.Size]byte {
	var room [128]byte // chosen: of most accounts and users
	b := room[:0]
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

// primaryKey returns the key of a session, nil if there can be no such one.
func (v *vault) primaryKey(account, id string) []byte {
	if id == "" || len(id) > screen.MaxID {
		return nil
	}
	k := make([]byte, 0, 1+len(id)+sha256.Size)
	k = append(k, byte(len(id)))
	k = append(k, id...)
	return v.appendSum(k, account)
}

// isKey says whether primary is the key of a session.
func (v *vault) isKey(primary []byte, account, id string) bool {
	sum := v.sum(account)
	return len(primary) == 1+len(id)+len(sum) && int(primary[0]) == len(id) &&
		string(primary[1:][:len(id)]) == id && bytes.Equal(primary[1+len(id):], sum[:])
}

// idPrefix is what the primary keys of this ID begin with, whatever the
// account.
func idPrefix(primary []byte) []byte { return primary[:1+int(primary[0])] }

// userPrefix is what the keys of a user's sessions in bucketUsers begin with.
func (v *vault) userPrefix(account, userID string) []byte {
	length := binary.AppendUvarint(nil, uint64(len(account))) // where the account ends
	return v.appendSum(nil, string(length), account, userID)
}

// userKey is the place behind which a listing goes on.
func (v *vault) userKey(account, userID string, c store.Cursor) []byte {
	k := v.userPrefix(account, userID)
	n := len(k)
	k = appendTime(k, c.CreatedAt)
	for i := range k[n:] {
		k[n+i] ^= math.MaxUint8 // the newest first
	}
	return append(k, c.ID...)
}

// dueKey is the place of a session among those in the order of a time: in the
// queue, or in bucketKept.
func dueKey(due time.Time, primary []byte) []byte {
	return append(appendTime(make([]byte, 0, timeLen+len(primary)), due), primary...)
}

// noticeKey is the place of a session in bucketNotices: among those of its
// account, whose sum the keys begin with, in the order of the time.
func (v *vault) noticeKey(account string, notify time.Time, primary []byte) []byte {
	return append(v.appendSum(nil, account), dueKey(notify, primary)...)
}

// isPrimary says whether k is a primary key under the given ID prefix:
// nothing follows but the account.
func isPrimary(k, idPrefix []byte) bool {
	return len(k) == len(idPrefix)+sha256.Size && bytes.HasPrefix(k, idPrefix)
}
