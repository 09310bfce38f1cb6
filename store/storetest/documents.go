package storetest

import (
	"bytes"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

var documentCases = []testCase{
	{"a document that was never put is empty", func(t *testing.T, st *subject) {
		wantDocument(t, st, "d", nil, 0)
	}},
	{"a document comes back as it was put", func(t *testing.T, st *subject) {
		large := noise(1 << 20)
		for i, data := range [][]byte{[]byte("one"), large, nil, {0}} {
			put := putDocument(t, st, "d", uint64(i), data)
			wantDocument(t, st, "d", data, put)
		}
		wantDocument(t, st, "another", nil, 0)
	}},
	{"a document is replaced only at its current revision", func(t *testing.T, st *subject) {
		first := putDocument(t, st, "d", 0, []byte("first"))
		for _, revision := range []uint64{0, first + 1, first - 1, 1 << 63} {
			if revision != first {
				_, err := st.PutDocument(t.Context(), "d", revision, []byte("another"))
				wantErr(t, "PutDocument", err, store.ErrConflict)
			}
		}
		wantDocument(t, st, "d", []byte("first"), first)
		second := putDocument(t, st, "d", first, []byte("first"))
		if second == first || second == 0 {
			t.Errorf("got revision %d after %d, want another", second, first)
		}
		_, err := st.PutDocument(t.Context(), "d", first, []byte("again"))
		wantErr(t, "PutDocument", err, store.ErrConflict)
	}},
	{"documents are copied in both directions", func(t *testing.T, st *subject) {
		data := []byte("document")
		revision := putDocument(t, st, "d", 0, data)
		clear(data)
		got, _, err := st.Document(t.Context(), "d")
		wantErr(t, "Document", err, nil)
		clear(got)
		wantDocument(t, st, "d", []byte("document"), revision)
	}},
	{"names and sizes have limits", func(t *testing.T, st *subject) {
		for _, name := range []string{"", "a\x00", "\xff", strings.Repeat("d", screen.MaxDocumentName+1)} {
			_, _, err := st.Document(t.Context(), name)
			wantErr(t, "Document", err, store.ErrInvalid)
			_, err = st.PutDocument(t.Context(), name, 0, nil)
			wantErr(t, "PutDocument", err, store.ErrInvalid)
		}
		_, err := st.PutDocument(t.Context(), "d", 0, make([]byte, screen.MaxDocument+1))
		wantErr(t, "PutDocument", err, store.ErrInvalid)
		for _, name := range []string{"d", "d ", "dd", "é", strings.Repeat("d", screen.MaxDocumentName)} {
			revision := putDocument(t, st, name, 0, []byte(name))
			defer wantDocument(t, st, name, []byte(name), revision)
		}
	}},
	{"of concurrent calls one replaces a revision", func(t *testing.T, st *subject) {
		const rounds = 5
		for range rounds {
			_, revision, err := st.Document(t.Context(), "d")
			wantErr(t, "Document", err, nil)
			var won atomic.Int32
			race(racers, func(i int) {
				_, err := st.PutDocument(t.Context(), "d", revision, []byte{byte(i)})
				if err == nil {
					won.Add(1)
				} else if !errors.Is(err, store.ErrConflict) {
					t.Errorf("PutDocument: %v", err)
				}
			})
			if n := won.Load(); n != 1 {
				t.Errorf("got %d calls that replaced revision %d, want one", n, revision)
			}
		}
	}},
	{"documents and sessions have separate names", func(t *testing.T, st *subject) {
		s := session("a", "s", "u")
		create(t, st, s)
		revision := putDocument(t, st, "s", 0, []byte("document"))
		wantErr(t, "Delete", st.Delete(t.Context(), "a", "s"), nil)
		wantDocument(t, st, "s", []byte("document"), revision)
	}},
}

// putDocument stores a document, and ends the test if that fails.
func putDocument(t *testing.T, st *subject, name string, revision uint64, data []byte) uint64 {
	t.Helper()
	next, err := st.PutDocument(t.Context(), name, revision, data)
	if err != nil {
		t.Fatalf("PutDocument of %.9q: %v", name, err)
	}
	return next
}

func wantDocument(t *testing.T, st *subject, name string, data []byte, revision uint64) {
	t.Helper()
	got, at, err := st.Document(t.Context(), name)
	if err != nil || at != revision || !bytes.Equal(got, data) {
		t.Errorf("document %.9q: got %d bytes, revision %d and error %v, want %d bytes, revision %d", name, len(got), at, err, len(data), revision)
	}
}
