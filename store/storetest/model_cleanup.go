package storetest

import (
	"maps"
	"slices"

	"github.com/voicescreen/voicescreen/store"
)

// cleanup leaves the store empty. Of a history that failed, which may have left what the
// model does not know, it forgets all users.
func (h *history) cleanup(ended bool) {
	for _, account := range drawnAccounts {
		for _, user := range drawnUsers {
			if ended && !h.has(account, user) {
				continue
			}
			if _, err := h.st.Forget(h.t.Context(), account, user); err != nil {
				h.t.Errorf("Forget: %v", err)
			}
		}
	}
	for ref := range h.audio {
		if err := h.st.Audio().Remove(h.t.Context(), ref); err != nil {
			h.t.Errorf("Audio.Remove: %v", err)
		}
	}
}

// has reports whether a user has sessions.
func (h *history) has(account, user string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(h.sessions)), func(s *store.Session) bool { return s.Account == account && s.UserID == user })
}
