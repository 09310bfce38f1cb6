package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
)

var audioCases = []testCase{
	{"audio comes back as it was stored", func(t *testing.T, st *subject) {
		for _, n := range []int{0, 1, 4096, 1<<20 + 7} {
			data := noise(n)
			wantAudio(t, st, put(t, st, bytes.NewReader(data)), data)
			wantAudio(t, st, put(t, st, iotest.OneByteReader(bytes.NewReader(data[:min(n, 100)]))), data[:min(n, 100)])
			wantAudio(t, st, put(t, st, iotest.DataErrReader(bytes.NewReader(data))), data)
		}
	}},
	{"references are unique and contain nothing of the session", func(t *testing.T, st *subject) {
		s := session("canary-account", "canary-session", "canary-user")
		create(t, st, s)
		seen := map[string]bool{}
		for range 20 {
			ref := put(t, st, strings.NewReader("the same"))
			if ref == "" || seen[ref] || strings.Contains(ref, "canary") {
				t.Errorf("got reference %q, want a new one without a trace of the session", ref)
			}
			seen[ref] = true
		}
	}},
	{"a failed read stores nothing and its error is returned as it is", func(t *testing.T, st *subject) {
		broken := errors.New("broken off")
		ref, err := st.Audio().Put(t.Context(), io.MultiReader(bytes.NewReader(noise(200_000)), iotest.ErrReader(broken)))
		if ref != "" || err != broken { // as it is
			t.Errorf("got reference %q and error %v, want the error itself", ref, err)
		}
	}},
	{"a context that is cancelled stops the reading", func(t *testing.T, st *subject) {
		ctx, cancel := context.WithCancel(t.Context())
		read := 0
		ref, err := st.Audio().Put(ctx, readerFunc(func(p []byte) (int, error) {
			if read += len(p); read > 1<<20 {
				cancel()
			}
			if read > 1<<23 {
				return 0, io.EOF
			}
			return len(p), nil
		}))
		if ref != "" || !errors.Is(err, context.Canceled) {
			t.Errorf("got reference %q and error %v, want %v", ref, err, context.Canceled)
		}
	}},
	{"an unknown reference is not found", func(t *testing.T, st *subject) {
		ref := put(t, st, strings.NewReader("audio"))
		for _, other := range hostile(ref) {
			f, err := st.Audio().Open(t.Context(), other)
			if err == nil {
				_ = f.Close()
			}
			wantErr(t, "Audio.Open", err, store.ErrNotFound)
			wantErr(t, "Audio.Remove", st.Audio().Remove(t.Context(), other), nil)
		}
		wantAudio(t, st, ref, []byte("audio"))
	}},
	{"a session may refer to missing audio", func(t *testing.T, st *subject) {
		ref := put(t, st, strings.NewReader("audio"))
		create(t, st, session("a", "s", "u"))
		for _, other := range hostile(ref) {
			if utf8.ValidString(other) && !strings.Contains(other, "\x00") && len(other) <= screen.MaxName {
				setAudio(t, st, "s", other)
			}
		}
		wantErr(t, "Delete", st.Delete(t.Context(), "a", "s"), nil)
		wantAudio(t, st, ref, []byte("audio"))
	}},
	{"removed audio is not found and may be removed again", func(t *testing.T, st *subject) {
		ref, kept := put(t, st, strings.NewReader("audio")), put(t, st, strings.NewReader("kept"))
		for range 2 {
			wantErr(t, "Audio.Remove", st.Audio().Remove(t.Context(), ref), nil)
			wantNoAudio(t, st, ref)
		}
		wantAudio(t, st, kept, []byte("kept"))
	}},
	{"audio that a session refers to is not removed", func(t *testing.T, st *subject) {
		create(t, st, queued("a", "s", at(1)))
		ref := put(t, st, strings.NewReader("audio"))
		setAudio(t, st, "s", ref)
		wantErr(t, "Audio.Remove", st.Audio().Remove(t.Context(), ref), nil)
		wantAudio(t, st, ref, []byte("audio"))
	}},
	{"audio stays as long as a session refers to it", func(t *testing.T, st *subject) {
		create(t, st, queued("a", "s", at(1)))
		ref := put(t, st, strings.NewReader("audio"))
		setAudio(t, st, "s", ref)
		setDue(t, st, "s", at(2))
		_, err := st.nextAt(t.Context(), at(2), func(s *store.Session, _ time.Time) error { s.Due = at(9); return nil })
		wantErr(t, "Next", err, nil)
		wantAudio(t, st, ref, []byte("audio"))
	}},
	{"audio is removed when Update replaces the reference", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		first, second := put(t, st, strings.NewReader("first")), put(t, st, strings.NewReader("second"))
		setAudio(t, st, "s", first)
		setAudio(t, st, "s", second)
		wantNoAudio(t, st, first)
		wantAudio(t, st, second, []byte("second"))
		setAudio(t, st, "s", "")
		wantNoAudio(t, st, second)
	}},
	{"audio is removed when Next clears the reference", func(t *testing.T, st *subject) {
		s := queued("a", "s", at(1))
		s.Audio = put(t, st, strings.NewReader("audio"))
		create(t, st, s)
		_, err := st.nextAt(t.Context(), at(1), func(s *store.Session, _ time.Time) error { s.Audio, s.Due = "", time.Time{}; return nil })
		wantErr(t, "Next", err, nil)
		wantNoAudio(t, st, s.Audio)
	}},
	{"audio stays if change fails", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		ref := put(t, st, strings.NewReader("audio"))
		setAudio(t, st, "s", ref)
		_, err := st.Update(t.Context(), "a", "s", func(s *store.Session, _ time.Time) error { s.Audio = ""; return errChange })
		wantErr(t, "Update", err, errChange)
		_, err = st.Update(t.Context(), "a", "s", func(s *store.Session, _ time.Time) error { s.Audio = ""; s.Status = 0; return nil })
		wantErr(t, "Update", err, store.ErrInvalid)
		wantAudio(t, st, ref, []byte("audio"))
	}},
	{"Delete and Forget remove the audio", func(t *testing.T, st *subject) {
		var refs []string
		for i := range 4 {
			create(t, st, session("a", numbered(i), "u"))
			refs = append(refs, put(t, st, strings.NewReader("audio")))
			setAudio(t, st, numbered(i), refs[i])
		}
		other := session("a", "other", "v")
		other.Audio = put(t, st, strings.NewReader("other"))
		create(t, st, other)
		wantErr(t, "Delete", st.Delete(t.Context(), "a", numbered(0)), nil)
		wantNoAudio(t, st, refs[0])
		wantAudio(t, st, refs[1], []byte("audio"))
		_, err := st.Forget(t.Context(), "a", "u")
		wantErr(t, "Forget", err, nil)
		for _, ref := range refs {
			wantNoAudio(t, st, ref)
		}
		wantAudio(t, st, other.Audio, []byte("other"))
	}},
	{"Sweep removes audio without a reference, by age", func(t *testing.T, st *subject) {
		create(t, st, session("a", "s", "u"))
		used, wanted, orphan := put(t, st, strings.NewReader("used")), put(t, st, strings.NewReader("wanted")), put(t, st, strings.NewReader("orphan"))
		setAudio(t, st, "s", used)
		wantErr(t, "Sweep", st.Audio().Sweep(t.Context(), time.Hour, nil), nil)
		wantAudio(t, st, orphan, []byte("orphan"))
		wantErr(t, "Sweep", st.Audio().Sweep(t.Context(), 0, func(ref string) bool { return ref == wanted }), nil)
		wantNoAudio(t, st, orphan)
		wantAudio(t, st, used, []byte("used"))
		wantAudio(t, st, wanted, []byte("wanted"))
		wantErr(t, "Sweep", st.Audio().Sweep(t.Context(), 0, nil), nil)
		wantNoAudio(t, st, wanted)
	}},
	{"concurrent calls store audio", func(t *testing.T, st *subject) {
		race(racers, func(i int) {
			data := noise(10_000 + i)
			ref, err := st.Audio().Put(t.Context(), bytes.NewReader(data))
			if err != nil {
				t.Errorf("Audio.Put: %v", err)
				return
			}
			wantAudio(t, st, ref, data)
		})
	}},
}

