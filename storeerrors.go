package voicescreen

import (
	"context"
	"errors"
	"io"
	"maps"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

// StoreErrors returns how many calls of the store failed since the Engine was
// made, by the kind of call: "get", "update", "audio_put" and the like, those
// without failures too. What a store answers in normal work is no failure: that a
// session is absent, or exists, that nothing is due, that a document changed.
// Neither is the end of a caller's context, a broken upload, or a call after
// Close. The map is the caller's.
func (e *Engine) StoreErrors() map[string]int { return e.store.counts() }

// countedStore counts the errors of a store. It is safe for concurrent use.
type countedStore struct {
	store.Store

	mu     sync.Mutex // protects failed
	failed map[string]int
}

func newCountedStore(st store.Store) *countedStore {
	c := &countedStore{Store: st, failed: map[string]int{}}
	for _, call := range []string{
		"create", "get", "head", "update", "next", "next_notice", "notices", "due", "expire", "list", "scan", "delete", "forget",
		"audio_put", "audio_open", "audio_remove", "audio_sweep", "document", "put_document", "ping", "backup",
	} {
		c.failed[call] = 0
	}
	return c
}

func (c *countedStore) counts() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.failed)
}

// Unwrap gives package store the abilities of the store below: see store.As.
func (c *countedStore) Unwrap() store.Store { return c.Store }

// note counts an error of a call, and returns it.
func (c *countedStore) note(ctx context.Context, call string, err error) error {
	switch {
	case err == nil, ctx.Err() != nil,
		errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrExists), errors.Is(err, store.ErrNoneDue),
		errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrClosed), errors.Is(err, errors.ErrUnsupported):
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed[call]++
	return err
}

// noteChange is note for a call with a Change, whose own error does not count.
func (c *countedStore) noteChange(ctx context.Context, call string, change store.Change, do func(store.Change) (*store.Session, error)) (*store.Session, error) {
	refused := false
	s, err := do(func(s *store.Session, now time.Time) error {
		err := change(s, now)
		refused = err != nil
		return err
	})
	if refused {
		return s, err
	}
	return s, c.note(ctx, call, err)
}

func (c *countedStore) Create(ctx context.Context, s *store.Session) error {
	return c.note(ctx, "create", c.Store.Create(ctx, s))
}

func (c *countedStore) Get(ctx context.Context, account, id string) (*store.Session, error) {
	s, err := c.Store.Get(ctx, account, id)
	return s, c.note(ctx, "get", err)
}

func (c *countedStore) Head(ctx context.Context, account, id string) (*store.Session, error) {
	s, err := c.Store.Head(ctx, account, id)
	return s, c.note(ctx, "head", err)
}

func (c *countedStore) Update(ctx context.Context, account, id string, change store.Change) (*store.Session, error) {
	return c.noteChange(ctx, "update", change, func(f store.Change) (*store.Session, error) { return c.Store.Update(ctx, account, id, f) })
}

func (c *countedStore) Next(ctx context.Context, change store.Change) (*store.Session, error) {
	return c.noteChange(ctx, "next", change, func(f store.Change) (*store.Session, error) { return c.Store.Next(ctx, f) })
}

func (c *countedStore) NextNotice(ctx context.Context, without []string, change store.Change) (*store.Session, error) {
	return c.noteChange(ctx, "next_notice", change, func(f store.Change) (*store.Session, error) { return c.Store.NextNotice(ctx, without, f) })
}

// Notices is that of a store.NoticeCounter. The error of another store wraps
// errors.ErrUnsupported.
func (c *countedStore) Notices(ctx context.Context) (map[string]int, error) {
	st, ok := store.As[store.NoticeCounter](c.Store)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	n, err := st.Notices(ctx)
	return n, c.note(ctx, "notices", err)
}

func (c *countedStore) Due(ctx context.Context) (int, error) {
	n, err := c.Store.Due(ctx)
	return n, c.note(ctx, "due", err)
}

func (c *countedStore) Expire(ctx context.Context, age time.Duration, limit int) ([]screen.SessionKey, error) {
	keys, err := c.Store.Expire(ctx, age, limit)
	return keys, c.note(ctx, "expire", err)
}

func (c *countedStore) List(ctx context.Context, account, userID string, after *store.Cursor, limit int) ([]*store.Session, error) {
	list, err := c.Store.List(ctx, account, userID, after, limit)
	return list, c.note(ctx, "list", err)
}

func (c *countedStore) Scan(ctx context.Context, after string, limit int) ([]*store.Session, error) {
	list, err := c.Store.Scan(ctx, after, limit)
	return list, c.note(ctx, "scan", err)
}

func (c *countedStore) Delete(ctx context.Context, account, id string) error {
	return c.note(ctx, "delete", c.Store.Delete(ctx, account, id))
}

func (c *countedStore) Forget(ctx context.Context, account, userID string) (int, error) {
	n, err := c.Store.Forget(ctx, account, userID)
	return n, c.note(ctx, "forget", err)
}

func (c *countedStore) Document(ctx context.Context, name string) ([]byte, uint64, error) {
	data, revision, err := c.Store.Document(ctx, name)
	return data, revision, c.note(ctx, "document", err)
}

func (c *countedStore) PutDocument(ctx context.Context, name string, revision uint64, data []byte) (uint64, error) {
	next, err := c.Store.PutDocument(ctx, name, revision, data)
	return next, c.note(ctx, "put_document", err)
}

func (c *countedStore) Ping(ctx context.Context) error {
	return c.note(ctx, "ping", c.Store.Ping(ctx))
}

// backer is a store that can be copied while it is used.
type backer interface {
	Backup(ctx context.Context, path string) error
}

// Backup is that of a store with a method Backup like that of bolt. The error of
// another store wraps errors.ErrUnsupported.
func (c *countedStore) Backup(ctx context.Context, path string) error {
	st, ok := store.As[backer](c.Store)
	if !ok {
		return errors.ErrUnsupported
	}
	return c.note(ctx, "backup", st.Backup(ctx, path))
}

func (c *countedStore) Audio() store.Audio { return &countedAudio{c.Store.Audio(), c} }

// countedAudio counts the errors of a store's audio.
type countedAudio struct {
	store.Audio
	to *countedStore
}

func (a *countedAudio) Put(ctx context.Context, r io.Reader) (ref string, err error) {
	in := &failingReader{Reader: r}
	ref, err = a.Audio.Put(ctx, in)
	if in.failed {
		return ref, err
	}
	return ref, a.to.note(ctx, "audio_put", err)
}

func (a *countedAudio) Open(ctx context.Context, ref string) (io.ReadCloser, error) {
	r, err := a.Audio.Open(ctx, ref)
	return r, a.to.note(ctx, "audio_open", err)
}

func (a *countedAudio) Remove(ctx context.Context, ref string) error {
	return a.to.note(ctx, "audio_remove", a.Audio.Remove(ctx, ref))
}

func (a *countedAudio) Sweep(ctx context.Context, age time.Duration, referred func(ref string) bool) error {
	return a.to.note(ctx, "audio_sweep", a.Audio.Sweep(ctx, age, referred))
}

// failingReader notes whether reading failed.
type failingReader struct {
	io.Reader
	failed bool
}

func (r *failingReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.failed = r.failed || err != nil && err != io.EOF
	return n, err
}
