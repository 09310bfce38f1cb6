package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/voicescreen/voicescreen/internal/proof/s3server"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
	"github.com/voicescreen/voicescreen/store/audio/s3"
	"github.com/voicescreen/voicescreen/store/postgres"
	"github.com/voicescreen/voicescreen/store/storetest"
)

// bucketServer is the S3 server of the tests. stopBuckets stops it, if it was started.
var (
	stopBuckets  = func() error { return nil }
	bucketServer = sync.OnceValues(func() (*s3server.Server, error) {
		s, err := s3server.Start()
		if err == nil {
			stopBuckets = s.Stop
		}
		return s, err
	})
	buckets atomic.Int64
)

// newDir returns an empty directory for audio, and where its files are.
func newDir(t *testing.T) (store.Audio, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "audio")
	d, err := audio.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d, dir
}

// newBucket returns an empty bucket for audio, and where the server has its files.
func newBucket(t *testing.T) (store.Audio, string) {
	t.Helper()
	s, err := bucketServer()
	if errors.Is(err, s3server.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprint("test-", buckets.Add(1))
	if err := s.Bucket(name); err != nil {
		t.Fatal(err)
	}
	l, err := s3.ParseURL("s3://" + name + "/prefix?endpoint=" + url.QueryEscape("http://"+s.Addr))
	if err != nil {
		t.Fatal(err)
	}
	b, err := s3.Open(l, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b, filepath.Join(s.Objects(), name)
}

// elsewheres are the kinds of audio beside that in the database.
var elsewheres = map[string]func(t *testing.T) (a store.Audio, files string){"directory": newDir, "bucket": newBucket}

// files returns the contents of all files below a directory.
func files(t *testing.T, dir string) (contents [][]byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return nil
		}
		contents = append(contents, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return contents
}

// TestStoreWithAudioElsewhere runs the suite of stores with an encrypted store and a
// bucket, and where VOICESCREEN_TEST_AUDIO is all, with each kind of audio and without
// encryption too.
func TestStoreWithAudioElsewhere(t *testing.T) {
	t.Parallel()
	all := os.Getenv("VOICESCREEN_TEST_AUDIO") == "all"
	for name, new := range elsewheres {
		for _, key := range [][]byte{nil, testKey} {
			if !all && (name != "bucket" || key == nil) {
				continue
			}
			t.Run(fmt.Sprintf("%s encrypted %v", name, key != nil), func(t *testing.T) {
				t.Parallel()
				storetest.Run(t, func(t *testing.T, now func() time.Time) store.Store {
					a, _ := new(t)
					return open(t, database(t), &postgres.Options{Now: now, Audio: a, Key: key})
				})
			})
		}
	}
}

// A recording elsewhere is removed there soon after its session lets it go, and what a
// process left behind by any other process.
func TestAudioElsewhereIsErased(t *testing.T) {
	t.Parallel()
	for name, new := range elsewheres {
		t.Run(name, func(t *testing.T) {
			a, dir := new(t)
			address := database(t)
			st := open(t, address, &postgres.Options{Audio: a})
			defer func() { _ = st.Close() }()
			var refs []string
			for i := range 3 {
				ref, err := st.Audio().Put(t.Context(), strings.NewReader(strings.Repeat("voice", 1000)))
				if err != nil {
					t.Fatal(err)
				}
				s := newSession(fmt.Sprint(i))
				s.Audio = ref
				if err := st.Create(t.Context(), s); err != nil {
					t.Fatal(err)
				}
				refs = append(refs, ref)
			}
			wantFiles(t, dir, 3)
			if _, err := st.Update(t.Context(), "clinic", "0", func(s *store.Session, _ time.Time) error { s.Audio = ""; return nil }); err != nil {
				t.Fatal(err)
			}
			wantFiles(t, dir, 2)
			other := open(t, address, nil) // a command that knows nothing of the audio
			if _, err := other.Audio().Open(t.Context(), refs[1]); !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, postgres.ErrElsewhere) {
				t.Errorf("a process without the audio: got error %v, want %v", err, store.ErrUnavailable)
			}
			if n, err := other.Forget(t.Context(), "clinic", "patient"); n != 3 || err != nil {
				t.Errorf("Forget: got %d and error %v, want 3", n, err)
			}
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := st.Audio().Open(t.Context(), refs[1]); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("forgotten audio: got error %v, want %v", err, store.ErrNotFound)
			}
			if err := st.Audio().Sweep(t.Context(), 24*time.Hour, nil); err != nil { // or within eraseEvery
				t.Fatal(err)
			}
			wantFiles(t, dir, 0)
			if n, err := started(t).SQL(t.Context(), databaseName(address), "SELECT count(*) FROM voicescreen.audio"); n != "0" || err != nil {
				t.Errorf("got %s rows of audio and error %v, want 0", n, err)
			}
		})
	}
}

// wantFiles waits until a directory has so many files.
func wantFiles(t *testing.T, dir string, want int) {
	t.Helper()
	got := -1
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if got = len(files(t, dir)); got == want {
			return
		}
	}
	t.Errorf("got %d recordings, want %d", got, want)
}