// hostile returns references that no store returned, some of which name other files to
// a store that does not check them.
func hostile(ref string) []string {
	return []string{
		"", ".", "..", "/", ref + "x", ref + "/", "./" + ref, "x/../" + ref, "../" + ref, ref[:len(ref)-1], ref + "\x00",
		strings.Repeat("A", 26), strings.Repeat("A", 100_000), "C:\\" + ref, "*", "\xff",
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// noise returns n random bytes, the same in each call with the same n.
func noise(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(data) // never fails
	return data
}

// put stores audio, and ends the test if that fails.
func put(t *testing.T, st *subject, r io.Reader) string {
	t.Helper()
	ref, err := st.Audio().Put(t.Context(), r)
	if err != nil {
		t.Fatalf("Audio.Put: %v", err)
	}
	return ref
}

// setAudio makes a session of account a refer to audio.
func setAudio(t *testing.T, st *subject, id, ref string) {
	t.Helper()
	if _, err := st.Update(t.Context(), "a", id, func(s *store.Session, _ time.Time) error { s.Audio = ref; return nil }); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func wantAudio(t rapid.TB, st *subject, ref string, want []byte) {
	t.Helper()
	f, err := st.Audio().Open(context.Background(), ref)
	if err != nil {
		t.Errorf("Audio.Open: %v", err)
		return
	}
	got, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %d bytes and error %v, want the %d bytes stored", len(got), err, len(want))
	}
	if err := f.Close(); err != nil {
		t.Errorf("Close of audio: %v", err)
	}
}

func wantNoAudio(t *testing.T, st *subject, ref string) {
	t.Helper()
	f, err := st.Audio().Open(t.Context(), ref)
	if err == nil {
		_ = f.Close()
	}
	wantErr(t, "Audio.Open of removed audio", err, store.ErrNotFound)
}
