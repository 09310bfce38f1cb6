package voicescreen_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// TestOrphanedAudioIsSweptByAge has audio that no session refers to, of now and
// of two days ago, in a store that is open.
func TestOrphanedAudioIsSweptByAge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	st, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var refs []string
	for range 2 {
		ref, err := st.Audio().Put(t.Context(), strings.NewReader("audio"))
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(path+".audio", refs[0]+".audio"), old, old); err != nil {
		t.Fatal(err)
	}
	newEngine(t, st, testOptions())
	eventually(t, "the older one is removed", func() bool {
		f, err := st.Audio().Open(t.Context(), refs[0])
		if err == nil {
			_ = f.Close()
		}
		return errors.Is(err, store.ErrNotFound)
	})
	f, err := st.Audio().Open(t.Context(), refs[1])
	if err != nil {
		t.Fatalf("the other one: %v", err)
	}
	_ = f.Close()
}
