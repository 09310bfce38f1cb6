package bolt_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"github.com/voicescreen/voicescreen/store/bolt"
)

// envHold makes the test binary open the store of that path, say so and wait
// for the end of its input.
const envHold = "VOICESCREEN_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(envHold); path != "" {
		if _, err := bolt.Open(path, nil); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("open")
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		os.Exit(0)
	}
	if path := os.Getenv(envCrash); path != "" {
		work(path)
	}
	goleak.VerifyTestMain(m)
}

func TestASecondOpenerIsTold(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	st, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for timeout, least := range map[time.Duration]time.Duration{-1: 0, 100 * time.Millisecond: 50 * time.Millisecond} {
		began := time.Now()
		_, err = bolt.Open(path, &bolt.Options{LockTimeout: timeout})
		if !errors.Is(err, bolt.ErrLocked) {
			t.Errorf("time-out %v: got error %v, want %v", timeout, err, bolt.ErrLocked)
		}
		if waited := time.Since(began); waited < least {
			t.Errorf("time-out %v: gave up after %v", timeout, waited)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st, err = bolt.Open(path, nil)
	if err != nil {
		t.Fatalf("after Close: %v", err)
	}
	_ = st.Close()
}

func TestOpenWaitsForTheLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	st, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(100 * time.Millisecond)
		_ = st.Close()
	}()
	second, err := bolt.Open(path, &bolt.Options{LockTimeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	_ = second.Close()
}

func TestAnotherProcessLocksAndItsDeathUnlocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), envHold+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		t.Fatalf("the other process says %q (%v)", line, err)
	}
	_, err = bolt.Open(path, &bolt.Options{LockTimeout: -1})
	if !errors.Is(err, bolt.ErrLocked) || !strings.Contains(err.Error(), "already open by another process") || !strings.Contains(err.Error(), path) {
		t.Errorf("got error %v, want one that names the file and says %v", err, bolt.ErrLocked)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	st, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatalf("after the other process was killed: %v", err)
	}
	_ = st.Close()
}

func TestOnlyStoresOfAKnownVersionAreOpened(t *testing.T) {
	t.Parallel()
	database := func(fill func(tx *bbolt.Tx) error) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := bbolt.Open(path, 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.Update(fill), db.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	bytes := func(b string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(b), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	meta := func(format string) func(t *testing.T, path string) {
		return database(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucket([]byte("meta"))
			return errors.Join(err, b.Put([]byte("application"), []byte("voicescreen")), b.Put([]byte("format"), []byte(format)))
		})
	}
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		says string
	}{
		"an empty file":                 {bytes(""), "empty"},
		"a text":                        {bytes("path,label\na.wav,1\n"), "invalid"},
		"a long text":                   {bytes(strings.Repeat("not a database ", 10_000)), "invalid"},
		"zeros":                         {bytes(strings.Repeat("\x00", 100_000)), "invalid"},
		"an empty database":             {database(func(*bbolt.Tx) error { return nil }), "another program"},
		"the database of another":       {database(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("meta")); return err }), "another program"},
		"a newer version":               {meta("2"), "version is 2, this program knows 1"},
		"a version that is no number":   {meta("new"), "malformed"},
		"a version that stands nowhere": {meta(""), "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "test.db")
			c.make(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // a second time: the first must not have kept the lock
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
	fillStore(t, st, 20)
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
		return // has no such permissions
	}
	dir := t.TempDir()
	st := openIn(t, dir)
	ref, err := st.PutAudio(t.Context(), strings.NewReader("audio"))
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
	st := openIn(t, dir)
	kept, err := st.PutAudio(t.Context(), strings.NewReader("kept"))
	if err != nil {
		t.Fatal(err)
	}
	s := result(1)
	s.Audio = kept
	if err := st.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	orphan, err := st.PutAudio(t.Context(), strings.NewReader("orphan"))
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
	st = openIn(t, dir)
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
			t.Errorf("%s is gone, want it kept", name)
		}
		delete(got, name)
	}
	if len(got) != 0 {
		t.Errorf("got %v left, want it swept (the orphan was %s)", got, orphan)
	}
}

// TestRacingCreationsMakeOneStore opens a store that does not exist many times
// at once: nothing that one of them stored may be lost to another's creation.
func TestRacingCreationsMakeOneStore(t *testing.T) {
	t.Parallel()
	const openers = 8
	dir := t.TempDir()
	path := filepath.Join(dir, "test.db")
	var all sync.WaitGroup
	for i := range openers {
		all.Go(func() {
			st, err := bolt.Open(path, &bolt.Options{LockTimeout: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			if err := errors.Join(st.Create(t.Context(), result(i)), st.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	st := openIn(t, dir)
	defer st.Close()
	list, err := st.List(t.Context(), "clinic", "patient", nil, 2*openers)
	if err != nil || len(list) != openers {
		t.Errorf("got %d sessions and error %v, want %d", len(list), err, openers)
	}
	if names := files(t, dir); len(names) != 1 {
		t.Errorf("got files %v, want the database alone", names)
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

func TestPingSeesThatTheDatabaseIsGone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // does not let go of a file that is open
	}
	dir := t.TempDir()
	st := openIn(t, dir)
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
