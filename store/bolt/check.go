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

// Contents is the size of a store, as Check found it.
type Contents struct {
	Sessions int   // including damaged ones
	Audio    int   // sessions that refer to audio
	Bytes    int64 // total length of the audio that could be read, decrypted
}

// Check verifies the store at path and calls fault with a description of each
// fault: in the structure of the file, in records, in the indexes, in audio, which
// is read to its end, and in the key slots. A description names sessions by ID and
// contains nothing else of them. The store must not be open. Check returns the
// error of Open, of fault or of a failed read; faults in the store alone are no
// error.
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
	want  map[string]int  // by index: how many entries the sessions should have
	slots map[uint64]bool // key slots of sessions
}

// pages checks the structure of the file. It receives all faults, also after an
// error, so that the goroutine in which bbolt searches for them ends.
func (k *checker) pages() (err error) {
	if nested(k.tx) { // bbolt's check would follow a bucket that contains itself for ever
		return k.fault("the file: a bucket contains another one")
	}
	for e := range k.tx.Check() {
		if err == nil {
			err = k.fault("the file: " + e.Error())
		}
	}
	return err
}

// nested reports whether a bucket contains another one. This happens only if a page
// was exchanged with another.
func nested(tx *bbolt.Tx) bool {
	err := tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
		return b.ForEachBucket(func([]byte) error { return ErrCorrupt })
	})
	return err != nil
}

// sessions checks each record, its index entries and its audio.
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
			slot, _ := k.s.vault.slotOf(primary, record) // authentic: read decrypted the record
			if k.slots[slot] {
				if err := k.fault(name + ": another session uses the same key slot"); err != nil {
					return err
				}
			}
			k.slots[slot] = true
		}
		return k.audio(name, s)
	})
}

// places returns the faults of the index entries of a session.
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

// indexes checks that the indexes contain no other entries than those of sessions.
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
		return k.fault(fmt.Sprintf("the queue counts %d sessions, want %d", got, want))
	}
	return nil
}

// documents checks that each document can be read.
func (k *checker) documents() error {
	return k.tx.Bucket(bucketDocuments).ForEach(func(name, record []byte) error {
		if _, _, err := k.s.vault.document(string(name), record); err != nil {
			return k.fault(fmt.Sprintf("document %q: %v", name, err))
		}
		return nil
	})
}

// keys checks that each key slot is of a session, free or retired.
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
