package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

// Contents says how much is in a store.
type Contents struct {
	Sessions int
	Audio    int   // recordings that wait or are in work
	Bytes    int64 // of audio, as stored
}

// Check looks at all of the store at path, which nobody has open, and calls
// fault with each thing that is wrong: in the structure of the file, in records,
// in the indexes that lead to them, in audio, which is read to its end, and in
// the key slots. A fault names sessions by their IDs and says nothing of what
// stands in them. The error is that of Open, of fault, or of a disk that cannot
// be read; a store with faults has none.
func Check(ctx context.Context, path string, opts *Options, fault func(string) error) (c Contents, err error) {
	s, err := Open(path, opts)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	err = s.view(func(tx *bbolt.Tx) error {
		k := checker{ctx: ctx, s: s, tx: tx, fault: fault, want: map[string]int{}, slots: map[uint64]bool{}}
		if err := k.pages(); err != nil {
			return err
		}
		if err := k.sessions(); err != nil {
			return err
		}
		c = k.found
		return errors.Join(k.indexes(), k.documents(), k.keys())
	})
	return c, err
}

// checker is one Check.
type checker struct {
	ctx   context.Context
	s     *Store
	tx    *bbolt.Tx
	fault func(string) error
	found Contents
	want  map[string]int  // by index: the entries that sessions ask for
	slots map[uint64]bool // of sessions
}

// pages checks the structure of the file. All faults are read: bbolt looks for
// them in a goroutine of its own.
func (k *checker) pages() (err error) {
	if nested(k.tx) { // a bucket that stands in itself would be followed without end
		return k.fault("the file: a bucket stands in another")
	}
	for e := range k.tx.Check() {
		if err == nil {
			err = k.fault("the file: " + e.Error())
		}
	}
	return err
}

// nested says whether a bucket holds another one. None of a store does, unless a
// page is in the place of another.
func nested(tx *bbolt.Tx) bool {
	err := tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
		return b.ForEachBucket(func([]byte) error { return ErrCorrupt })
	})
	return err != nil
}

// sessions checks each record and that the indexes lead to it.
func (k *checker) sessions() error {
	return k.tx.Bucket(bucketSessions).ForEach(func(primary, record []byte) error {
		if err := k.ctx.Err(); err != nil {
			return err
		}
		k.found.Sessions++
		name := sessionName(primary)
		s, err := k.s.vault.read(k.tx, primary, record)
		if errors.Is(err, ErrCorrupt) {
			return k.fault(name + ": " + err.Error())
		}
		if err != nil {
			return err
		}
		for _, fault := range k.places(primary, s) {
			if err := k.fault(name + ": " + fault); err != nil {
				return err
			}
		}
		if found, err := k.s.vault.find(k.tx, primary); err == nil && found.sum != "" {
			k.want[string(bucketAnalyses)]++
		}
		if k.s.vault != nil {
			slot, _ := k.s.vault.slotOf(primary, record) // the record was read: it is authentic
			if k.slots[slot] {
				if err := k.fault(name + ": another session has its key slot"); err != nil {
					return err
				}
			}
			k.slots[slot] = true
		}
		return k.audio(name, s)
	})
}

// places returns what is wrong with the entries of a session in the indexes.
func (k *checker) places(primary []byte, s *store.Session) (faults []string) {
	entry := func(bucket, key, value []byte, what string) {
		k.want[string(bucket)]++
		found, v := k.tx.Bucket(bucket).Cursor().Seek(key)
		if !bytes.Equal(found, key) || !bytes.Equal(v, value) {
			faults = append(faults, "it is missing from the index of "+what)
		}
	}
	v := k.s.vault
	entry(bucketUsers, v.userKey(s.Account, s.UserID, s.Cursor()), primary, "users")
	if !s.Due.IsZero() {
		entry(bucketDue, dueKey(s.Due, primary), nil, "what is due")
	}
	if !s.Notify.IsZero() {
		entry(bucketNotices, v.noticeKey(s.Account, s.Notify, primary), nil, "notices")
	}
	if t := s.Kept(); !t.IsZero() {
		entry(bucketKept, dueKey(t, primary), nil, "what may expire")
	}
	if audio.IsRef(s.Audio) {
		entry(bucketAudio, []byte(s.Audio), primary, "audio")
	}
	return faults
}

// audio reads the audio of a session to its end.
func (k *checker) audio(name string, s *store.Session) error {
	if s.Audio == "" {
		return nil
	}
	k.found.Audio++
	f, err := k.s.audio.Open(k.ctx, s.Audio)
	if err == nil {
		var n int64
		n, err = io.Copy(io.Discard, f)
		k.found.Bytes += n
		err = errors.Join(err, f.Close())
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return k.fault(name + ": its audio is missing")
	case errors.Is(err, ErrCorrupt):
		return k.fault(name + ": " + err.Error())
	}
	return err
}

// indexes checks that they hold nothing but what sessions ask for.
func (k *checker) indexes() error {
	for _, bucket := range buckets {
		if bytes.Equal(bucket, bucketMeta) || bytes.Equal(bucket, bucketSessions) || bytes.Equal(bucket, bucketDocuments) {
			continue
		}
		n := 0
		_ = k.tx.Bucket(bucket).ForEach(func(_, _ []byte) error { n++; return nil })
		if want := k.want[string(bucket)]; n != want {
			if err := k.fault(fmt.Sprintf("the index %s has %d entries, want %d", bucket, n, want)); err != nil {
				return err
			}
		}
	}
	if got, want := k.tx.Bucket(bucketDue).Sequence(), uint64(k.want[string(bucketDue)]); got != want {
		return k.fault(fmt.Sprintf("the queue is said to hold %d sessions, want %d", got, want))
	}
	return nil
}

// documents checks that each can be read.
func (k *checker) documents() error {
	return k.tx.Bucket(bucketDocuments).ForEach(func(name, record []byte) error {
		if _, _, err := k.s.vault.document(string(name), record); err != nil {
			return k.fault(fmt.Sprintf("document %q: %v", name, err))
		}
		return nil
	})
}

// keys checks that each slot is a session's, or is to be one's.
func (k *checker) keys() error {
	v := k.s.vault
	if v == nil {
		return nil
	}
	n, err := v.count(k.tx)
	if err != nil {
		return k.fault(err.Error())
	}
	spare := 0
	for _, state := range []byte{slotRetired, slotFree} {
		spare += len(v.entries(k.tx, state, int(min(n, 1<<31))))
	}
	if got := len(k.slots) + spare; uint64(got) != n {
		return k.fault(fmt.Sprintf("%d of %d key slots are accounted for", got, n))
	}
	return nil
}

// sessionName names the session of a key in bucketSessions.
func sessionName(primary []byte) string {
	if len(primary) == 0 || len(primary) <= int(primary[0]) {
		return "a session whose key is malformed"
	}
	return fmt.Sprintf("session %q", primary[1:1+int(primary[0])])
}
