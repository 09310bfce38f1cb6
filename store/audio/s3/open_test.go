package s3_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio/s3"
)

// breakAfter makes the body of each longer answer break after n bytes.
func breakAfter(n int64) func(r *http.Response) error {
	return func(r *http.Response) error {
		if r.Request.Method == http.MethodGet && r.ContentLength > n {
			r.Body = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(io.LimitReader(r.Body, n), readerFunc(func([]byte) (int, error) { return 0, errBroken })), r.Body}
		}
		return nil
	}
}

func TestReadingGoesOnAfterABrokenConnection(t *testing.T) {
	t.Parallel()
	server := started(t)
	p := newProxy(t, server.Addr)
	b := open(t, newBucket(t, server), p.URL, nil)
	ref := put(t, b, long)
	p.onAnswer(breakAfter(1 << 20))
	wantAudio(t, b, ref, long)

	p.onAnswer(breakAfter(0))
	_, err := read(t.Context(), b, ref)
	wantErr(t, "Read without progress", err, store.ErrUnavailable)

	p.onAnswer(breakAfter(1 << 20))
	f, err := b.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(f, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "Remove", b.Remove(t.Context(), ref), nil)
	_, err = io.Copy(io.Discard, f)
	wantErr(t, "Read of audio removed meanwhile", err, store.ErrNotFound)
	wantErr(t, "Close", f.Close(), nil)
}

// TestTheServerIsSlow has a server that answers late, one that never answers, and one
// whose answers stop.
func TestTheServerIsSlow(t *testing.T) {
	t.Parallel()
	server := started(t)
	p := newProxy(t, server.Addr)
	bucket := newBucket(t, server)
	patient := open(t, bucket, p.URL, &s3.Options{Timeout: 10 * soon}) // a loaded machine takes its time
	ref := put(t, patient, long)
	p.onRequest(func(http.ResponseWriter, *http.Request) bool { time.Sleep(soon); return false })
	wantAudio(t, patient, put(t, patient, []byte("late")), []byte("late"))
	wantAudio(t, patient, ref, long)

	b := open(t, bucket, p.URL, &s3.Options{Timeout: soon})
	p.onRequest(func(_ http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		return true
	})
	var calls sync.WaitGroup
	for name, call := range map[string]func() error{
		"Put":    func() error { _, err := b.Put(t.Context(), bytes.NewReader(long)); return err },
		"Open":   func() error { _, err := b.Open(t.Context(), ref); return err },
		"Remove": func() error { return b.Remove(t.Context(), ref) },
		"Sweep":  func() error { return b.Sweep(t.Context(), 0, nil) },
		"Ping":   func() error { return b.Ping(t.Context()) },
	} {
		calls.Go(func() {
			start := time.Now()
			err := call()
			if took := time.Since(start); !errors.Is(err, store.ErrUnavailable) || took > 15*time.Second {
				t.Errorf("%s: got error %v after %v, want %v within seconds", name, err, took, store.ErrUnavailable)
			}
		})
	}
	calls.Wait()

	p.onRequest(func(http.ResponseWriter, *http.Request) bool { return false })
	var stopped atomic.Int64
	p.onAnswer(func(r *http.Response) error { // the second MB of each answer takes longer than the time-out
		if r.Request.Method == http.MethodGet && r.ContentLength > 1<<20 {
			body := r.Body
			r.Body = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(io.LimitReader(body, 1<<20), readerFunc(func(p []byte) (int, error) {
				stopped.Add(1)
				<-r.Request.Context().Done()
				return 0, errBroken
			})), body}
		}
		return nil
	})
	wantAudio(t, open(t, bucket, p.URL, &s3.Options{Timeout: 3 * soon}), ref, long)
	if stopped.Load() < 5 {
		t.Errorf("%d answers stopped, want most of 10", stopped.Load())
	}
}

// An answer in chunks, as of a proxy, has no length: it is asked for.
func TestAnswersWithoutALengthAreRead(t *testing.T) {
	server := started(t)
	p := newProxy(t, server.Addr)
	b := open(t, newBucket(t, server), p.URL, nil)
	data := noise(100_000)
	ref := put(t, b, data)
	p.onAnswer(func(r *http.Response) error {
		if r.Request.Method == http.MethodGet {
			r.Header.Del("Content-Length")
			r.ContentLength = -1
		}
		return nil
	})
	wantAudio(t, b, ref, data)
}

// A server that answers with everything where a part was asked for, or with another object,
// makes no recording of two beginnings.
func TestOtherBytesAreNotRead(t *testing.T) {
	started(t)
	data := noise(3 << 20)
	for name, etag := range map[string]string{"all of it": `"abc"`, "another": `"xyz"`} {
		requests := 0
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			requests++
			w.Header().Set("ETag", `"abc"`)
			w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			if requests == 1 {
				_, _ = w.Write(data[:1<<20])
				panic(http.ErrAbortHandler)
			}
			w.Header().Set("ETag", etag)
			_, _ = w.Write(data)
		}))
		b := open(t, "bucket", front.URL, nil)
		if got, err := read(t.Context(), b, "AAAAAAAAAAAAAAAAAAAAAAAAAA"); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: got %d bytes and error %v, want %v", name, len(got), err, store.ErrUnavailable)
		}
		front.Close()
	}
}
