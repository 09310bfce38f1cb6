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
	"time"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/internal/durable"
	"github.com/voicescreen/voicescreen/store"
)

const (
	suffixAudio = ".audio" // of what is complete and durable
	suffixPart  = ".part"  // of what is being written

	suffixAudioDir = ".audio" // of the directory, behind the path of the store
)

// bufferLen is how much audio an upload holds in memory, in bytes. Chosen: 64
// uploads at once take 4 MiB, and a 30 s recording 40 writes.
const bufferLen = 64 << 10

// audio is the directory of the audio files. It is safe for concurrent use.
type audio struct {
	dir   string
	files files
	vault *vault // nil where audio is not encrypted

	hold     sync.RWMutex    // who removes files holds it to read, a backup to write
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
		syncDir: durable.SyncDir,
	}
}

// open uses the directory, or makes it.
func (a *audio) open(dir string, v *vault) error {
	a.dir, a.files, a.vault, a.leftover = dir, systemFiles(), v, map[string]bool{}
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return a.files.syncDir(filepath.Dir(dir))
}

// name returns the path of stored audio.
func (a *audio) name(ref string) string { return filepath.Join(a.dir, ref+suffixAudio) }

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

// sweep removes what was written at least age ago and nobody refers to, and what
// interrupted writes left. It leaves all files that are not audio.
func (a *audio) sweep(age time.Duration, referred func(ref string) bool) error {
	dir, err := os.Open(a.dir)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // it was only read
	before := time.Now().Add(-age)
	var gone []string
	for {
		entries, err := dir.ReadDir(1000) // chosen: bounds the memory
		for _, e := range entries {
			ref, part := strings.CutSuffix(e.Name(), suffixPart)
			if !part {
				ref, _ = strings.CutSuffix(e.Name(), suffixAudio)
			}
			if isRef(ref) && ref != e.Name() && (part || !referred(ref)) && (age <= 0 || writtenBefore(e, before)) {
				gone = append(gone, e.Name())
			}
		}
		if errors.Is(err, io.EOF) {
			_ = a.removeAll(gone) // what cannot be removed now does not keep the store closed
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// writtenBefore says whether a file was last written before a time.
func writtenBefore(e fs.DirEntry, t time.Time) bool {
	info, err := e.Info()
	return err == nil && info.ModTime().Before(t)
}

// letGo removes the audio of sessions that no longer refer to it. What cannot
// be removed now is removed at a later call, or when the store is opened. The
// error is that of a key that could not be overwritten.
func (a *audio) letGo(refs ...string) error {
	var names []string
	for _, ref := range refs {
		if isRef(ref) {
			names = append(names, ref+suffixAudio)
		}
	}
	return a.removeAll(names)
}

// removeAll removes files and what former calls could not remove. The error is
// that of a key that could not be overwritten; nobody reads what else is left.
func (a *audio) removeAll(names []string) (err error) {
	a.mu.Lock()
	for name := range a.leftover {
		names = append(names, name)
	}
	clear(a.leftover)
	a.mu.Unlock()
	a.hold.RLock()
	defer a.hold.RUnlock()
	for _, name := range names {
		if wipeErr := a.wipe(name); wipeErr != nil {
			a.remember(name) // without a name nobody would find the key again
			err = errors.Join(err, wipeErr)
			continue
		}
		removeErr := a.files.remove(filepath.Join(a.dir, name))
		if removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
			a.remember(name)
		}
	}
	return err
}

// remember notes a file for the next removeAll.
func (a *audio) remember(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leftover[name] = true
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
			_ = a.removeAll([]string{part, whole}) // nobody can read it: its key was in memory, or stands in it
		}
	}()
	if err := a.fill(ctx, ref, f, r); err != nil {
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

// buffers are for copyAudio, of bufferLen bytes.
var buffers = sync.Pool{New: func() any { return new([bufferLen]byte) }}

// fill writes all that r gives to f, encrypted if the store is. An error of r
// is returned as it is.
func (a *audio) fill(ctx context.Context, ref string, f *os.File, r io.Reader) error {
	file := fileWriter{f, a.files.write}
	if a.vault == nil {
		return copyAudio(ctx, file, r)
	}
	w, err := a.vault.sealAudio(ref, file)
	if err == nil {
		if err := copyAudio(ctx, w, r); err != nil {
			return err
		}
		err = w.Close()
	}
	if err != nil {
		return fmt.Errorf("store/bolt: store audio: %w", err)
	}
	return nil
}

// fileWriter writes to a file as the store's files are written to.
type fileWriter struct {
	f     *os.File
	write func(f *os.File, p []byte) (int, error)
}

func (w fileWriter) Write(p []byte) (int, error) { return w.write(w.f, p) }

// copyAudio writes all that r gives to w. An error of r is returned as it is.
func copyAudio(ctx context.Context, w io.Writer, r io.Reader) error {
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
			if _, err := w.Write(buf[:n]); err != nil {
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
	_ = a.removeAll([]string{name}) // a file that stays is no reason not to take others
	return err
}

// Audio is described at [store.Store].
func (s *Store) Audio() store.Audio { return (*storeAudio)(s) }

// storeAudio is the Store as a store.Audio.
type storeAudio Store

// Put is described at [store.Audio].
func (s *storeAudio) Put(ctx context.Context, r io.Reader) (string, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return "", err
	}
	defer s.calls.End()
	return s.audio.put(ctx, r)
}

// Open is described at [store.Audio].
func (s *storeAudio) Open(ctx context.Context, ref string) (io.ReadCloser, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	return s.audio.openStored(ref)
}

// Sweep is described at [store.Audio].
func (s *storeAudio) Sweep(ctx context.Context, age time.Duration, referred func(ref string) bool) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	if err := (*Store)(s).sweepAudio(age, referred); err != nil {
		return fmt.Errorf("store/bolt: sweep audio: %w", err)
	}
	return nil
}

// sweepAudio sweeps audio that no session refers to.
func (s *Store) sweepAudio(age time.Duration, referred func(ref string) bool) error {
	return s.view(func(tx *bbolt.Tx) error {
		refs := tx.Bucket(bucketAudio)
		return s.audio.sweep(age, func(ref string) bool {
			return refs.Get([]byte(ref)) != nil || referred != nil && referred(ref)
		})
	})
}

// Remove is described at [store.Audio].
func (s *storeAudio) Remove(ctx context.Context, ref string) error {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	if !isRef(ref) {
		return nil
	}
	referred := false
	if err := (*Store)(s).view(func(tx *bbolt.Tx) error { referred = tx.Bucket(bucketAudio).Get([]byte(ref)) != nil; return nil }); err != nil || referred {
		return err
	}
	name := ref + suffixAudio
	s.audio.hold.RLock()
	defer s.audio.hold.RUnlock()
	err := s.audio.wipe(name)
	if err == nil {
		err = s.audio.files.remove(filepath.Join(s.audio.dir, name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = s.audio.files.syncDir(s.audio.dir)
	} else {
		s.audio.remember(name) // the caller may not come again
	}
	if err != nil {
		return fmt.Errorf("store/bolt: remove audio: %w", err)
	}
	return nil
}
