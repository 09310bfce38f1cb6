package bolt

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// formatVersion is the version of the buckets and keys. It stands in every
// store; a change that a former program would misread makes a new one.
const formatVersion = 1

// application stands in every store, so that the bbolt file of another program
// is known as such.
const application = "voicescreen"

var (
	keyApplication = []byte("application")
	keyFormat      = []byte("format")
)

// Open opens the store at path, or creates one if there is no file; the
// directory of path must exist. It removes audio that no session refers to and
// what an interrupted write left. The error is ErrLocked while another process
// has the store open, ErrFormat for a file that is no store or one of an
// unknown version, and ErrCorrupt for one that is damaged; neither changes the
// file. The caller closes the store.
func Open(path string, opts *Options) (*Store, error) {
	timeout := time.Second
	if opts != nil && opts.LockTimeout != 0 {
		timeout = max(opts.LockTimeout, 1) // to bbolt 0 means for ever
	}
	s, err := open(path, timeout)
	if err != nil {
		return nil, fmt.Errorf("store/bolt: open %s: %w", path, err)
	}
	return s, nil
}

func open(path string, timeout time.Duration) (_ *Store, err error) {
	if path == "" {
		return nil, errors.New("no path is given")
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, err
		}
	}
	s := &Store{path: path}
	if err := s.openDatabase(timeout); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = guard(s.db.Close)
		}
	}()
	s.group.db = s.db
	if err := s.view(func(tx *bbolt.Tx) error { return s.check(tx) }); err != nil {
		return nil, err
	}
	if err := sweepCreations(path); err != nil {
		return nil, err
	}
	if err := s.audio.open(path + ".audio"); err != nil {
		return nil, err
	}
	return s, s.view(func(tx *bbolt.Tx) error {
		referred := tx.Bucket(bucketAudio)
		return s.audio.sweep(func(ref string) bool { return referred.Get([]byte(ref)) != nil })
	})
}

// databaseOptions returns how databases are opened.
func databaseOptions() *bbolt.Options {
	return &bbolt.Options{
		FreelistType: bbolt.FreelistMapType, // the other one slows down with the number of free pages
		NoStatistics: true,
	}
}

// openDatabase locks and opens the file at s.path.
func (s *Store) openDatabase(timeout time.Duration) error {
	var file *os.File
	opts := databaseOptions()
	opts.Timeout = timeout
	opts.OpenFile = func(name string, flag int, perm os.FileMode) (*os.File, error) {
		f, err := os.OpenFile(name, flag&^os.O_CREATE, perm) // an empty file is not taken for a new store
		if err != nil {
			return nil, err
		}
		if s.file, err = f.Stat(); err == nil && s.file.Size() == 0 {
			err = fmt.Errorf("%w: the file is empty", ErrFormat)
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		file = f
		return f, nil
	}
	err := guard(func() (err error) {
		s.db, err = bbolt.Open(s.path, 0o600, opts)
		return err
	})
	if errors.Is(err, ErrCorrupt) && file != nil {
		unlock(file) // bbolt panicked and left it mapped and locked
		_ = file.Close()
	}
	var system syscall.Errno
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bolterrors.ErrTimeout):
		return ErrLocked
	case errors.Is(err, ErrCorrupt), errors.Is(err, ErrFormat), errors.As(err, &system):
		return err
	}
	return fmt.Errorf("%w: %w", ErrFormat, err)
}

// check says whether the database is a store of this version.
func (s *Store) check(tx *bbolt.Tx) error {
	meta := tx.Bucket(bucketMeta)
	if meta == nil || string(meta.Get(keyApplication)) != application {
		return fmt.Errorf("%w: it is the database of another program", ErrFormat)
	}
	version, err := strconv.Atoi(string(meta.Get(keyFormat)))
	if err != nil {
		return fmt.Errorf("%w: its format version is malformed", ErrFormat)
	}
	if version != formatVersion {
		return fmt.Errorf("%w: its format version is %d, this program knows %d", ErrFormat, version, formatVersion)
	}
	for _, name := range [][]byte{bucketSessions, bucketUsers, bucketDue, bucketAudio} {
		if tx.Bucket(name) == nil {
			return fmt.Errorf("%w: bucket %s is missing", ErrCorrupt, name)
		}
	}
	now, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if now.Size() < tx.Size() {
		return fmt.Errorf("%w: the file has %d bytes, want at least %d", ErrCorrupt, now.Size(), tx.Size())
	}
	return nil
}

// creationInfix stands between the path of a store and 26 random letters in the
// name of a database that is being made.
const creationInfix = ".new-"

// create makes an empty store under another name and links it to path when it
// is complete and durable. If another process is first, its store stays.
func create(path string) error {
	tmp := path + creationInfix + rand.Text()
	defer func() { _ = os.Remove(tmp) }()
	db, err := bbolt.Open(tmp, 0o600, databaseOptions())
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	err = db.Update(initialize)
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if err := publish(tmp, path); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// initialize writes what an empty store consists of.
func initialize(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketMeta, bucketSessions, bucketUsers, bucketDue, bucketAudio} {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	meta := tx.Bucket(bucketMeta)
	if err := meta.Put(keyApplication, []byte(application)); err != nil {
		return err
	}
	return meta.Put(keyFormat, []byte(strconv.Itoa(formatVersion)))
}

// publish gives tmp the name path, unless a file has it. A rename alone would
// replace a store that another process made in the meantime.
func publish(tmp, path string) error {
	linkErr := os.Link(tmp, path)
	if linkErr == nil {
		return nil
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.Rename(tmp, path); err != nil { // the file system has no links
		return errors.Join(linkErr, err)
	}
	return nil
}

// sweepCreations removes what creations of the store at path left that were
// interrupted. A creation under way in another process comes too late anyway
// and copes.
func sweepCreations(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	prefix := filepath.Base(path) + creationInfix
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Name(), prefix); ok && isRef(name) {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name())) // if not now, then the next time
		}
	}
	return nil
}
