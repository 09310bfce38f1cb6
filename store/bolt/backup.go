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

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/internal/durable"
	"github.com/voicescreen/voicescreen/store/audio"
)

// Backup writes a copy of the store to path while other calls go on: the sessions
// as they are at one moment, the audio that they refer to, and the keys of an
// encrypted store, under the same Options.Key. The copy is complete once the
// database has its name. If there is a database, audio directory or key file at path
// already, or another process creates one meanwhile, it stays as it is and the error
// wraps fs.ErrExist.
//
// Calls that remove audio or sessions wait while the last audio and the keys are
// copied. The backup of an encrypted store holds the keys of the sessions in it, and
// no others. A session that is removed later is destroyed only when its backups are.
//
// The database is read in one transaction. If the database has to grow beyond its
// memory map during the backup (at each doubling up to 1 GB, then at each GB), all
// other calls wait until the backup ends.
func (s *Store) Backup(ctx context.Context, path string) (err error) {
	if err := s.calls.Begin(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	if err := s.backup(ctx, path); err != nil {
		return fmt.Errorf("store/bolt: back up to %s: %w", path, err)
	}
	return nil
}

func (s *Store) backup(ctx context.Context, path string) (err error) {
	for _, name := range []string{path, path + suffixSlots} {
		if _, err := os.Lstat(name); err == nil {
			return fmt.Errorf("%s is there already: %w", name, fs.ErrExist)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	to := backup{ctx: ctx, path: path, copied: map[string]bool{}, syncDir: s.audio.Files.SyncDir}
	if err := os.Mkdir(to.path+suffixAudioDir, 0o700); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, to.undo())
		}
	}()
	// Most of the audio is copied before the snapshot, so that removals wait briefly.
	err = s.view(func(tx *bbolt.Tx) error { to.refs = references(tx); return nil })
	if err == nil {
		err = to.audio(s.audio)
	}
	if err != nil {
		return err
	}
	tx, err := to.snapshot(s)
	if err != nil {
		return err
	}
	defer func() { _ = guard(tx.Rollback) }() // a read transaction
	if err := to.sweep(); err != nil {
		return err
	}
	return to.database(tx)
}

// backup is one Backup.
type backup struct {
	ctx    context.Context
	path   string
	refs   []string        // references of the audio to copy
	copied map[string]bool // references of the audio copied
	made   []string        // files created, in order; the database last

	syncDir func(dir string) error // that of the audio directory; tests replace it
}

// undo removes the files that a failed backup created. A database that stands at
// path afterwards is of another process, and so is the audio directory: both stay.
func (b *backup) undo() error {
	for i := range b.made { // the database first: it is useless without audio and keys
		removeErr := os.Remove(b.made[len(b.made)-1-i])
		if removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
			return removeErr
		}
	}
	if _, err := os.Lstat(b.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Remove(b.path + suffixAudioDir)
}

// references returns the references of all audio that sessions refer to.
func references(tx *bbolt.Tx) (refs []string) {
	_ = tx.Bucket(bucketAudio).ForEach(func(ref, _ []byte) error {
		if audio.IsRef(string(ref)) {
			refs = append(refs, string(ref))
		}
		return nil
	})
	return refs
}

// snapshot begins the transaction that the backup is read from, and copies what
// later calls can remove: audio that is not copied yet, and the key slots. Meanwhile
// the removal of audio waits, and with it the destruction of keys, which Store.erase
// does afterwards.
func (b *backup) snapshot(s *Store) (tx *bbolt.Tx, err error) {
	defer s.audio.Freeze()()
	if tx, err = s.db.Begin(false); err != nil {
		return nil, err
	}
	err = guard(func() error {
		b.refs = references(tx)
		if err := b.audio(s.audio); err != nil || s.vault == nil {
			return err
		}
		return b.file(b.path+suffixSlots, s.vault.keyFile(tx))
	})
	if err != nil {
		_ = guard(tx.Rollback)
		return nil, err
	}
	return tx, nil
}

// audio copies the audio in refs that is not copied yet. Missing audio was removed
// meanwhile, or lost earlier, and is missing in the backup too. If the key of a
// file is overwritten during its copy, the file is being removed, and sweep removes
// the copy.
func (b *backup) audio(a *audio.Dir) error {
	for _, ref := range b.refs {
		if b.copied[ref] {
			continue
		}
		err := b.oneAudio(a, ref)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		b.copied[ref] = true
	}
	return b.syncDir(b.path + suffixAudioDir)
}

func (b *backup) oneAudio(a *audio.Dir, ref string) error {
	f, err := os.Open(a.Path(ref))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return b.file(b.name(ref), f)
}

func (b *backup) name(ref string) string {
	return filepath.Join(b.path+suffixAudioDir, ref+audio.Suffix)
}

// sweep removes copied audio that was no longer referred to at the snapshot.
func (b *backup) sweep() error {
	for _, ref := range b.refs {
		delete(b.copied, ref)
	}
	for ref := range b.copied {
		if err := os.Remove(b.name(ref)); err != nil {
			return err
		}
	}
	return b.syncDir(b.path + suffixAudioDir)
}

// file writes the content of r to a new file and syncs it.
func (b *backup) file(name string, r io.Reader) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	b.made = append(b.made, name)
	err = audio.Copy(b.ctx, f, r)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// database writes the database under a temporary name, syncs it, and publishes it.
func (b *backup) database(tx *bbolt.Tx) error {
	tmp := b.path + creationInfix + rand.Text()
	defer func() { _ = os.Remove(tmp) }()
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = guard(func() error { _, err := tx.WriteTo(contextWriter{b.ctx, f}); return err })
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	// The names of the audio directory and key file must be durable first.
	if err := b.syncDir(filepath.Dir(b.path)); err != nil {
		return err
	}
	if err := publish(tmp, b.path); err != nil {
		return err
	}
	b.made = append(b.made, b.path)
	return b.syncDir(filepath.Dir(b.path))
}

// contextWriter is a writer that fails once its context is done.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (w contextWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}

// Compact rewrites the database at path without its free pages, and returns its
// size in bytes before and after. The store must not be open. The new file replaces
// the old one once it is durable. Audio and keys stay as they are.
func Compact(path string, opts *Options) (before, after int64, err error) {
	s, err := Open(path, opts)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	fail := func(err error) (int64, int64, error) {
		return 0, 0, fmt.Errorf("store/bolt: compact %s: %w", path, err)
	}
	tmp := path + creationInfix + rand.Text()
	defer func() { _ = os.Remove(tmp) }()
	db, err := bbolt.Open(tmp, 0o600, databaseOptions())
	if err != nil {
		return fail(err)
	}
	err = guard(func() error { return bbolt.Compact(db, s.db, compactBatch) })
	if err := errors.Join(err, db.Sync(), db.Close()); err != nil {
		return fail(err)
	}
	info, err := os.Stat(tmp)
	if err != nil {
		return fail(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fail(err)
	}
	return s.file.Size(), info.Size(), durable.SyncDir(filepath.Dir(path))
}

// compactBatch is how many bytes Compact writes in a transaction. Chosen: small
// beside the memory of any machine.
const compactBatch = 16 << 20
