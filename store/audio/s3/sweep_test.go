package s3_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/voicescreen/voicescreen/internal/proof/s3server"
	"github.com/voicescreen/voicescreen/store"
)

// newClient returns a client for what Bucket does not do.
func newClient(t *testing.T, addr string) *minio.Core {
	t.Helper()
	c, err := minio.NewCore(addr, &minio.Options{Creds: credentials.NewStaticV4(s3server.AccessKey, s3server.SecretKey, ""), Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// begin begins an upload in parts.
func begin(t *testing.T, c *minio.Core, bucket, name string) (id string) {
	t.Helper()
	id, err := c.NewMultipartUpload(t.Context(), bucket, name, minio.PutObjectOptions{})
	if err == nil {
		_, err = c.PutObjectPart(t.Context(), bucket, name, id, 1, bytes.NewReader(long[:5<<20]), 5<<20, minio.PutObjectPartOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// uploads returns the names of what is uploaded in parts.
func uploads(t *testing.T, c *minio.Core, bucket string) (names []string) {
	t.Helper()
	for upload := range c.ListIncompleteUploads(t.Context(), bucket, "", true) {
		if upload.Err != nil {
			t.Fatal(upload.Err)
		}
		names = append(names, upload.Key)
	}
	return names
}

// TestSweepRemovesByAge sweeps audio and incomplete uploads of now and of two days ago,
// and other objects.
func TestSweepRemovesByAge(t *testing.T) {
	server := started(t)
	bucket := newBucket(t, server)
	b, c := open(t, bucket+"/p", server.Addr, nil), newClient(t, server.Addr)
	fresh, stale, kept := put(t, b, []byte("fresh")), put(t, b, []byte("stale")), put(t, b, []byte("kept"))
	other := put(t, open(t, bucket+"/prefix", server.Addr, nil), []byte("other"))
	var notes []string
	for _, name := range []string{"p/notes.txt", "p/" + stale, "p/a/" + stale + ".audio", stale + ".audio", "p/" + strings.ToLower(stale) + ".audio"} {
		if _, err := c.PutObject(t.Context(), bucket, name, bytes.NewReader([]byte("x")), 1, "", "", minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
		notes = append(notes, name)
	}
	old := time.Now().Add(-48 * time.Hour)
	for _, name := range append(notes, "p/"+stale+".audio", "p/"+kept+".audio", "prefix/"+other+".audio") {
		if err := os.Chtimes(filepath.Join(server.Objects(), bucket, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	unfinished := func(letter string) string { return strings.Repeat(letter, 26) + ".audio" }
	id := begin(t, c, bucket, "p/"+unfinished("A"))
	begin(t, c, bucket, "p/"+unfinished("B"))
	begin(t, c, bucket, unfinished("C"))
	dirs, err := filepath.Glob(filepath.Join(server.Objects(), bucket, ".sgwtmp", "multipart", "*", id))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("got the directories %q of an upload and error %v, want one", dirs, err)
	}
	if err := os.Chtimes(dirs[0], old, old); err != nil {
		t.Fatal(err)
	}

	if err := b.Sweep(t.Context(), 24*time.Hour, func(ref string) bool { return ref == kept }); err != nil {
		t.Fatal(err)
	}
	want := append(notes, "p/"+fresh+".audio", "p/"+kept+".audio", "prefix/"+other+".audio")
	var got []string
	for _, name := range files(t, server, bucket) {
		if !strings.HasPrefix(name, ".sgwtmp") {
			got = append(got, name)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got objects %q, want %q", got, want)
	}
	left := uploads(t, c, bucket)
	slices.Sort(left)
	if want := []string{unfinished("C"), "p/" + unfinished("B")}; !slices.Equal(left, want) {
		t.Errorf("got uploads %q, want %q", left, want)
	}
	wantErr(t, "Sweep", b.Sweep(t.Context(), 0, nil), nil)
	if left := uploads(t, c, bucket); !slices.Equal(left, []string{unfinished("C")}) {
		t.Errorf("got uploads %q, want that of another prefix", left)
	}
	_, err = read(t.Context(), b, kept)
	wantErr(t, "Open", err, store.ErrNotFound)
}

// TestSweepTakesTheServersTime gives the server a clock that is two hours ahead of that
// of this process, and then one that it does not show.
func TestSweepTakesTheServersTime(t *testing.T) {
	server := started(t)
	p := newProxy(t, server.Addr)
	bucket := newBucket(t, server)
	b, c := open(t, bucket, p.URL, nil), newClient(t, server.Addr)
	date := func(at string) func(*http.Response) error {
		return func(r *http.Response) error { r.Header["Date"] = []string{at}; return nil }
	}
	ref := put(t, b, []byte("audio"))
	begin(t, c, bucket, strings.Repeat("A", 26)+".audio")
	p.onAnswer(date("soon"))
	if err := b.Sweep(t.Context(), time.Hour, nil); err == nil || !strings.Contains(err.Error(), "no time") {
		t.Errorf("Sweep without a time: got error %v", err)
	}
	p.onAnswer(date(time.Now().Add(-2 * time.Hour).UTC().Format(http.TimeFormat)))
	wantErr(t, "Sweep with a clock behind", b.Sweep(t.Context(), time.Second, nil), nil)
	wantAudio(t, b, ref, []byte("audio"))
	if left := uploads(t, c, bucket); len(left) != 1 {
		t.Errorf("got uploads %q, want one", left)
	}
	p.onAnswer(date(time.Now().Add(2 * time.Hour).UTC().Format(http.TimeFormat)))
	wantErr(t, "Sweep with a clock ahead", b.Sweep(t.Context(), time.Hour, nil), nil)
	_, err := read(t.Context(), b, ref)
	wantErr(t, "Open", err, store.ErrNotFound)
	if left := uploads(t, c, bucket); len(left) != 0 {
		t.Errorf("got uploads %q, want none", left)
	}
}

// TestSweepOfManyPages sweeps more objects than a server lists at a time, some of which
// it refuses to remove.
func TestSweepOfManyPages(t *testing.T) {
	t.Parallel()
	server := started(t)
	p := newProxy(t, server.Addr)
	bucket := newBucket(t, server)
	b := open(t, bucket+"/p", p.URL, nil)
	if err := os.Mkdir(filepath.Join(server.Objects(), bucket, "p"), 0o700); err != nil {
		t.Fatal(err)
	}
	const n = 1203
	letters := "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	for i := range n {
		name := strings.Repeat("A", 23) + string([]byte{letters[i/1024], letters[i/32%32], letters[i%32]}) + ".audio"
		if err := os.WriteFile(filepath.Join(server.Objects(), bucket, "p", name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	p.onRequest(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete {
			cancel()
		}
		return false
	})
	wantErr(t, "Sweep", b.Sweep(ctx, 0, nil), context.Canceled)
	p.onRequest(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodDelete || !strings.HasSuffix(r.URL.Path, "AAAB.audio") {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	err := b.Sweep(t.Context(), 0, nil)
	if err == nil || errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "remove") {
		t.Errorf("got error %v, want that one object cannot be removed", err)
	}
	if names := files(t, server, bucket); len(names) != 1 {
		t.Errorf("got %d objects, want only the one that cannot be removed", len(names))
	}
}
