package audio_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

func opened(t *testing.T, opts *audio.Options) (*audio.Dir, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audio")
	d, err := audio.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return d, path
}

func put(t *testing.T, d *audio.Dir, content string) string {
	t.Helper()
	ref, err := d.Put(t.Context(), strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func read(t *testing.T, d *audio.Dir, ref string) (string, error) {
	t.Helper()
	f, err := d.Open(t.Context(), ref)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(f)
	return string(b), errors.Join(err, f.Close())
}

// A directory that is not there, as one that is not mounted, says nothing about the audio.
func TestAudioOfAMissingDirectoryIsNotGone(t *testing.T) {
	d, path := opened(t, nil)
	ref := put(t, d, "audio")
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, d, ref); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("got error %v, want another than %v", err, store.ErrNotFound)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, d, ref); got != "audio" || err != nil {
		t.Errorf("got %q and error %v", got, err)
	}
}

func TestAudioComesBackUntilItIsRemoved(t *testing.T) {
	d, path := opened(t, nil)
	ref := put(t, d, "audio")
	again, err := audio.Open(path, nil) // another process
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, again, ref); got != "audio" || err != nil {
		t.Errorf("got %q and error %v", got, err)
	}
	for _, other := range []string{"", "..", "../" + ref, ref + "x", strings.Repeat("A", 26)} {
		if _, err := d.Open(t.Context(), other); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Open of %q: got error %v, want %v", other, err, store.ErrNotFound)
		}
		if err := d.Remove(t.Context(), other); err != nil {
			t.Errorf("Remove of %q: %v", other, err)
		}
	}
	if err := d.Remove(t.Context(), ref); err != nil {
		t.Error(err)
	}
	if _, err := read(t, again, ref); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("removed: got error %v, want %v", err, store.ErrNotFound)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, putErr := d.Put(done, strings.NewReader("audio"))
	_, openErr := d.Open(done, ref)
	for name, err := range map[string]error{"Put": putErr, "Open": openErr, "Remove": d.Remove(done, ref), "Sweep": d.Sweep(done, 0, nil)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got error %v, want %v", name, err, context.Canceled)
		}
	}
}

// TestSweepRemovesByAge sweeps audio and interrupted writes of now and of two days ago.
func TestSweepRemovesByAge(t *testing.T) {
	d, path := opened(t, nil)
	old := time.Now().Add(-48 * time.Hour)
	age := func(name string) {
		t.Helper()
		if err := os.Chtimes(filepath.Join(path, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	fresh, stale, kept := put(t, d, "fresh"), put(t, d, "stale"), put(t, d, "kept")
	age(stale + audio.Suffix)
	age(kept + audio.Suffix)
	part := strings.Repeat("A", 26) + ".part"
	for _, name := range []string{part, strings.Repeat("B", 26) + ".part", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(path, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	age(part)
	age("notes.txt")
	if err := d.Sweep(t.Context(), 24*time.Hour, func(ref string) bool { return ref == kept }); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names[e.Name()] = true
	}
	for name, want := range map[string]bool{
		fresh + audio.Suffix: true, kept + audio.Suffix: true, strings.Repeat("B", 26) + ".part": true, "notes.txt": true,
		stale + audio.Suffix: false, part: false,
	} {
		if names[name] != want {
			t.Errorf("%s is there: %v, want %v", name, names[name], want)
		}
	}
}

// TestReleaseRetriesRemoval makes the first removal of a file fail.
func TestReleaseRetriesRemoval(t *testing.T) {
	d, path := opened(t, nil)
	ref := put(t, d, "audio")
	d.Files.Remove = func(string) error { return errors.New("busy") }
	if err := d.Release(ref); err != nil {
		t.Errorf("got error %v, want none: it is removed later", err)
	}
	d.Files = audio.SystemFiles()
	if err := d.Release(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(path); err != nil || len(entries) != 0 {
		t.Errorf("got %v and error %v, want an empty directory", entries, err)
	}
}

// TestTheHeaderIsOverwritten removes encrypted audio and reads the content through
// another link, which stands for the sectors of a disk.
func TestTheHeaderIsOverwritten(t *testing.T) {
	const header = "key "
	c := &audio.Cipher{
		Seal: func(_ string, w io.Writer) (io.WriteCloser, error) {
			_, err := io.WriteString(w, header)
			return plain{w}, err
		},
		Open: func(_ string, f io.ReadCloser) (io.ReadCloser, error) {
			_, err := io.ReadFull(f, make([]byte, len(header)))
			return f, err
		},
		HeaderLen: len(header),
	}
	d, path := opened(t, &audio.Options{Cipher: c})
	ref := put(t, d, "audio")
	if got, err := read(t, d, ref); got != "audio" || err != nil {
		t.Errorf("got %q and error %v", got, err)
	}
	for name, remove := range map[string]func(ref string) error{
		"Remove":  func(ref string) error { return d.Remove(t.Context(), ref) },
		"Release": func(ref string) error { return d.Release(ref) },
		"Sweep":   func(string) error { return d.Sweep(t.Context(), 0, nil) },
	} {
		ref := put(t, d, "audio")
		link := filepath.Join(path, "link "+name)
		if err := errors.Join(os.Link(d.Path(ref), link), remove(ref)); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadFile(link); err != nil || !bytes.Equal(left, []byte("\x00\x00\x00\x00audio")) {
			t.Errorf("%s: got %q and error %v, want the header overwritten", name, left, err)
		}
	}
}

// plain is a cipher's writer that encrypts nothing.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }
