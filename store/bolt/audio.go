package bolt

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/voicescreen/voicescreen/store"
)

const (
	suffixAudio = ".audio" // of what is complete and durable
	suffixPart  = ".part"  // of what is being written
)

// bufferLen is how much audio an upload holds in memory, in bytes. Chosen: 64
// uploads at once take 4 MiB, and a 30 s recording 40 writes.
const bufferLen = 64 << 10

// audio is the directory of the audio files. It is safe for concurrent use.
type audio struct {
	dir   string
	files files

	mu       sync.Mutex      // protects leftover
	leftover map[string]bool // names of files that are let go of but could not be removed yet
}

// files are the calls that change audio files. Tests make them fail.
type files struct {
	create  func(name string) (*os.File, error)
	write   func(f *os.File, p []byte) (int, error)
	sync    func(f *os.File) error
	rename  func(from, to string) error
	remove  func(name string) error
	syncDir func(dir string) error
}

func systemFiles() files {
	return files{
		create: func(name string) (*os.File, error) {
			return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		},
		write:   (*os.File).Write,
		sync:    (*os.File).Sync,
		rename:  os.Rename,
		remove:  os.Remove,
		syncDir: syncDir,
	}
}

// open uses the directory, or makes it.
func (a *audio) open(dir string) error {
	a.dir, a.files, a.leftover = dir, systemFiles(), map[string]bool{}
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return a.files.syncDir(filepath.Dir(dir))
}

// isRef says whether ref has the form of those that rand.Text returns. Nothing
// else becomes the name of a file.
func isRef(ref string) bool {
	if len(ref) != 26 {
		return false
	}
	for i := range len(ref) {
		if c := ref[i]; (c < 'A' || c > 'Z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

// sweep removes what a crash left: unfinished audio, and audio that nobody
// refers to. It leaves all files that are not audio.
func (a *audio) sweep(referred func(ref string) bool) error {
	dir, err := os.Open(a.dir)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // it was only read
	var gone []string
	for {
		entries, err := dir.ReadDir(1000) // chosen: bounds the memory
		for _, e := range entries {
			ref, part := strings.CutSuffix(e.Name(), suffixPart)
			if !part {
				ref, _ = strings.CutSuffix(e.Name(), suffixAudio)
			}
			if isRef(ref) && ref != e.Name() && (part || !referred(ref)) {
				gone = append(gone, e.Name())
			}
		}
		if errors.Is(err, io.EOF) {
			a.removeAll(gone)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// letGo removes the audio of sessions that no longer refer to it. What cannot
// be removed now is removed at a later call, or when the store is opened.
func (a *audio) letGo(refs ...string) {
	var names []string
	for _, ref := range refs {
		if isRef(ref) {
			names = append(names, ref+suffixAudio)
		}
	}
	a.removeAll(names)
}

// removeAll removes files and what former calls could not remove.
func (a *audio) removeAll(names []string) {
	a.mu.Lock()
	for name := range a.leftover {
		names = append(names, name)
	}
	clear(a.leftover)
	a.mu.Unlock()
	for _, name := range names {
		if err := a.files.remove(filepath.Join(a.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.mu.Lock()
			a.leftover[name] = true
			a.mu.Unlock()
		}
	}
}

// put stores all that r gives.
func (a *audio) put(ctx context.Context, r io.Reader) (string, error) {
	ref := rand.Text()
	part, whole := ref+suffixPart, ref+suffixAudio
	f, err := a.files.create(filepath.Join(a.dir, part))
	if err != nil {
		return "", fmt.Errorf("store/bolt: store audio: %w", err)
	}
	done := false
	defer func() { // also when r panics
		if !done {
			_ = f.Close()
			a.removeAll([]string{part, whole})
		}
	}()
	if err := a.copy(ctx, f, r); err != nil {
		return "", err
	}
	err = errors.Join(a.files.sync(f), f.Close())
	if err == nil {
		err = a.files.rename(filepath.Join(a.dir, part), filepath.Join(a.dir, whole))
	}
	if err == nil {
		err = a.files.syncDir(a.dir)
	}
	if err != nil {
		return "", fmt.Errorf("store/bolt: store audio: %w", err)
	}
	done = true
	return ref, nil
}

// buffers are for copy, of bufferLen bytes.
var buffers = sync.Pool{New: func() any { return new([bufferLen]byte) }}

// copy writes all that r gives to f. An error of r is returned as it is.
func (a *audio) copy(ctx context.Context, f *os.File, r io.Reader) error {
	buf := buffers.Get().(*[bufferLen]byte)
	defer buffers.Put(buf)
	defer clear(buf[:]) // no voice stays in memory
	for empty := 0; empty < 100; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buf[:])
		if n > 0 {
			empty = -1
			if _, err := a.files.write(f, buf[:n]); err != nil {
				return fmt.Errorf("store/bolt: store audio: %w", err)
			}
		}
		empty++
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// probe says whether a file can be written to the directory.
func (a *audio) probe() error {
	name := rand.Text() + suffixPart
	f, err := a.files.create(filepath.Join(a.dir, name))
	if err != nil {
		return err
	}
	_, err = a.files.write(f, []byte{0})
	err = errors.Join(err, f.Close())
	a.removeAll([]string{name})
	return err
}

// PutAudio is described at [store.Store].
func (s *Store) PutAudio(ctx context.Context, r io.Reader) (string, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return "", err
	}
	defer s.calls.End()
	return s.audio.put(ctx, r)
}

// OpenAudio is described at [store.Store].
func (s *Store) OpenAudio(ctx context.Context, ref string) (io.ReadCloser, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	if !isRef(ref) {
		return nil, store.ErrNotFound
	}
	f, err := os.Open(filepath.Join(s.audio.dir, ref+suffixAudio))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("store/bolt: open audio: %w", err)
	}
	return f, nil
}

// RemoveAudio is described at [store.Store].
func (s *Store) RemoveAudio(ctx context.Context, ref string) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	if !isRef(ref) {
		return nil
	}
	err := s.audio.files.remove(filepath.Join(s.audio.dir, ref+suffixAudio))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = s.audio.files.syncDir(s.audio.dir)
	}
	if err != nil {
		return fmt.Errorf("store/bolt: remove audio: %w", err)
	}
	return nil
}
