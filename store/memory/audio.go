package memory

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"time"

	"github.com/voicescreen/voicescreen/store"
)

// recording is stored audio. It is immutable.
type recording struct {
	data []byte
	put  time.Time
}

// Audio is described at [store.Store].
func (m *Store) Audio() store.Audio { return (*audio)(m) }

// audio is the Store as a store.Audio.
type audio Store

// Put is described at [store.Audio].
func (a *audio) Put(ctx context.Context, r io.Reader) (string, error) {
	if err := a.calls.Begin(ctx); err != nil {
		return "", err
	}
	defer a.calls.End()
	data, err := io.ReadAll(reader{ctx, r})
	if err != nil {
		return "", err
	}
	ref := rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.audio[ref] = recording{data, a.now()}
	return ref, nil
}

// Open is described at [store.Audio].
func (a *audio) Open(ctx context.Context, ref string) (io.ReadCloser, error) {
	if err := a.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer a.calls.End()
	a.mu.RLock()
	defer a.mu.RUnlock()
	r, ok := a.audio[ref]
	if !ok {
		return nil, store.ErrNotFound
	}
	return io.NopCloser(bytes.NewReader(r.data)), nil
}

// Remove is described at [store.Audio].
func (a *audio) Remove(ctx context.Context, ref string) error {
	if err := a.calls.Begin(ctx); err != nil {
		return err
	}
	defer a.calls.End()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.inUse()[ref] {
		delete(a.audio, ref)
	}
	return nil
}

// Sweep is described at [store.Audio].
func (a *audio) Sweep(ctx context.Context, age time.Duration, referred func(ref string) bool) error {
	if err := a.calls.Begin(ctx); err != nil {
		return err
	}
	defer a.calls.End()
	a.mu.Lock()
	defer a.mu.Unlock()
	inUse, before := a.inUse(), a.now().Add(-age)
	for ref, r := range a.audio {
		if !inUse[ref] && !r.put.After(before) && (referred == nil || !referred(ref)) {
			delete(a.audio, ref)
		}
	}
	return nil
}

// inUse returns the references to audio of all sessions.
func (a *audio) inUse() map[string]bool {
	refs := map[string]bool{}
	for _, s := range a.sessions {
		refs[s.Audio] = true
	}
	return refs
}

// reader is a reader that fails once its context is done.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