// While the audio does not answer, a recording that was let go stays, and cannot be
// read; afterwards another process removes it.
func TestAudioThatCannotBeErasedIsErasedLater(t *testing.T) {
	t.Parallel()
	a, dir := newDir(t)
	address := database(t)
	st := open(t, address, &postgres.Options{Audio: stubborn{a}, Key: testKey})
	ref, err := st.Audio().Put(t.Context(), strings.NewReader("voice"))
	if err == nil {
		err = st.Audio().Remove(t.Context(), ref)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Audio().Open(t.Context(), ref); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got error %v, want %v", err, store.ErrNotFound)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(files(t, dir)); n != 1 {
		t.Fatalf("got %d recordings, want the one that could not be removed", n)
	}
	if row, err := started(t).SQL(t.Context(), databaseName(address), "SELECT erased, key IS NULL FROM voicescreen.audio"); row != "t|t" || err != nil {
		t.Errorf("got row %q and error %v, want an erased one without its key", row, err)
	}
	other := open(t, address, &postgres.Options{Audio: a, Key: testKey})
	defer func() { _ = other.Close() }()
	wantFiles(t, dir, 0)
}

// Recordings that cannot be removed, more than are looked at together, do not hold up the
// others, and Sweep says why they stay.
func TestAudioThatCannotBeErasedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	a, dir := newDir(t)
	address := database(t)
	before := open(t, address, &postgres.Options{Audio: stubborn{a}})
	ref, err := before.Audio().Put(t.Context(), strings.NewReader("voice"))
	if err == nil {
		err = before.Audio().Remove(t.Context(), ref)
	}
	if err == nil {
		err = before.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	const fixed = 1500
	if _, err := started(t).SQL(t.Context(), databaseName(address), fmt.Sprintf(`
		INSERT INTO voicescreen.audio (ref, put_at, chunks, elsewhere, erased)
		SELECT ' ' || i, clock_timestamp(), 0, true, true FROM generate_series(1, %d) i`, fixed)); err != nil {
		t.Fatal(err)
	}
	st := open(t, address, &postgres.Options{Audio: partly{a}})
	defer func() { _ = st.Close() }()
	for range 2 { // the first call may end behind those that cannot be removed
		err = st.Audio().Sweep(t.Context(), 24*time.Hour, nil)
	}
	if !errors.Is(err, store.ErrUnavailable) || len(err.Error()) > 500 {
		t.Errorf("Sweep: got error %v, want a short one that is %v", err, store.ErrUnavailable)
	}
	wantFiles(t, dir, 0)
	if n, err := started(t).SQL(t.Context(), databaseName(address), "SELECT count(*) FROM voicescreen.audio"); n != fmt.Sprint(fixed) || err != nil {
		t.Errorf("got %s rows and error %v, want the %d that cannot be removed", n, err, fixed)
	}
}

// partly is audio of which some cannot be removed.
type partly struct{ store.Audio }

func (p partly) Remove(ctx context.Context, ref string) error {
	if strings.HasPrefix(ref, " ") {
		return store.ErrUnavailable
	}
	return p.Audio.Remove(ctx, ref)
}

// stubborn is audio that cannot be removed.
type stubborn struct{ store.Audio }

func (stubborn) Remove(context.Context, string) error { return store.ErrUnavailable }

// Nothing of a recording of an encrypted store can be read where it is kept, and a
// change of it is found.
func TestAudioElsewhereIsEncrypted(t *testing.T) {
	t.Parallel()
	a, dir := newDir(t)
	st := opened(t, &postgres.Options{Audio: a, Key: testKey})
	voice := bytes.Repeat([]byte("canary"), 50_000)
	ref, err := st.Audio().Put(t.Context(), iotest.HalfReader(bytes.NewReader(voice)))
	if err != nil {
		t.Fatal(err)
	}
	all := files(t, dir)
	if len(all) != 1 || bytes.Contains(all[0], []byte("canary")) || len(all[0]) < len(voice) {
		t.Errorf("got %d files, want one without the recording in clear", len(all))
	}
	for name, change := range map[string]func(sealed []byte) []byte{
		"cut short": func(sealed []byte) []byte { return sealed[:len(sealed)/2] },
		"altered":   func(sealed []byte) []byte { sealed[len(sealed)/2] ^= 1; return sealed },
	} {
		if err := os.WriteFile(a.(*audio.Dir).Path(ref), change(bytes.Clone(all[0])), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := st.Audio().Open(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(r); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: got error %v, want %v", name, err, store.ErrDamaged)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Recordings that wait in the database are read and erased also by a process that puts
// new ones elsewhere.
func TestAudioOfBothPlaces(t *testing.T) {
	t.Parallel()
	address := database(t)
	before := open(t, address, nil)
	ref, err := before.Audio().Put(t.Context(), strings.NewReader("voice"))
	if err != nil {
		t.Fatal(err)
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	a, _ := newDir(t)
	st := open(t, address, &postgres.Options{Audio: a})
	defer st.Close()
	r, err := st.Audio().Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); string(got) != "voice" || err != nil {
		t.Errorf("got %q and error %v, want the recording", got, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := st.Audio().Remove(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Audio().Open(t.Context(), ref); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got error %v, want %v", err, store.ErrNotFound)
	}
}
