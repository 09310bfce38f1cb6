package memory

import (
	"context"

	"github.com/voicescreen/voicescreen/store"
)

var _ store.NoticeCounter = (*Store)(nil)

// Notices is described at [store.NoticeCounter].
func (m *Store) Notices(ctx context.Context) (map[string]int, error) {
	if err := m.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer m.calls.End()
	m.mu.RLock()
	defer m.mu.RUnlock()
	counts := map[string]int{}
	for _, p := range m.notices {
		counts[m.sessions[p.id].Account]++
	}
	return counts, nil
}
