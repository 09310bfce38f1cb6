package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

var (
	// ErrLocked says that the store is open already, in another process or in
	// this one, and was not closed within the time-out.
	ErrLocked = errors.New("store already open by another process")
	// ErrFormat says that a file is no store of this program, or is one of a
	// version that this program does not know.
	ErrFormat = errors.New("not a store that this program can open")
	// ErrCorrupt says that a store is damaged. Only the records that are
	// damaged are lost: all calls that do not touch them work. It is
	// [store.ErrDamaged].
	ErrCorrupt error = corrupt{}
)

// corrupt is the type of ErrCorrupt.
type corrupt struct{}

func (corrupt) Error() string        { return "store/bolt: the store is damaged" }
func (corrupt) Is(target error) bool { return target == store.ErrDamaged }

// Options are the options of Open. Nil and zero fields mean the default.
type Options struct {
	// LockTimeout is how long Open waits for another process to close the
	// store. Default: one second. Negative: not at all.
	LockTimeout time.Duration

	// Key encrypts the store, and is what opens it later: KeySize random bytes.
	// Whoever loses it has lost the store. It decides for a new
	// store only whether it is encrypted. Open keeps no copy. Default: nil, not
	// encrypted.
	Key []byte

	// Now is the clock of the store: see [store.NewClock]. It must be safe for
	// concurrent use. Default: time.Now, without going back.
	Now func() time.Time
}

// Store is a store in a bbolt file and a directory. It is safe for concurrent
// use by one process; a second one cannot open it.
type Store struct {
	path  string
	now   func() time.Time
	dated func() time.Time // of creations
	file  os.FileInfo      // the database as it was opened
	db    *bbolt.DB
	group group
	audio *audio.Dir
	vault *vault // nil if the store is not encrypted
	calls store.Calls
}

var _ store.Store = (*Store)(nil)

// Close is described at [store.Store]. It lets another process open the store.
func (s *Store) Close() error {
	if err := s.calls.Close(); err != nil {
		return err
	}
	if err := errors.Join(guard(s.db.Close), s.vault.close()); err != nil {
		return fmt.Errorf("store/bolt: close %s: %w", s.path, err)
	}
	return nil
}

// Ping is described at [store.Store]. It commits a small change, writes a file
// to the audio directory and removes it, and sees whether the database is still
// where it was opened: what is written to a file without a name is lost.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	now, err := os.Stat(s.path)
	if err != nil {
		return fmt.Errorf("store/bolt: ping: %w", err)
	}
	if !os.SameFile(s.file, now) {
		return fmt.Errorf("store/bolt: ping: %s is another file than was opened", s.path)
	}
	if err := s.audio.Probe(); err != nil {
		return fmt.Errorf("store/bolt: ping: %w", err)
	}
	return s.group.do(func(b *batch) error {
		return b.write(func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Put([]byte("ping"), nil) })
	})
}

// view calls f in a transaction that reads. F must not call it again.
func (s *Store) view(f func(tx *bbolt.Tx) error) error {
	defer s.vault.reading()()
	return guard(func() error { return s.db.View(f) })
}
