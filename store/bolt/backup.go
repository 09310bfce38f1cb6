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
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

// Backup makes a store at path that is as this one was at one moment, while
// others write to this one: the sessions, the audio that they refer to, and for
// an encrypted store their keys, with the same Options.Key. There must be no
// database, audio or key file at path yet. The database gets its name when all
// is durable: what has none is no backup. The error is fs.ErrExist if there
// is one, or another has got the name by then: it stays as it is.
//
// Removals wait while the last audio and the keys are copied. The backup of an
// encrypted store holds the keys of its sessions, and of no later ones: one that
// is removed later is destroyed only when its backups are.
//
// The database is read in one transaction. If it has to grow beyond its memory
// map meanwhile, at each doubling up to 1 GB and at each GB after, all other calls
// wait until the backup ends.
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
	// Most of the audio first: what goes away meanwhile is not asked for later.
	err = s.view(func(tx *bbolt.Tx) error { to.refs = references(tx); return nil })
	if err == nil {
		err = to.audio(s.audio)
	}
	if err != nil {
		return err
	}
	tx, err := to.moment(s)
	if err != nil {
		return err
	}
	defer func() { _ = guard(tx.Rollback) }() // it was only read
	if err := to.sweep(); err != nil {
		return err
	}
	return to.database(tx)
}

// backup is one Backup.
type backup struct {
	ctx    context.Context
	path   string
	refs   []string        // of the audio to copy
	copied map[string]bool // references
	made   []string        // files, the database once it has its name

	syncDir func(dir string) error // of the store's files
}

// undo removes what a backup made that failed, and nothing else: if there is a
// database it is another's, and so are the directory and what else is in it.
func (b *backup) undo() error {
	for i := range b.made { // the database first: without audio and keys it is none
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

// references returns those of all stored audio.
func references(tx *bbolt.Tx) (refs []string) {
	_ = tx.Bucket(bucketAudio).ForEach(func(ref, _ []byte) error {
		if audio.IsRef(string(ref)) {
			refs = append(refs, string(ref))
		}
		return nil
	})
	return refs
}

// moment begins the transaction that the backup is of, and copies what can
// change after it: audio that is not copied yet, and the key slots. Removals wait
// with their audio, and so with their keys, which Store.erase destroys after it.
func (b *backup) moment(s *Store) (tx *bbolt.Tx, err error) {
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

// audio copies what refs names and was not copied before. What is missing was
// let go of meanwhile, or lost before: it is missing in the backup too. A copy
// whose key was wiped while it was made was let go of as well, and is swept.
func (b *backup) audio(a *audio.Dir) error {
	for _, ref := range b.refs {
		if b.copied[ref] {
			continue
		}
		err := b.oneAudio(a, ref)
		if errors.Is(err, fs.ErrNotExist) { // removed, or lost before
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

// sweep removes audio that went away between its copy and the moment.
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

// file writes what r gives to a new file, durably.
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

// database writes the database and gives it its name.
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
	if err := b.syncDir(filepath.Dir(b.path)); err != nil { // the names of the audio directory and the key file before that of the database
		return err
	}
	if err := publish(tmp, b.path); err != nil {
		return err
	}
	b.made = append(b.made, b.path)
	return b.syncDir(filepath.Dir(b.path))
}

// contextWriter ends a writing whose context is done.
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

// Compact rewrites the database at path, which nobody has open, without its
// free pages, and returns how many bytes it had and has. The new file takes the
// place of the old one when it is durable. Audio and keys stay as they are.
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

// compactBatch is how many bytes Compact writes in a transaction. Chosen: what
// fits into memory beside anything.
const compactBatch = 16 << 20

// Copy puts the documents of from into to, creates the sessions of from, with
// their audio, in to, and returns how many sessions there were. A plain store becomes an encrypted one so, or one of another
// key. Nothing else may be done to from meanwhile. Records that cannot be read
// are left out, and sessions whose audio is missing or damaged; the error is a
// [store.DamagedError] when all others are copied. With any other error the sessions copied so far stay.
func Copy(ctx context.Context, to, from *Store) (n int, err error) {
	after := ""
	var left store.DamagedError
	if err := copyDocuments(ctx, to, from, &left); err != nil {
		return 0, err
	}
	for {
		list, err := from.Scan(ctx, after, maxBatch)
		if err := left.Add(err); err != nil {
			return n, err
		}
		if len(list) > 0 {
			after = list[len(list)-1].ID
			copied, err := copySessions(ctx, to, from, list, &left)
			n += copied
			if err != nil {
				return n, err
			}
		}
		if len(list) == maxBatch {
			continue
		}
		if left.Records > 0 {
			return n, fmt.Errorf("store/bolt: copy: %w", &left)
		}
		return n, nil
	}
}

// copyDocuments copies all documents, and counts in left those that cannot be
// read. There must be none of their names yet.
func copyDocuments(ctx context.Context, to, from *Store, left *store.DamagedError) error {
	var names []string
	err := from.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketDocuments).ForEach(func(name, _ []byte) error {
			names = append(names, string(name))
			return nil
		})
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		data, _, err := from.Document(ctx, name)
		if errors.Is(err, ErrCorrupt) {
			err = left.Add(&store.DamagedError{Records: 1, Err: fmt.Errorf("document %q: %w", name, err)})
		} else if err == nil {
			_, err = to.PutDocument(ctx, name, 0, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copySessions copies sessions with their audio, at once: they share commits.
// It returns how many of them are copied, and counts in left those whose audio
// cannot be read.
func copySessions(ctx context.Context, to, from *Store, list []*store.Session, left *store.DamagedError) (n int, err error) {
	errs := make(chan error, len(list))
	for _, session := range list {
		go func() { errs <- copySession(ctx, to, from, session) }()
	}
	for range list {
		if oneErr := <-errs; oneErr != nil {
			err = errors.Join(err, left.Add(oneErr))
			continue
		}
		n++
	}
	return n, err
}

// copySession copies a session with its audio. The error is a
// [store.DamagedError] if that cannot be read.
func copySession(ctx context.Context, to, from *Store, session *store.Session) error {
	if session.Audio != "" {
		r, err := from.Audio().Open(ctx, session.Audio)
		if err == nil {
			session.Audio, err = to.Audio().Put(ctx, r)
			err = errors.Join(err, r.Close())
		}
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, ErrCorrupt) {
			err = &store.DamagedError{Records: 1, Err: fmt.Errorf("session %q: its audio: %w", session.ID, err)}
		}
		if err != nil {
			return err
		}
	}
	err := to.Create(ctx, session)
	if err != nil && session.Audio != "" {
		err = errors.Join(err, to.Audio().Remove(context.WithoutCancel(ctx), session.Audio))
	}
	return err
}
