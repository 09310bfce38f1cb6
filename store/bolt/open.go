package bolt

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/voicescreen/voicescreen/internal/durable"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

// formatVersion is the version of the buckets, keys and records. Every store
// contains it. A change that an earlier program would misread needs a new version.
const formatVersion = "1"

// application identifies a store. A bbolt file without it is of another program.
const application = "voicescreen"

var (
	keyApplication = []byte("application")
	keyFormat      = []byte("format")
	keyEncryption  = []byte("encryption") // the id of an encrypted store
)

// Open opens the store at path, or creates one if there is no file. The directory of
// path must exist. The caller closes the store.
//
// Open removes all audio that no session refers to and the files of interrupted
// writes; what cannot be removed is removed by a later call. It makes due what
// another process leased or put off, as [store.MaxDelay] describes.
//
// The error is ErrLocked while the store is open, ErrFormat for a file that is not a
// store or a store of an unknown version, ErrKey if Options.Key is not the store's,
// and ErrCorrupt for a damaged store. None of these changes the file.
func Open(path string, opts *Options) (*Store, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = time.Second
	}
	o.LockTimeout = max(o.LockTimeout, 1) // bbolt takes 0 for no limit
	s, err := open(path, o)
	if err != nil {
		return nil, fmt.Errorf("store/bolt: open %s: %w", path, err)
	}
	return s, nil
}

func open(path string, opts Options) (_ *Store, err error) {
	if path == "" {
		return nil, errors.New("no path is given")
	}
	if n := len(opts.Key); n != 0 && n != KeySize {
		return nil, fmt.Errorf("%w: it has %d bytes, want %d", ErrKey, n, KeySize)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := create(path, opts.Key); err != nil {
			return nil, err
		}
	} else if err := durable.SyncDir(filepath.Dir(path)); err != nil { // the process that created the files may have been killed before its sync
		return nil, err
	}
	s := &Store{path: path, now: store.NewClock(opts.Now)}
	s.dated = store.NewCreationClock(s.now)
	if err := s.openDatabase(opts.LockTimeout); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = s.closeDatabase()
			_ = s.vault.close()
		}
	}()
	s.group.db = s.db
	err = s.view(s.check)
	if err == nil {
		err = s.group.rewrite()
	}
	if err != nil {
		return nil, err
	}
	if err := s.openKeys(opts.Key); err != nil {
		return nil, err
	}
	if err := sweepCreations(path); err != nil {
		return nil, err
	}
	if s.audio, err = audio.Open(path+suffixAudioDir, &audio.Options{Cipher: s.vault.audioCipher()}); err != nil {
		return nil, err
	}
	if err := s.sweepAudio(context.Background(), 0, nil); err != nil {
		return nil, err
	}
	return s, s.release()
}

// databaseOptions returns the options of all databases. The list of free pages is an
// array, bbolt's default. With bbolt's map, which is sorted at each commit, a commit
// took two to four times as long with 30,000 scattered free pages (measured), and
// did not place pages of one commit together.
func databaseOptions() *bbolt.Options {
	return &bbolt.Options{NoStatistics: true}
}

