package bolt_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/voicescreen/voicescreen/store/bolt"
)

// foreign are files that are not stores of this version, and the text that the error of
// Open must contain.
var foreign = map[string]struct {
	make func(path string) error
	says string
}{
	"an empty file":                  {content(""), "empty"},
	"a text":                         {content("path,label\na.wav,1\n"), "invalid"},
	"a long text":                    {content(strings.Repeat("not a database ", 10_000)), "invalid"},
	"zeros":                          {content(strings.Repeat("\x00", 100_000)), "invalid"},
	"an empty database":              {database(func(*bbolt.Tx) error { return nil }), "another program"},
	"the database of another":        {database(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("meta")); return err }), "another program"},
	"a newer version":                {version("6"), "format is \"6\", this program knows \"1\""},
	"a version that is not a number": {version("new"), "\"new\""},
	"an empty version":               {version(""), "format is \"\""},
}

func content(b string) func(path string) error {
	return func(path string) error { return os.WriteFile(path, []byte(b), 0o600) }
}

func database(fill func(tx *bbolt.Tx) error) func(path string) error {
	return func(path string) error {
		db, err := bbolt.Open(path, 0o600, nil)
		if err != nil {
			return err
		}
		return errors.Join(db.Update(fill), db.Close())
	}
}

func version(format string) func(path string) error {
	return database(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte("meta"))
		return errors.Join(err, b.Put([]byte("application"), []byte("voicescreen")), b.Put([]byte("format"), []byte(format)))
	})
}

func TestOnlyStoresOfAKnownVersionAreOpened(t *testing.T) {
	t.Parallel()
	for name, c := range foreign {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "test.db")
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the first Open must have released the lock
				_, err = bolt.Open(path, &bolt.Options{LockTimeout: -1})
				if !errors.Is(err, bolt.ErrFormat) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
					t.Errorf("got error %v, want one that names the file and says %q", err, c.says)
				}
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
				t.Errorf("the file was changed (%v)", err)
			}
			if names := files(t, dir); len(names) != 1 {
				t.Errorf("got files %v, want only the one that was there", names)
			}
		})
	}
}

func TestADamagedDatabaseIsRefusedOrReadAsItWas(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	st, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	fillStore(t, st, 20, result)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	for name, damaged := range map[string][]byte{
		"cut after the first pages": whole[:4*page],
		"cut in the middle":         whole[:len(whole)/2/page*page],
		"cut to less than a page":   whole[:100],
		"the second half is zero":   append(append([]byte{}, whole[:len(whole)/2]...), make([]byte, len(whole)/2)...),
		"all but the meta is noise": append(append([]byte{}, whole[:2*page]...), []byte(strings.Repeat("\xa5\x5a\x01\xff", len(whole)/4))...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.db")
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				st, err := bolt.Open(path, &bolt.Options{LockTimeout: -1})
				if err != nil {
					if !errors.Is(err, bolt.ErrCorrupt) && !errors.Is(err, bolt.ErrFormat) {
						t.Errorf("got error %v, want %v or %v", err, bolt.ErrCorrupt, bolt.ErrFormat)
					}
					continue
				}
				for i := range 20 {
					s, err := st.Get(t.Context(), "clinic", benchID(i))
					if err == nil && s.Features["feature.7.mean"] != result(i).Features["feature.7.mean"] {
						t.Errorf("session %d: got another record than was stored", i)
					}
				}
				_ = st.Close() // of a damaged store
			}
		})
	}
}

func TestFilesBelongToTheirOwner(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // Windows has no such permissions
	}
	dir := t.TempDir()
	st := openIn(t, dir, nil)
	ref, err := st.Audio().Put(t.Context(), strings.NewReader("audio"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{
		"test.db": 0o600, "test.db.audio": fs.ModeDir | 0o700, filepath.Join("test.db.audio", ref+".audio"): 0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode() != want {
			t.Errorf("%s: got mode %v (%v), want %v", name, info.Mode(), err, want)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOpenSweepsWhatACrashLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := openIn(t, dir, nil)
	kept, err := st.Audio().Put(t.Context(), strings.NewReader("kept"))
	if err != nil {
		t.Fatal(err)
	}
	s := result(1)
	s.Audio = kept
	if err := st.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	orphan, err := st.Audio().Put(t.Context(), strings.NewReader("orphan"))
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	random := strings.Repeat("A", 26)
	for _, name := range []string{
		"test.db.audio/" + random + ".part", "test.db.audio/" + kept + ".part", "test.db.new-" + random, // ours
		"test.db.audio/notes.txt", "test.db.audio/x.audio", "test.db.audio/" + random, "test.db.new-x", "other.db.new-" + random, random + ".part", // not ours
	} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	st = openIn(t, dir, nil)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		random + ".part", "other.db.new-" + random, "test.db", "test.db.audio/" + random, "test.db.audio/" + kept + ".audio",
		"test.db.audio/notes.txt", "test.db.audio/x.audio", "test.db.new-x",
	}
	got := files(t, dir)
	for _, name := range want {
		if !got[name] {
			t.Errorf("%s was removed, want it kept", name)
		}
		delete(got, name)
	}
	if len(got) != 0 {
		t.Errorf("got %v left, want it swept (the orphan was %s)", got, orphan)
	}
}

func TestOpenNamesTheFault(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, path := range map[string]string{
		"no path":            "",
		"a directory":        dir,
		"no such directory":  filepath.Join(dir, "none", "test.db"),
		"a file as the way":  filepath.Join(dir, "file", "test.db"),
		"audio is in a file": filepath.Join(dir, "blocked.db"),
	} {
		for _, file := range []string{"file", "blocked.db.audio"} {
			if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		st, err := bolt.Open(path, nil)
		if err == nil {
			_ = st.Close()
		}
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got error %v, want one that names the path", name, err)
		}
	}
}

func TestPingFailsIfTheDatabaseWasMoved(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // Windows does not rename an open file
	}
	dir := t.TempDir()
	st := openIn(t, dir, nil)
	defer st.Close()
	if err := st.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "test.db"), filepath.Join(dir, "moved.db")); err != nil {
		t.Fatal(err)
	}
	if err := st.Ping(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v, want %v", err, fs.ErrNotExist)
	}
	if err := os.WriteFile(filepath.Join(dir, "test.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := st.Ping(t.Context()); err == nil {
		t.Error("got no error though the path is another file")
	}
}

// files returns the files below dir, by path with slashes.
func files(t *testing.T, dir string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names[name] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
