package storetest

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/voicescreen/voicescreen/store"
)

// drawnDocuments are the names of documents.
var drawnDocuments = []string{"keys", "key"}

// beginDocuments reads the documents that earlier histories wrote.
func (h *history) beginDocuments() {
	h.docs, h.before = map[string][]string{}, map[string]uint64{}
	for _, name := range drawnDocuments {
		data, revision, err := h.st.Document(h.t.Context(), name)
		h.want("Document", err, nil)
		h.docs[name], h.before[name] = []string{string(data)}, revision
	}
}

// putDocument replaces a document at its revision or at another one.
func (h *history) putDocument(*rapid.T) {
	name := rapid.SampledFrom(drawnDocuments).Draw(h.T, "name")
	contents := h.docs[name]
	now := h.before[name] + uint64(len(contents)-1)
	behind := uint64(max(0, rapid.IntRange(-2, 2).Draw(h.T, "behind")))
	content := rapid.SampledFrom([]string{"", "a", contents[len(contents)-1]}).Draw(h.T, "content")
	revision, err := h.st.PutDocument(h.t.Context(), name, now-behind, []byte(content))
	if behind != 0 {
		h.want("PutDocument at a former revision", err, store.ErrConflict)
		return
	}
	h.want("PutDocument", err, nil)
	if revision != now+1 {
		h.Fatalf("PutDocument: got revision %d, want %d", revision, now+1)
	}
	h.docs[name] = append(contents, content)
}

// checkDocuments compares the documents with the model.
func (h *history) checkDocuments() {
	for _, name := range drawnDocuments {
		contents := h.docs[name]
		data, revision, err := h.st.Document(h.t.Context(), name)
		if want := h.before[name] + uint64(len(contents)-1); err != nil || revision != want || string(data) != contents[len(contents)-1] {
			h.Fatalf("Document %q: got %q, revision %d and error %v, want %q, revision %d", name, data, revision, err, contents[len(contents)-1], want)
		}
	}
}

// release applies to the model what a store does when it is opened (store.MaxDelay).
func (h *history) release() {
	now := h.st.clock.now().UTC()
	var late []*store.Session
	for id, s := range h.sessions {
		h.sessions[id] = s.Clone()
		if s = h.sessions[id]; s.Due.After(now) {
			late = append(late, s)
		}
		if s.Notify.After(now.Add(store.MaxDelay)) {
			h.Fatalf("the history has no notice that far ahead")
		}
	}
	slices.SortFunc(late, func(a, b *store.Session) int { return a.Due.Compare(b.Due) })
	var before, after time.Time // Due of the previous session, before and after reopening
	for _, s := range late {
		got, err := h.st.Get(h.t.Context(), s.Account, s.ID)
		h.want("Get", err, nil)
		if got.Due.IsZero() || got.Due.After(now) || s.Due.After(before) && !got.Due.After(after) {
			h.Fatalf("a store that was opened at %v: got a session due at %v, after one due at %v", now, got.Due, after)
		}
		before, after = s.Due, got.Due
		s.Due, s.Owner = got.Due, ""
	}
}
