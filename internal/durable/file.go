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
	// pollInterval is how often Get checks whether the file has changed. Chosen: a
	// change is visible well within a second, at four stats a second.
	pollInterval = 250 * time.Millisecond

	// lockTimeout is how long a change waits for the change of another process.
	// Chosen: a change takes milliseconds, so a process that holds the lock for
	// longer hangs.
	lockTimeout = 10 * time.Second
)

// Value is a value that processes share: a [File], or a document of a store.
type Value[T any] interface {
	// Get returns the value of at most a second ago.
	Get() T
	// Read returns the current value.
	Read() (T, error)
	// Change replaces the value by the result of change, called with the current
	// value.
	Change(change func(T) (T, error)) error
}

// File is a value in a small file, or in memory only. Any number of processes can read
// and change one file: each sees the changes of the others within a second, and no
// concurrent change is lost. Values are immutable: a change replaces the value. File is
// safe for concurrent use.
type File[T any] struct {
	path   string // "" in memory
	format Format[T]

	value  atomic.Pointer[T]
	polled atomic.Int64 // time of the last check of the file, Unix nanoseconds

	mu   sync.Mutex  // protects the fields below, and orders changes
	seen fs.FileInfo // of the file from which value was read
	err  error       // the error of the last read
}

// Format is the encoding of a value in its file or document.
type Format[T any] struct {
	Parse    func(data []byte) (T, error)
	Text     func(value T) ([]byte, error)
	MaxBytes int64       // limit of the size that is read
	Mode     fs.FileMode // mode of the file, before the umask; 0 means 0600
}

// Memory returns a File that is kept in memory only.
func Memory[T any](value T) *File[T] {
	f := &File[T]{}
	f.value.Store(&value)
	return f
}

// OpenFile reads a file. The error wraps fs.ErrNotExist if the file is missing, and
// names the file if Parse refuses it.
func OpenFile[T any](path string, format Format[T]) (*File[T], error) {
	f := &File[T]{path: path, format: format}
	if _, err := f.Read(); err != nil {
		return nil, err
	}
	return f, nil
}

// CreateFile opens a file as OpenFile does, and first creates it with value if it is
// missing.
func CreateFile[T any](path string, value T, format Format[T]) (*File[T], error) {
	f, err := OpenFile(path, format)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	unlock, err := Lock(path+".lock", lockTimeout)
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

// Get returns the value. It reads the file again if it has changed, but checks this at
// most four times a second. If the file cannot be read, Get returns the former value,
// and Read returns the error. Get does not wait for a Change.
func (f *File[T]) Get() T {
	if f.path != "" {
		now, last := time.Now().UnixNano(), f.polled.Load()
		d := time.Duration(now - last) // less than 0 after the clock was set back
		if (d < 0 || d >= pollInterval) && f.polled.CompareAndSwap(last, now) && f.mu.TryLock() {
			_, _ = f.read() // Read returns the error
			f.mu.Unlock()
		}
	}
	return *f.value.Load()
}

// Read returns the value that is in the file now.
func (f *File[T]) Read() (value T, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read()
}

func (f *File[T]) read() (value T, err error) {
	if f.path == "" {
		return *f.value.Load(), nil
	}
	f.polled.Store(time.Now().UnixNano())
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

// Change replaces the value, durably, by the result of change, called with the current
// value. No other process changes it meanwhile. If change returns an error, nothing
// changes and Change returns that error as it is. The function must not modify the
// value that it receives.
func (f *File[T]) Change(change func(T) (T, error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.path != "" {
		unlock, err := Lock(f.path+".lock", lockTimeout)
		if err != nil {
			return err
		}
		defer unlock()
		f.seen = nil // forces read to read the file
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

// write replaces the file atomically: a reader sees the old or the new content, also
// after a power failure. The caller holds the lock.
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
	defer os.Remove(name) // fails after the rename, which is harmless
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
