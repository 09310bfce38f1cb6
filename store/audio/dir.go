// Package audio keeps recordings that wait to be analysed in a directory, for any
// store. It implements [store.Audio].
//
// Put writes a file under a name that ends in .part, syncs it, renames it, and syncs
// the directory before it returns the reference. Names are random. Sweep removes the
// files of interrupted calls and audio that no session refers to. It removes them by
// age, since another process may be about to refer to a new file.
package audio

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

	"github.com/voicescreen/voicescreen/store"
)

const (
	// Suffix is the end of the name of a file whose audio is complete and durable.
	Suffix = ".audio"
	// suffixPart is the end of the name of an unfinished file.
	suffixPart = ".part"
)

// bufferLen is the size of the buffer of an upload, in bytes. Chosen: 64 concurrent
// uploads take 4 MiB, and a recording of 30 s takes 40 writes.
const bufferLen = 64 << 10

// Dir is a directory with audio. It is safe for concurrent use, and several
// processes may use one directory.
type Dir struct {
	// Files are the calls that change files. Tests replace them while no other call is
	// in progress.
	Files Files

	path   string
	cipher *Cipher

	frozen   sync.RWMutex    // read-locked while files are removed, locked by Freeze
	mu       sync.Mutex      // protects leftover
	leftover map[string]bool // names of files that an earlier call failed to remove
}

var _ store.Audio = (*Dir)(nil)

// Open opens the directory at path, and creates it if it is missing. Its parent must
// exist. A Dir need not be closed.
func Open(path string, opts *Options) (*Dir, error) {
	if opts == nil {
		opts = &Options{}
	}
	d := &Dir{Files: SystemFiles(), path: path, cipher: opts.Cipher, leftover: map[string]bool{}}
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return d, nil
	}
	if err == nil {
		err = d.Files.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, fmt.Errorf("store/audio: %w", err)
	}
	return d, nil
}

// Path returns the name of the file of stored audio.
func (d *Dir) Path(ref string) string { return filepath.Join(d.path, ref+Suffix) }

// IsRef reports whether ref has the form of a reference of Dir, which is that of
// crypto/rand.Text. No other string becomes the name of a file.
func IsRef(ref string) bool {
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

// Sweep is described at [store.Audio]. The age of a file is the time since its last
// change, by the clock of the machine. Other files than audio stay.
func (d *Dir) Sweep(ctx context.Context, age time.Duration, referred func(ref string) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir, err := os.Open(d.path)
	if err != nil {
		return fmt.Errorf("store/audio: sweep: %w", err)
	}
	defer func() { _ = dir.Close() }() // opened only to read
	before := time.Now().Add(-age)
	var gone []string
	for {
		entries, err := dir.ReadDir(1000) // chosen: bounds the memory
		for _, e := range entries {
			ref, part := strings.CutSuffix(e.Name(), suffixPart)
			if !part {
				ref, _ = strings.CutSuffix(e.Name(), Suffix)
			}
			if IsRef(ref) && ref != e.Name() && (part || referred == nil || !referred(ref)) && (age <= 0 || writtenBefore(e, before)) {
				gone = append(gone, e.Name())
			}
		}
		if errors.Is(err, io.EOF) {
			_ = d.removeAll(gone) // the next Sweep retries what fails
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("store/audio: sweep: %w", err)
		}
	}
}

// writtenBefore reports whether a file was last written before t.
func writtenBefore(e fs.DirEntry, t time.Time) bool {
	info, err := e.Info()
	return err == nil && info.ModTime().Before(t)
}

// Release removes audio that no session refers to any longer. It returns an error only
// if the key of a file could not be overwritten. Files that it fails to remove are
// removed by a later call that removes audio, or by Sweep.
func (d *Dir) Release(refs ...string) error {
	var names []string
	for _, ref := range refs {
		if IsRef(ref) {
			names = append(names, ref+Suffix)
		}
	}
	return d.removeAll(names)
}

// removeAll removes files, and those that earlier calls failed to remove. It returns
// an error only if a key could not be overwritten: a file whose key is overwritten
// cannot be read.
func (d *Dir) removeAll(names []string) (err error) {
	d.mu.Lock()
	for name := range d.leftover {
		names = append(names, name)
	}
	clear(d.leftover)
	d.mu.Unlock()
	d.frozen.RLock()
	defer d.frozen.RUnlock()
	for _, name := range names {
		if wipeErr := d.wipe(name); wipeErr != nil {
			d.remember(name) // the file keeps its name, so that a retry finds the key
			err = errors.Join(err, wipeErr)
			continue
		}
		removeErr := d.Files.Remove(filepath.Join(d.path, name))
		if removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
			d.remember(name)
		}
	}
	return err
}

