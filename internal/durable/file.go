package durable

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// lookEvery is how often Get looks whether the file has changed. Chosen: a
	// change is seen well within a second, and a stat every quarter of a
	// second costs nothing that can be measured.
	lookEvery = 250 * time.Millisecond

	// changeWait is how long a change waits for another process's change.
	// Chosen: a change takes milliseconds, so whoever holds the lock for
	// longer hangs.
	changeWait = 10 * time.Second
)

// Value is a value that processes share: a [File], or a document of a store.
type Value[T any] interface {
	// Get returns the value as it was a moment ago.
	Get() T
	// Read returns the value as it is now.
	Read() (T, error)
	// Change replaces the value by what change makes of the current one.
	Change(change func(T) (T, error)) error
}

// File is a value that is kept in a small file, or in memory only. Any number
// of processes may read and change one file: what one changes the others see
// within a second, and changes at the same time do not lose each other. A
// value is never changed but replaced by another. File is safe for concurrent
// use.
type File[T any] struct {
	path   string // "" in memory
	format Format[T]

	value  atomic.Pointer[T]
	looked atomic.Int64 // time of the last look at the file, Unix nanoseconds

	mu   sync.Mutex  // protects what follows, and the order of changes
	seen fs.FileInfo // of the file that value was read from
	err  error       // why the file cannot be read now
}

// Format says how a value stands in its file.
type Format[T any] struct {
	Parse    func(data []byte) (T, error)
	Text     func(value T) ([]byte, error)
	MaxBytes int64       // what is read at most
	Mode     fs.FileMode // of the file, before the umask; 0 for one that its owner alone may read
}

// Memory returns a File without a file.
func Memory[T any](value T) *File[T] {
	f := &File[T]{}
	f.value.Store(&value)
	return f
}

// OpenFile reads a file. It returns an error that wraps fs.ErrNotExist if
// there is none, and one that names the file if Parse refuses it.
func OpenFile[T any](path string, format Format[T]) (*File[T], error) {
	f := &File[T]{path: path, format: format}
	if _, err := f.Read(); err != nil {
		return nil, err
	}
	return f, nil
}

// CreateFile is OpenFile that first makes a file with the value if there is
// none.
func CreateFile[T any](path string, value T, format Format[T]) (*File[T], error) {
	f, err := OpenFile(path, format)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	unlock, err := Lock(path+".lock", changeWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		f := &File[T]{path: path, format: format}
		if err := f.write(value); err != nil {
			return nil, err
		}
	}
	return OpenFile(path, format)
}

// Get returns the value. It reads the file anew if that has changed, unless it
// looked a moment ago. Where the file cannot be read the former value stays;
// Read says why. It waits for no Change, which another process may hold up.
func (f *File[T]) Get() T {
	if f.path != "" {
		now, last := time.Now().UnixNano(), f.looked.Load()
		d := time.Duration(now - last) // less than 0 after the clock was set back
		if (d < 0 || d >= lookEvery) && f.looked.CompareAndSwap(last, now) && f.mu.TryLock() {
			_, _ = f.read() // the error stays for who asks
			f.mu.Unlock()
		}
	}
	return *f.value.Load()
}

// Read returns the value as the file has it now.
func (f *File[T]) Read() (value T, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read()
}

func (f *File[T]) read() (value T, err error) {
	if f.path == "" {
		return *f.value.Load(), nil
	}
	f.looked.Store(time.Now().UnixNano())
	info, err := os.Stat(f.path)
	if err == nil && f.seen != nil && f.err == nil && os.SameFile(info, f.seen) &&
		info.ModTime().Equal(f.seen.ModTime()) && info.Size() == f.seen.Size() {
		return *f.value.Load(), nil
	}
	if err == nil {
		value, err = f.parse(info)
	}
	f.err = err
	if err != nil {
		return value, err
	}
	f.seen = info
	f.value.Store(&value)
	return value, nil
}

func (f *File[T]) parse(info fs.FileInfo) (value T, err error) {
	if info.Size() > f.format.MaxBytes {
		return value, fmt.Errorf("%s is larger than %d bytes", f.path, f.format.MaxBytes)
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return value, err
	}
	value, err = f.format.Parse(data)
	if err != nil {
		return value, fmt.Errorf("%s: %w", f.path, err)
	}
	return value, nil
}

// Change replaces the value by what change makes of the current one, durably,
// while no other process changes it. If change returns an error, which Change
// then returns as it is, nothing changes. Change must return another value and
// leave the one it is given as it was.
func (f *File[T]) Change(change func(T) (T, error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.path != "" {
		unlock, err := Lock(f.path+".lock", changeWait)
		if err != nil {
			return err
		}
		defer unlock()
		f.seen = nil // read it whatever it looks like
	}
	before, err := f.read()
	if err != nil {
		return err
	}
	after, err := change(before)
	if err != nil {
		return err
	}
	if f.path != "" {
		if err := f.write(after); err != nil {
			return err
		}
		f.seen = nil
	}
	f.value.Store(&after)
	return nil
}

// write replaces the file in one step, while the caller holds its lock: whoever
// reads it sees the old or the new one, also after a power failure.
func (f *File[T]) write(value T) error {
	data, err := f.format.Text(value)
	if err != nil {
		return err
	}
	name := f.path + ".tmp"
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) { // a killed process left it
		return err
	}
	tmp, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, cmp.Or(f.format.Mode, 0o600))
	if err != nil {
		return err
	}
	defer os.Remove(name) // fails, as it should, after the rename
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(name, f.path)
	}
	if err != nil {
		return err
	}
	return SyncDir(filepath.Dir(f.path))
}
