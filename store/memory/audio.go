package memory

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"

	"github.com/voicescreen/voicescreen/store"
)

// PutAudio is described at [store.Store].
func (m *Store) PutAudio(ctx context.Context, r io.Reader) (string, error) {
	if err := m.calls.Begin(ctx); err != nil {
		return "", err
	}
	defer m.calls.End()
	data, err := io.ReadAll(reader{ctx, r})
	if err != nil {
		return "", err
	}
	ref := rand.Text()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.audio[ref] = data
	return ref, nil
}

// OpenAudio is described at [store.Store].
func (m *Store) OpenAudio(ctx context.Context, ref string) (io.ReadCloser, error) {
	if err := m.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer m.calls.End()
	m.mu.RLock()
	defer m.mu.RUnlock()
	data, ok := m.audio[ref]
	if !ok {
		return nil, store.ErrNotFound
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// RemoveAudio is described at [store.Store].
func (m *Store) RemoveAudio(ctx context.Context, ref string) error {
	if err := m.calls.Begin(ctx); err != nil {
		return err
	}
	defer m.calls.End()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.sessions {
		if s.Audio == ref {
			return nil
		}
	}
	delete(m.audio, ref)
	return nil
}

// reader reads until its context is done.
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
