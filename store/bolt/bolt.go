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
	// ErrLocked is returned by Open if the store is open already and is not closed
	// within Options.LockTimeout. The error that wraps it says whether this process or
	// another one has it open.
	ErrLocked = errors.New("store already open")
	// ErrFormat is returned for a file that is not a store, or a store of a format
	// that this version cannot read.
	ErrFormat = errors.New("not a store that this program can open")
	// ErrCorrupt is returned for damaged data. Calls that do not touch the damaged
	// records work. To errors.Is it is also [store.ErrDamaged].
	ErrCorrupt error = corrupt{}
)

// corrupt is the type of ErrCorrupt.
type corrupt struct{}

func (corrupt) Error() string        { return "store/bolt: the store is damaged" }
func (corrupt) Is(target error) bool { return target == store.ErrDamaged }

// Options are the options of Open. Nil and zero fields mean the default.
type Options struct {
	// LockTimeout is how long Open waits for another process to close the
	// store. Default: one second. Negative: Open does not wait.
	LockTimeout time.Duration

	// Key is the key of an encrypted store: KeySize random bytes. Open creates an
	// encrypted store if there is a key, and a plain one otherwise; later calls of
	// Open need the same key. Without its key an encrypted store cannot be read.
	// Open keeps no copy. Default: nil, not encrypted.
	Key []byte

	// Now is the clock of the store. It must be safe for concurrent use. Default:
	// time.Now, kept from going back by [store.NewClock].
	Now func() time.Time
}

// Store is a store in a bbolt file and a directory. It is safe for concurrent use
// by the goroutines of one process. A second process cannot open it.
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

// Close is described at [store.Store]. Afterwards another process can open the
// store.
func (s *Store) Close() error {
	if err := s.calls.Close(); err != nil {
		return err
	}
	if err := errors.Join(s.closeDatabase(), s.vault.close()); err != nil {
		return fmt.Errorf("store/bolt: close %s: %w", s.path, err)
	}
	return nil
}

// Ping is described at [store.Store]. It commits a small change, and writes and
// removes a file in the audio directory. It fails if the database file was removed
// or replaced since Open: what is written to a file without a name is lost.
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
		return fmt.Errorf("store/bolt: ping: %s was replaced since it was opened", s.path)
	}
	if err := s.audio.Probe(); err != nil {
		return fmt.Errorf("store/bolt: ping: %w", err)
	}
	return s.group.do(func(b *batch) error {
		return b.write(func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Put([]byte("ping"), nil) })
	})
}

// view calls f in a read transaction. F must not call view: it would deadlock with
// a writer that waits between the two.
func (s *Store) view(f func(tx *bbolt.Tx) error) error {
	defer s.vault.reading()()
	return guard(func() error { return s.db.View(f) })
}