// remember adds a file to those that the next removeAll removes.
func (d *Dir) remember(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.leftover[name] = true
}

// Put is described at [store.Audio].
func (d *Dir) Put(ctx context.Context, r io.Reader) (string, error) {
	ref := rand.Text()
	part, complete := ref+suffixPart, ref+Suffix
	f, err := d.Files.Create(filepath.Join(d.path, part))
	if err != nil {
		return "", fmt.Errorf("store/audio: put: %w", err)
	}
	done := false
	defer func() { // also when r panics
		if !done {
			_ = f.Close()
			_ = d.removeAll([]string{part, complete})
		}
	}()
	if err := d.fill(ctx, ref, f, r); err != nil {
		return "", err
	}
	err = errors.Join(d.Files.Sync(f), f.Close())
	if err == nil {
		err = d.Files.Rename(filepath.Join(d.path, part), filepath.Join(d.path, complete))
	}
	if err == nil {
		err = d.Files.SyncDir(d.path)
	}
	if err != nil {
		return "", fmt.Errorf("store/audio: put: %w", err)
	}
	done = true
	return ref, nil
}

// buffers are the buffers of Copy.
var buffers = sync.Pool{New: func() any { return new([bufferLen]byte) }}

// fill copies r to f up to its end, encrypted if there is a cipher. It returns an error
// of r as it is.
func (d *Dir) fill(ctx context.Context, ref string, f *os.File, r io.Reader) error {
	file := fileWriter{f, d.Files.Write}
	if d.cipher == nil {
		return Copy(ctx, file, r)
	}
	w, err := d.cipher.Seal(ref, file)
	if err == nil {
		if err := Copy(ctx, w, r); err != nil {
			return err
		}
		err = w.Close()
	}
	if err != nil {
		return fmt.Errorf("store/audio: put: %w", err)
	}
	return nil
}

// fileWriter writes to a file through Files.Write.
type fileWriter struct {
	f     *os.File
	write func(f *os.File, p []byte) (int, error)
}

func (w fileWriter) Write(p []byte) (int, error) { return w.write(w.f, p) }

// Copy copies r to w up to its end, or until ctx is done. It returns an error of r as
// it is. It clears its buffer.
func Copy(ctx context.Context, w io.Writer, r io.Reader) error {
	buf := buffers.Get().(*[bufferLen]byte)
	defer buffers.Put(buf)
	defer clear(buf[:]) // no audio stays in the pool
	for empty := 0; empty < 100; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buf[:])
		if n > 0 {
			empty = -1
			if _, err := w.Write(buf[:n]); err != nil {
				return fmt.Errorf("store/audio: write: %w", err)
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

// Probe returns nil if a file can be written to the directory now.
func (d *Dir) Probe() error {
	name := rand.Text() + suffixPart
	f, err := d.Files.Create(filepath.Join(d.path, name))
	if err != nil {
		return err
	}
	_, err = d.Files.Write(f, []byte{0})
	err = errors.Join(err, f.Close())
	_ = d.removeAll([]string{name}) // a failed removal does not prevent writing
	return err
}

// Open is described at [store.Audio].
func (d *Dir) Open(ctx context.Context, ref string) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !IsRef(ref) {
		return nil, store.ErrNotFound
	}
	f, err := os.Open(d.Path(ref))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err = os.Stat(d.path); err == nil { // the directory is there
			return nil, store.ErrNotFound
		}
	}
	if err != nil {
		return nil, fmt.Errorf("store/audio: open: %w", err)
	}
	if d.cipher == nil {
		return f, nil
	}
	return d.cipher.Open(ref, f)
}

// Remove is described at [store.Audio].
func (d *Dir) Remove(ctx context.Context, ref string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !IsRef(ref) {
		return nil
	}
	name := ref + Suffix
	d.frozen.RLock()
	defer d.frozen.RUnlock()
	err := d.wipe(name)
	if err == nil {
		err = d.Files.Remove(filepath.Join(d.path, name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = d.Files.SyncDir(d.path)
	} else {
		d.remember(name) // the caller may not retry
	}
	if err != nil {
		return fmt.Errorf("store/audio: remove: %w", err)
	}
	return nil
}

// Freeze blocks calls that remove audio until thaw is called.
func (d *Dir) Freeze() (thaw func()) {
	d.frozen.Lock()
	return d.frozen.Unlock
}

// wipe overwrites the header of an encrypted file with zeros, and so destroys its key.
func (d *Dir) wipe(name string) error {
	if d.cipher == nil {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(d.path, name), os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, d.cipher.HeaderLen), 0)
	if err == nil {
		err = d.Files.Sync(f)
	}
	return errors.Join(err, f.Close())
}
