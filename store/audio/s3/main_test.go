package s3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/internal/proof/s3server"
	"github.com/voicescreen/voicescreen/internal/proof/testflag"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio/s3"
)

// shared is the server of most tests; nil if versitygw is not installed.
var shared *s3server.Server

func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": s3server.AccessKey, "AWS_SECRET_ACCESS_KEY": s3server.SecretKey, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_SESSION_TOKEN": "", "AWS_ROLE_ARN": "",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	var err error
	if shared, err = s3server.Start(); err != nil && !errors.Is(err, s3server.ErrNotInstalled) {
		panic(err)
	}
	if err := errors.Join(testflag.Parallel("4"), testflag.Histories(cost.Sized("50", "20"))); err != nil { // as store/bolt
		panic(err)
	}
	code := m.Run()
	if shared != nil {
		if err := shared.Stop(); err != nil {
			panic(err)
		}
	}
	if code == 0 {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		if err := goleak.Find(goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop")); err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

// started returns the shared server.
func started(t testing.TB) *s3server.Server {
	t.Helper()
	if shared == nil {
		t.Skip(s3server.ErrNotInstalled)
	}
	return shared
}

// own starts a server that the test may kill.
func own(t *testing.T, options ...string) *s3server.Server {
	t.Helper()
	started(t)
	s, err := s3server.Start(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var buckets atomic.Int64

// newBucket makes a bucket and returns its name.
func newBucket(t testing.TB, s *s3server.Server) string {
	t.Helper()
	name := "test-" + strconv.FormatInt(buckets.Add(1), 10)
	if err := s.Bucket(name); err != nil {
		t.Fatal(err)
	}
	return name
}

// open opens the location s3://path at a server.
func open(t testing.TB, path, addr string, opts *s3.Options) *s3.Bucket {
	t.Helper()
	if !strings.Contains(addr, "://") {
		addr = "http://" + addr
	}
	mark := "?"
	if strings.Contains(path, "?") {
		mark = "&"
	}
	l, err := s3.ParseURL("s3://" + path + mark + "endpoint=" + url.QueryEscape(addr))
	if err != nil {
		t.Fatal(err)
	}
	b, err := s3.Open(l, opts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// proxy is an HTTP proxy in front of a server.
type proxy struct {
	*httptest.Server
	ask    atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool]
	answer atomic.Pointer[func(*http.Response) error]
}

func newProxy(t testing.TB, addr string) *proxy {
	t.Helper()
	p := &proxy{}
	forward := &httputil.ReverseProxy{
		ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: addr})
			r.Out.Host = r.In.Host // it is signed
		},
		ModifyResponse: func(r *http.Response) error {
			if answer := p.answer.Load(); answer != nil {
				return (*answer)(r)
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // as a broken connection
	}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ask := p.ask.Load(); ask != nil && (*ask)(w, r) {
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// onRequest sets what is done with requests: the function answers one and returns true,
// or returns false and leaves it to the server.
func (p *proxy) onRequest(f func(w http.ResponseWriter, r *http.Request) bool) { p.ask.Store(&f) }

// onAnswer sets a function that changes the answers of the server. If it returns an error,
// the connection breaks.
func (p *proxy) onAnswer(f func(*http.Response) error) { p.answer.Store(&f) }

func put(t testing.TB, a store.Audio, data []byte) string {
	t.Helper()
	ref, err := a.Put(t.Context(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func read(ctx context.Context, a store.Audio, ref string) ([]byte, error) {
	f, err := a.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
}

func wantAudio(t testing.TB, a store.Audio, ref string, want []byte) {
	t.Helper()
	if got, err := read(t.Context(), a, ref); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: got %d bytes and error %v, want the %d bytes stored", ref, len(got), err, len(want))
	}
}

func wantErr(t testing.TB, call string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got error %v, want %v", call, got, want)
	}
}

// files returns the names of the files of a bucket, without the metadata of the server.
func files(t testing.TB, s *s3server.Server, bucket string) (names []string) {
	t.Helper()
	root := filepath.Join(s.Objects(), bucket)
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(root, path)
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// noise returns n random bytes.
func noise(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(data) // never fails
	return data
}

// long is a recording of three parts.
var long = noise(11<<20 + 3)

// soon is a time-out for servers that do not answer.
const soon = 300 * time.Millisecond
