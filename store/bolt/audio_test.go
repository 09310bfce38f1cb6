package bolt

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

// opened returns a new plain store, which is closed at the end of the test.
func opened(t testing.TB) *Store { return openedWith(t, nil) }

// openedWith returns a new store under a key, or a plain one if key is nil. It is
// closed at the end of the test.
func openedWith(t testing.TB, key []byte) *Store {
	t.Helper()
	st, err := Open(filepath.Join(t.TempDir(), "test.db"), &Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// audioFiles returns the names of the files in the audio directory.
func audioFiles(t *testing.T, st *Store) []string {
	t.Helper()
	entries, err := os.ReadDir(st.path + suffixAudioDir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestAudioThatCannotBeStoredLeavesNothing makes each call on files fail in turn. Put
// returns the error of the call, no file stays, and the store works again after the
// fault.
func TestAudioThatCannotBeStoredLeavesNothing(t *testing.T) {
	t.Parallel()
	fault := syscall.ENOSPC
	for name, plant := range map[string]func(f *audio.Files){
		"create": func(f *audio.Files) { f.Create = func(string) (*os.File, error) { return nil, fault } },
		"write":  func(f *audio.Files) { f.Write = func(*os.File, []byte) (int, error) { return 0, fault } },
		"a short write": func(f *audio.Files) {
			f.Write = func(f *os.File, p []byte) (int, error) { n, _ := f.Write(p[:1]); return n, fault }
		},
		"sync":           func(f *audio.Files) { f.Sync = func(*os.File) error { return fault } },
		"rename":         func(f *audio.Files) { f.Rename = func(_, _ string) error { return fault } },
		"directory sync": func(f *audio.Files) { f.SyncDir = func(string) error { return fault } },
	} {
		t.Run(name, func(t *testing.T) {
			st := opened(t)
			plant(&st.audio.Files)
			ref, err := st.Audio().Put(t.Context(), strings.NewReader("audio"))
			if ref != "" || !errors.Is(err, fault) {
				t.Errorf("got reference %q and error %v, want %v", ref, err, fault)
			}
			if left := audioFiles(t, st); len(left) != 0 {
				t.Errorf("got files %v left", left)
			}
			if pingErr := st.Ping(t.Context()); name == "write" && !errors.Is(pingErr, fault) {
				t.Errorf("Ping: got error %v, want %v", pingErr, fault)
			}
			st.audio.Files = audio.SystemFiles()
			if err := st.Ping(t.Context()); err != nil {
				t.Errorf("Ping after the fault: %v", err)
			}
			if _, err := st.Audio().Put(t.Context(), strings.NewReader("audio")); err != nil {
				t.Errorf("after the fault: %v", err)
			}
		})
	}
}

// TestAudioIsDurableBeforeItIsAcknowledged checks the order of the calls: content,
// name, directory.
func TestAudioIsDurableBeforeItIsAcknowledged(t *testing.T) {
	t.Parallel()
	st := opened(t)
	var calls []string
	system := audio.SystemFiles()
	st.audio.Files.Write = func(f *os.File, p []byte) (int, error) { calls = append(calls, "write"); return system.Write(f, p) }
	st.audio.Files.Sync = func(f *os.File) error { calls = append(calls, "sync"); return system.Sync(f) }
	st.audio.Files.Rename = func(from, to string) error { calls = append(calls, "rename"); return system.Rename(from, to) }
	st.audio.Files.SyncDir = func(dir string) error { calls = append(calls, "sync directory"); return system.SyncDir(dir) }
	if _, err := st.Audio().Put(t.Context(), strings.NewReader("audio")); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(calls, ", "), "write, sync, rename, sync directory"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAReaderThatFailsOrPanicsLeavesNoFile(t *testing.T) {
	t.Parallel()
	st := opened(t)
	_, err := st.Audio().Put(t.Context(), io.MultiReader(strings.NewReader("audio"), iotestReader(func() (int, error) { return 0, io.ErrUnexpectedEOF })))
	if err != io.ErrUnexpectedEOF { // as it is
		t.Errorf("got error %v, want %v", err, io.ErrUnexpectedEOF)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = st.Audio().Put(t.Context(), iotestReader(func() (int, error) { panic("reader") }))
	}()
	if _, err := st.Audio().Put(t.Context(), iotestReader(func() (int, error) { return 0, nil })); err != io.ErrNoProgress {
		t.Errorf("a reader that gives nothing: got error %v, want %v", err, io.ErrNoProgress)
	}
	if left := audioFiles(t, st); len(left) != 0 {
		t.Errorf("got files %v left", left)
	}
}

type iotestReader func() (int, error)

func (r iotestReader) Read([]byte) (int, error) { return r() }

// TestAudioThatCannotBeRemovedIsRemovedLater makes the removal of a file fail after
// the session was deleted. Delete succeeds, and a later call removes the file.
func TestAudioThatCannotBeRemovedIsRemovedLater(t *testing.T) {
	t.Parallel()
	st := opened(t)
	ref, err := st.Audio().Put(t.Context(), strings.NewReader("audio"))
	if err != nil {
		t.Fatal(err)
	}
	s := sample()
	s.Audio = ref
	if err := st.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	st.audio.Files.Remove = func(string) error { return fs.ErrPermission }
	if err := st.Delete(t.Context(), s.Account, s.ID); err != nil {
		t.Fatal(err)
	}
	if err := st.Audio().Remove(t.Context(), ref); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Audio.Remove: got error %v, want %v", err, fs.ErrPermission)
	}
	st.audio.Files = audio.SystemFiles()
	if err := st.Ping(t.Context()); err != nil { // any later call that removes
		t.Fatal(err)
	}
	if left := audioFiles(t, st); len(left) != 0 {
		t.Errorf("got files %v left", left)
	}
	if _, err := st.Audio().Open(t.Context(), ref); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Audio.Open: got error %v, want %v", err, store.ErrNotFound)
	}
}

// TestAudioWhoseKeyCannotBeDestroyedIsDestroyedLater makes only the sync of the
// overwritten key fail. The caller gets an error, and the file keeps its name until the
// next call or the next Open destroys the key.
func TestAudioWhoseKeyCannotBeDestroyedIsDestroyedLater(t *testing.T) {
	t.Parallel()
	for _, again := range []string{"next call", "next Open"} {
		t.Run(again, func(t *testing.T) {
			path, sessions := filled(t, 1)
			st := reopen(t, path)
			name := filepath.Join(st.path+suffixAudioDir, sessions[0].Audio+audio.Suffix)
			kept := filepath.Join(t.TempDir(), "kept") // another name of the file: what stays on the disk
			whole := read(t, name)
			if err := os.Link(name, kept); err != nil {
				t.Fatal(err)
			}
			st.audio.Files.Sync = func(*os.File) error { return syscall.ENOSPC }
			if err := st.Delete(t.Context(), "clinic", "s0"); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("Delete: got error %v, want %v", err, syscall.ENOSPC)
			}
			if _, err := st.Forget(t.Context(), "clinic", "nobody"); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("Forget: got error %v, want %v", err, syscall.ENOSPC)
			}
			if err := st.Ping(t.Context()); err != nil {
				t.Errorf("Ping: %v", err)
			}
			write(t, kept, whole) // as if nothing had been written
			st.audio.Files = audio.SystemFiles()
			if again == "next Open" {
				shut(t, st)
				st = reopen(t, path)
			} else if _, err := st.Forget(t.Context(), "clinic", "nobody"); err != nil {
				t.Error(err)
			}
			if left := audioFiles(t, st); len(left) != 0 {
				t.Errorf("got files %v left", left)
			}
			if got := read(t, kept)[:audioHeader]; !bytes.Equal(got, make([]byte, audioHeader)) {
				t.Error("the key is still in the file")
			}
		})
	}
}

// TestAFileThatCannotBeOverwrittenDoesNotPreventOpen puts a directory in the place of
// an audio file: it can neither be written to nor removed.
func TestAFileThatCannotBeOverwrittenDoesNotPreventOpen(t *testing.T) {
	t.Parallel()
	path, _ := filled(t, 0)
	if err := os.MkdirAll(filepath.Join(path+suffixAudioDir, strings.Repeat("A", 26)+audio.Suffix, "file"), 0o700); err != nil {
		t.Fatal(err)
	}
	st := reopen(t, path)
	if err := st.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if ref := putAudio(t, st, "audio"); len(audioFiles(t, st)) != 2 {
		t.Errorf("got %v, want %s too", audioFiles(t, st), ref)
	}
}

// TestOrphanedAudioIsRemovedLater makes Audio.Remove fail for audio that no session
// refers to. A later call removes it, without reopening the store.
func TestOrphanedAudioIsRemovedLater(t *testing.T) {
	t.Parallel()
	st := opened(t)
	ref, err := st.Audio().Put(t.Context(), strings.NewReader("audio"))
	if err != nil {
		t.Fatal(err)
	}
	st.audio.Files.Remove = func(string) error { return fs.ErrPermission }
	if err := st.Audio().Remove(t.Context(), ref); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Audio.Remove: got error %v, want %v", err, fs.ErrPermission)
	}
	st.audio.Files = audio.SystemFiles()
	if err := st.Ping(t.Context()); err != nil { // any later call that removes
		t.Fatal(err)
	}
	if left := audioFiles(t, st); len(left) != 0 {
		t.Errorf("got files %v left", left)
	}
}

// TestNothingOnDiskNamesAPerson searches the names of the files. A plain database may
// contain names.
func TestNothingOnDiskNamesAPerson(t *testing.T) {
	t.Parallel()
	st := opened(t)
	s := sample()
	s.Account, s.ID, s.UserID = "canaryaccount", "canarysession", "canaryuser"
	var err error
	if s.Audio, err = st.Audio().Put(t.Context(), strings.NewReader("audio")); err != nil {
		t.Fatal(err)
	}
	if err := st.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for _, name := range audioFiles(t, st) {
		if strings.Contains(strings.ToLower(name), "canary") || name != s.Audio+audio.Suffix {
			t.Errorf("got file %s", name)
		}
	}
}
