package memory

import (
	"bytes"
	"context"

	"github.com/voicescreen/voicescreen/store"
)

// document is a document of the store. It is immutable.
type document struct {
	data     []byte
	revision uint64
}

// Document is described at [store.Store].
func (m *Store) Document(ctx context.Context, name string) ([]byte, uint64, error) {
	if err := m.calls.Begin(ctx); err != nil {
		return nil, 0, err
	}
	defer m.calls.End()
	if err := store.CheckDocument(name, 0); err != nil {
		return nil, 0, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	d := m.documents[name]
	return bytes.Clone(d.data), d.revision, nil
}

// PutDocument is described at [store.Store].
func (m *Store) PutDocument(ctx context.Context, name string, revision uint64, data []byte) (uint64, error) {
	if err := m.calls.Begin(ctx); err != nil {
		return 0, err
	}
	defer m.calls.End()
	if err := store.CheckDocument(name, len(data)); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.documents[name].revision != revision {
		return 0, store.ErrConflict
	}
	m.documents[name] = document{bytes.Clone(data), revision + 1}
	return revision + 1, nil
}
