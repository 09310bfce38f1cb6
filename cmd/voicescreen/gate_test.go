//go:build unix

package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// gate is a TCP proxy in front of a socket, whose network can fail.
type gate struct {
	target string // the path of a unix socket
	l      net.Listener

	mu     sync.Mutex // protects what follows
	open   *sync.Cond // on mu: closed is false
	conns  map[net.Conn]bool
	closed bool // what is sent waits until the network is there again
	refuse bool // connections end, and new ones do too
}

func newGate(t testing.TB, target string) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{target: target, l: l, conns: map[net.Conn]bool{}}
	g.open = sync.NewCond(&g.mu)
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		g.set(false, true)
		all.Wait()
	})
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { g.serve(c) })
		}
	})
	return g
}

// set makes the network silent, or broken, or whole.
func (g *gate) set(closed, refuse bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed, g.refuse = closed, refuse
	g.open.Broadcast()
	if refuse {
		for c := range g.conns {
			_ = c.Close()
		}
	}
}

func (g *gate) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", g.target)
	if err != nil {
		return // as if nobody listened
	}
	defer server.Close()
	g.mu.Lock()
	refuse := g.refuse
	if !refuse {
		g.conns[client], g.conns[server] = true, true
	}
	g.mu.Unlock()
	if refuse {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { g.pass(client, server) })
	g.pass(server, client)
	both.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.conns, client)
	delete(g.conns, server)
}

// pass passes on what comes from src.
func (g *gate) pass(dst, src net.Conn) {
	defer dst.Close()
	defer src.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := src.Read(buf)
		g.mu.Lock()
		for g.closed {
			g.open.Wait()
		}
		g.mu.Unlock()
		if _, werr := dst.Write(buf[:n]); werr != nil || err != nil {
			return
		}
	}
}

// bucketGate is an HTTP proxy in front of an S3 server that can fail. The state of a
// bucketGate is one of the constants below.
type bucketGate struct {
	addr  string
	state atomic.Int32
	puts  atomic.Int64 // objects
	calls atomic.Int64 // of all kinds
}

const (
	bucketWorks int32 = iota
	bucketBroken
	bucketSlow
	bucketFull
	bucketForgets // acknowledges objects and does not keep them
)

// bucketPause is the time that each call takes of a slow server. Chosen: some calls are
// shorter and some longer than the time between two submissions.
const bucketPause = 200 * time.Millisecond

func newBucketGate(t testing.TB, target string) *bucketGate {
	t.Helper()
	g := &bucketGate{}
	transport := &http.Transport{}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", target
			r.Out.Host = r.In.Host // it is signed
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { panic(http.ErrAbortHandler) }, // the connection breaks
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.calls.Add(1)
		put := r.Method == http.MethodPut && strings.Count(r.URL.Path, "/") > 1
		if put {
			g.puts.Add(1)
		}
		switch state := g.state.Load(); {
		case state == bucketBroken:
			panic(http.ErrAbortHandler)
		case state == bucketSlow:
			time.Sleep(bucketPause)
		case state == bucketFull && put:
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusInsufficientStorage)
			_, _ = io.WriteString(w, "<Error><Code>InsufficientStorage</Code><Message>full</Message></Error>")
			return
		case state == bucketForgets && put:
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("ETag", `"00000000000000000000000000000000"`)
			return
		}
		proxy.ServeHTTP(w, r)
	})}
	g.addr = l.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
		transport.CloseIdleConnections()
	})
	return g
}
