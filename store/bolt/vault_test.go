package bolt

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/store"
)

// testKey is the key of the encrypted stores of tests.
var testKey = bytes.Repeat([]byte{0x5a}, KeySize)

// eachKey runs a test on a plain store and on an encrypted one.
func eachKey(t *testing.T, test func(t *testing.T, key []byte)) {
	t.Run("plain", func(t *testing.T) { test(t, nil) })
	t.Run("encrypted", func(t *testing.T) { test(t, testKey) })
}

// filled creates an encrypted store of n sessions with audio, closes it, and returns its
// path and the sessions.
func filled(t testing.TB, n int) (path string, sessions []*store.Session) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "test.db")
	st := reopen(t, path)
	for i := range n {
		s := sample()
		s.ID, s.UserID, s.Due = fmt.Sprintf("s%d", i), fmt.Sprintf("user%d", i), s.CreatedAt.Add(time.Duration(i)*time.Second)
		s.Audio = putAudio(t, st, audioOf(s))
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, s)
	}
	shut(t, st)
	return path, sessions
}

func audioOf(s *store.Session) string { return "audio of " + s.ID }

func putAudio(t testing.TB, st *Store, content string) string {
	t.Helper()
	ref, err := st.Audio().Put(t.Context(), strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func readAudio(t testing.TB, st *Store, ref string) (string, error) {
	t.Helper()
	f, err := st.Audio().Open(t.Context(), ref)
	if err != nil {
		return "", err
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	return string(content), err
}

func reopen(t testing.TB, path string) *Store {
	t.Helper()
	st, err := Open(path, &Options{Key: testKey})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

func shut(t testing.TB, st *Store) {
	t.Helper()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t testing.TB, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestNothingPersonalIsInTheFiles searches the files of an encrypted store for the content
// of a session and its audio, and for plain hashes of names.
func TestNothingPersonalIsInTheFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	fill := func(key []byte) {
		st, err := Open(path, &Options{Key: key})
		if err != nil {
			t.Fatal(err)
		}
		s := sample()
		s.Account, s.UserID, s.Owner, s.Metadata.Zipcode = "canary-account", "canary-user", "canary-owner", "canary-zip"
		s.Scores[0].Model, s.Features, s.Failure.Message = "canary-model", map[string]float64{"canary-feature": 0.123456789}, "canary-message"
		s.Audio = putAudio(t, st, strings.Repeat("canary-voice ", 10_000))
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Update(t.Context(), s.Account, s.ID, func(s *store.Session, _ time.Time) error { s.Notices++; return nil }); err != nil {
			t.Fatal(err)
		}
		shut(t, st)
	}
	account := sha256.Sum256([]byte("canary-account"))
	search := func() (found []string) {
		err := filepath.WalkDir(filepath.Dir(path), func(name string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				content := read(t, name)
				for what, b := range map[string][]byte{"a name": []byte("canary"), "the account's hash": account[:], "the user's place": plain.userPrefix("canary-account", "canary-user")} {
					if bytes.Contains(content, b) {
						found = append(found, what+" in "+filepath.Base(name))
					}
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	fill(testKey)
	if found := search(); len(found) != 0 {
		t.Errorf("got %v", found)
	}
	path = filepath.Join(t.TempDir(), "plain.db")
	fill(nil)
	if found := search(); len(found) != 4 { // three in the database, one in the audio
		t.Errorf("the search finds %v in a plain store, want four places: it would miss them in the encrypted one", found)
	}
}

func TestWrongKeysAreRefused(t *testing.T) {
	t.Parallel()
	encrypted, _ := filled(t, 2)
	plain := opened(t)
	shut(t, plain)
	other, _ := filled(t, 1)
	for name, c := range map[string]struct {
		path   string
		key    []byte
		before func(t *testing.T)
		says   string
		want   error
	}{
		"another key":                 {encrypted, bytes.Repeat([]byte{1}, KeySize), nil, "encrypted with another", ErrKey},
		"no key":                      {encrypted, nil, nil, "no key was given", ErrKey},
		"a key for a plain store":     {plain.path, testKey, nil, "it is not encrypted", ErrKey},
		"a key too short":             {encrypted, testKey[:16], nil, "16 bytes, want 32", ErrKey},
		"the key file of another":     {encrypted, testKey, func(t *testing.T) { write(t, encrypted+suffixSlots, read(t, other+suffixSlots)) }, "another store", ErrKey},
		"no key file":                 {encrypted, testKey, func(t *testing.T) { _ = os.Remove(encrypted + suffixSlots) }, "missing", ErrCorrupt},
		"a key file that is cut":      {encrypted, testKey, func(t *testing.T) { cut(t, encrypted+suffixSlots, slotsAt+slotSize) }, "cut short", ErrCorrupt},
		"a key file of a few bytes":   {encrypted, testKey, func(t *testing.T) { cut(t, encrypted+suffixSlots, 10) }, "damaged", ErrCorrupt},
		"a key file without database": {encrypted, testKey, func(t *testing.T) { _ = os.Remove(encrypted) }, "belongs to a database that is missing", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, file := range []string{encrypted, encrypted + suffixSlots} {
				whole := read(t, file)
				defer write(t, file, whole)
			}
			if c.before != nil {
				c.before(t)
			}
			for range 2 {
				st, err := Open(c.path, &Options{Key: c.key, LockTimeout: -1})
				if err == nil {
					_ = st.Close()
				}
				if c.want != nil && !errors.Is(err, c.want) || err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("got error %v, want one that says %q", err, c.says)
				}
			}
		})
	}
	shut(t, reopen(t, encrypted)) // nothing was changed
}

func cut(t *testing.T, name string, n int64) {
	t.Helper()
	if err := os.Truncate(name, n); err != nil {
		t.Fatal(err)
	}
}

// TestAnInterruptedCreationIsCompleted creates a key file without slots, as left by a
// process that ends before the database has its name.
func TestAnInterruptedCreationIsCompleted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	if _, err := createSlots(path, testKey); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, &Options{Key: bytes.Repeat([]byte{1}, KeySize)}); !errors.Is(err, ErrKey) {
		t.Errorf("with another key: got error %v, want %v", err, ErrKey)
	}
	shut(t, reopen(t, path))
	shut(t, reopen(t, path))
}
