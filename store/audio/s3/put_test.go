package s3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio/s3"
)

var errBroken = errors.New("broken off")

func TestPutThatBreaksOffLeavesNothing(t *testing.T) {
	server := started(t)
	bucket := newBucket(t, server)
	b := open(t, bucket, server.Addr, nil)
	for _, n := range []int{0, 1, 100_000, 5 << 20, 5<<20 + 1, 11 << 20} {
		before := io.LimitReader(bytes.NewReader(long), int64(n))
		ref, err := b.Put(t.Context(), io.MultiReader(before, iotest.ErrReader(errBroken)))
		if ref != "" || err != errBroken { // as it is
			t.Errorf("%d bytes: got reference %q and error %v, want the error itself", n, ref, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ref, err = b.Put(ctx, io.MultiReader(io.LimitReader(bytes.NewReader(long), int64(n)), readerFunc(func([]byte) (int, error) {
			cancel()
			return 0, nil
		})))
		if ref != "" || !errors.Is(err, context.Canceled) {
			t.Errorf("%d bytes, then cancelled: got reference %q and error %v", n, ref, err)
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = b.Put(t.Context(), io.MultiReader(io.LimitReader(bytes.NewReader(long), int64(n)), readerFunc(func([]byte) (int, error) { panic(errBroken) })))
			t.Error("got no panic")
		}()
		if names := files(t, server, bucket); len(names) != 0 {
			t.Errorf("%d bytes: got %q, want nothing", n, names)
		}
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestLostAnswers lets the server do what it is asked, and loses its answer, once for
// each request of an upload.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	server := started(t)
	p := newProxy(t, server.Addr)
	for _, data := range [][]byte{noise(1000), long} {
		for lost := range 7 { // the requests of an upload in three parts are 5
			bucket := newBucket(t, server)
			var requests, completions atomic.Int64
			p.onRequest(func(w http.ResponseWriter, r *http.Request) bool { // versitygw takes a second completion, others do not
				if r.Method != http.MethodPost || !r.URL.Query().Has("uploadId") || completions.Add(1) == 1 {
					return false
				}
				w.WriteHeader(http.StatusNotFound)
				_, _ = io.WriteString(w, "<Error><Code>NoSuchUpload</Code></Error>")
				return true
			})
			p.onAnswer(func(*http.Response) error {
				if requests.Add(1) == int64(lost) {
					return errBroken
				}
				return nil
			})
			ref, err := open(t, bucket, p.URL, nil).Put(t.Context(), bytes.NewReader(data))
			p.onAnswer(func(*http.Response) error { return nil })
			direct := open(t, bucket, server.Addr, nil)
			if err == nil {
				wantAudio(t, direct, ref, data)
				wantErr(t, "Remove", direct.Remove(t.Context(), ref), nil)
			} else {
				t.Errorf("%d bytes, answer %d lost: %v", len(data), lost, err)
			}
			wantErr(t, "Sweep", direct.Sweep(t.Context(), 0, nil), nil) // an upload may have begun twice
			if names := files(t, server, bucket); len(names) != 0 {
				t.Errorf("%d bytes, answer %d lost, error %v: got %q, want nothing", len(data), lost, err, names)
			}
		}
	}
}

// TestAllAnswersAreLost loses every answer to the request that makes the object.
func TestAllAnswersAreLost(t *testing.T) {
	t.Parallel()
	server := started(t)
	p := newProxy(t, server.Addr)
	for _, data := range [][]byte{noise(1000), long} {
		bucket := newBucket(t, server)
		p.onAnswer(func(r *http.Response) error {
			q := r.Request.URL.Query()
			if r.Request.Method == http.MethodHead || r.Request.Method == http.MethodPut && !q.Has("partNumber") || r.Request.Method == http.MethodPost && q.Has("uploadId") {
				return errBroken
			}
			return nil
		})
		_, err := open(t, bucket, p.URL, nil).Put(t.Context(), bytes.NewReader(data))
		wantErr(t, "Put", err, store.ErrUnavailable)
		if names := files(t, server, bucket); len(names) != 0 {
			t.Errorf("%d bytes: got %q, want nothing", len(data), names)
		}
	}
}

// TestServerIsKilled kills the server under uploads and starts it again.
func TestServerIsKilled(t *testing.T) {
	t.Parallel()
	server := own(t)
	bucket := newBucket(t, server)
	b := open(t, bucket, server.Addr, &s3.Options{Timeout: 2 * time.Second})
	acknowledged := map[string][]byte{}
	for range 3 {
		var mu sync.Mutex // protects acknowledged
		var calls sync.WaitGroup
		failed := 0
		down := make(chan struct{})
		kill := sync.OnceFunc(func() {
			defer close(down)
			if err := server.Kill(); err != nil {
				t.Error(err)
			}
		})
		for i := range 6 {
			calls.Go(func() {
				data := long[:len(long)-i]
				at := 0
				ref, err := b.Put(t.Context(), readerFunc(func(p []byte) (int, error) {
					if i == 0 && at > 6<<20 {
						kill()
					}
					n := copy(p, data[at:])
					at += n
					if n == 0 {
						return 0, io.EOF
					}
					return n, nil
				}))
				if i == 0 {
					kill() // also if nothing was read
				}
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					acknowledged[ref] = data
					return
				}
				failed++
				wantErr(t, "Put", err, store.ErrUnavailable)
			})
		}
		<-down
		wantUnavailable(t, b, &calls)
		calls.Wait()
		if failed == 0 {
			t.Error("no upload failed, want at least the one that killed the server")
		}
		if err := server.Restart(); err != nil {
			t.Fatal(err)
		}
		wantErr(t, "Sweep", b.Sweep(t.Context(), 0, func(ref string) bool { return acknowledged[ref] != nil }), nil)
		acknowledged[put(t, b, []byte("after"))] = []byte("after")
		for ref, data := range acknowledged {
			wantAudio(t, b, ref, data)
		}
		if names := files(t, server, bucket); len(names) != len(acknowledged) {
			t.Errorf("got %q, want the %d recordings acknowledged", names, len(acknowledged))
		}
	}
}

// wantUnavailable begins each call but Put at a server that is down.
func wantUnavailable(t *testing.T, b *s3.Bucket, calls *sync.WaitGroup) {
	for name, call := range map[string]func() error{
		"Open":   func() error { _, err := read(t.Context(), b, strings.Repeat("A", 26)); return err },
		"Remove": func() error { return b.Remove(t.Context(), strings.Repeat("A", 26)) },
		"Sweep":  func() error { return b.Sweep(t.Context(), 0, nil) },
		"Ping":   func() error { return b.Ping(t.Context()) },
	} {
		calls.Go(func() { wantErr(t, name, call(), store.ErrUnavailable) })
	}
}

// TestTheServerIsFull has answers of several servers.
func TestTheServerIsFull(t *testing.T) {
	t.Parallel()
	server := started(t)
	p := newProxy(t, server.Addr)
	for _, c := range []struct {
		code   string
		status int
	}{{"InsufficientStorage", 507}, {"QuotaExceeded", 403}, {"XMinioStorageFull", 507}, {"XMinioAdminBucketQuotaExceeded", 400}, {"Anything", 507}} {
		for _, data := range [][]byte{noise(1000), long} {
			bucket := newBucket(t, server)
			b := open(t, bucket, p.URL, nil)
			p.onRequest(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPut || r.URL.Query().Get("partNumber") == "1" {
					return false
				}
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, "<Error><Code>"+c.code+"</Code><Message>full</Message></Error>")
				return true
			})
			_, err := b.Put(t.Context(), bytes.NewReader(data))
			if !errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%s, %d bytes: got error %v, want %v", c.code, len(data), err, store.ErrFull)
			}
			if names := files(t, server, bucket); len(names) != 0 {
				t.Errorf("%s, %d bytes: got %q, want nothing", c.code, len(data), names)
			}
		}
	}
}

// TestPutIsBounded sends a long recording and measures the memory meanwhile.
func TestPutIsBounded(t *testing.T) {
	server := started(t)
	b := open(t, newBucket(t, server), server.Addr, nil)
	const size, bound = 96 << 20, 16 << 20 // a part, its signature, buffers of the connection
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	base, most, left := heap(), uint64(0), size
	ref, err := b.Put(t.Context(), readerFunc(func(p []byte) (int, error) {
		if left == 0 {
			return 0, io.EOF
		}
		n := min(left, len(p))
		clear(p[:n])
		left -= n
		if left%(4<<20) == 0 {
			most = max(most, heap())
		}
		return n, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if most > base+bound {
		t.Errorf("got %d bytes more in use, want at most %d", most-base, bound)
	}
	f, err := b.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	base = heap()
	n, err := io.Copy(writerFunc(func(p []byte) (int, error) { return len(p), nil }), f)
	if now := heap(); n != size || err != nil || now > base+bound {
		t.Errorf("got %d bytes, error %v and %d bytes more in use", n, err, now-base)
	}
	wantErr(t, "Close", f.Close(), nil)
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