// openDatabase locks and opens the file at s.path.
func (s *Store) openDatabase(timeout time.Duration) error {
	var file *os.File
	opts := databaseOptions()
	opts.Timeout = timeout
	opts.OpenFile = func(name string, flag int, perm os.FileMode) (*os.File, error) {
		f, err := os.OpenFile(name, flag&^os.O_CREATE, perm) // bbolt must not create the file
		if err != nil {
			return nil, err
		}
		if file != nil { // bbolt opens the file again to copy it: Tx.WriteTo
			return f, nil
		}
		if s.file, err = f.Stat(); err == nil && s.file.Size() == 0 {
			err = fmt.Errorf("%w: the file is empty", ErrFormat)
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		file = f
		s.group.file = f
		return f, nil
	}
	err := guard(func() (err error) {
		s.db, err = bbolt.Open(s.path, 0o600, opts)
		return err
	})
	if errors.Is(err, ErrCorrupt) && file != nil {
		unlock(file) // bbolt panicked and left the file mapped and locked
		_ = file.Close()
	}
	var system syscall.Errno
	switch {
	case err == nil:
		noteOpened(s.file)
		return nil
	case errors.Is(err, bolterrors.ErrTimeout):
		return lockedBy(s.path)
	case errors.Is(err, ErrCorrupt), errors.Is(err, ErrFormat), errors.As(err, &system):
		return err
	}
	return fmt.Errorf("%w: %w", ErrFormat, err)
}

// closeDatabase closes and unlocks what openDatabase opened.
func (s *Store) closeDatabase() error {
	defer noteClosed(s.file)
	return guard(s.db.Close)
}

// check returns an error unless the database is a store of formatVersion.
func (s *Store) check(tx *bbolt.Tx) error {
	meta := tx.Bucket(bucketMeta)
	if meta == nil || string(meta.Get(keyApplication)) != application {
		return fmt.Errorf("%w: it is the database of another program", ErrFormat)
	}
	if format := meta.Get(keyFormat); string(format) != formatVersion {
		return fmt.Errorf("%w: its format is %.20q, this program knows %q", ErrFormat, format, formatVersion)
	}
	for _, name := range buckets {
		if tx.Bucket(name) == nil {
			return fmt.Errorf("%w: bucket %s is missing", ErrCorrupt, name)
		}
	}
	if encrypted := meta.Get(keyEncryption) != nil; encrypted != (tx.Bucket(bucketSlots) != nil) {
		return fmt.Errorf("%w: one part of it is encrypted and another is not", ErrCorrupt)
	}
	now, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if !os.SameFile(s.file, now) {
		return fmt.Errorf("%w by another process: the file was replaced while it was opened", ErrLocked)
	}
	if now.Size() < tx.Size() {
		return fmt.Errorf("%w: the file has %d bytes, want at least %d", ErrCorrupt, now.Size(), tx.Size())
	}
	return nil
}

// openKeys opens the keys of an encrypted store.
func (s *Store) openKeys(key []byte) error {
	var id []byte
	err := s.view(func(tx *bbolt.Tx) error {
		id = bytes.Clone(tx.Bucket(bucketMeta).Get(keyEncryption))
		return nil
	})
	switch {
	case err != nil:
		return err
	case id == nil && len(key) == 0:
		return nil
	case id == nil:
		return fmt.Errorf("%w: it is not encrypted, and a key was given", ErrKey)
	case len(key) == 0:
		return fmt.Errorf("%w: it is encrypted, and no key was given", ErrKey)
	}
	if s.vault, err = openVault(s.path, id, key); err != nil {
		return err
	}
	return guard(func() error { return s.db.View(s.vault.restore) })
}

// creationInfix separates the path of a file from 26 random letters in the temporary
// name under which the file is created.
const creationInfix = ".new-"

// create creates an empty store under a temporary name and publishes it at path when
// it is complete and durable. If another process creates one first, that one stays.
func create(path string, key []byte) (err error) {
	var id []byte
	if len(key) != 0 {
		if id, err = createSlots(path, key); err != nil {
			return fmt.Errorf("create: %w", err)
		}
	}
	tmp := path + creationInfix + rand.Text()
	defer func() { _ = os.Remove(tmp) }()
	db, err := bbolt.Open(tmp, 0o600, databaseOptions())
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	err = db.Update(func(tx *bbolt.Tx) error { return initialize(tx, id) })
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if err := publish(tmp, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create: %w", err)
	}
	return durable.SyncDir(filepath.Dir(path))
}

// initialize writes the content of an empty store: an encrypted one if id is not
// nil.
func initialize(tx *bbolt.Tx, id []byte) error {
	for _, name := range buckets {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	meta := tx.Bucket(bucketMeta)
	if err := meta.Put(keyApplication, []byte(application)); err != nil {
		return err
	}
	if err := meta.Put(keyFormat, []byte(formatVersion)); err != nil || id == nil {
		return err
	}
	if _, err := tx.CreateBucket(bucketSlots); err != nil {
		return err
	}
	return meta.Put(keyEncryption, id)
}

// publish gives the file tmp the name path. If a file has that name the error is
// fs.ErrExist. A rename would replace a file that another process has just created.
func publish(tmp, path string) error {
	linkErr := os.Link(tmp, path)
	if linkErr == nil {
		return nil
	}
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	if err := os.Rename(tmp, path); err != nil { // for file systems without links
		return fmt.Errorf("%w (%v)", err, linkErr)
	}
	return nil
}

// sweepCreations removes the temporary files of interrupted creations of the store at
// path. Another process that is creating the store now finds this one at path and
// uses it.
func sweepCreations(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	prefix := filepath.Base(path) + creationInfix
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Name(), prefix); ok && audio.IsRef(name) {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name())) // after an error the next Open tries again
		}
	}
	return nil
}
