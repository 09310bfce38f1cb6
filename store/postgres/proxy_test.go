package postgres_test

import (
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// proxy stands between a store and the server.
type proxy struct {
	t      *testing.T
	target string // the server's socket
	dir    string // of its own socket

	mu    sync.Mutex // protects what follows
	conns map[net.Conn]bool
	// sent is called with what a client sends. If it returns true, that reaches the
	// server, the answer does not reach the client, and the connection ends.
	sent func(data []byte) bool
	// swallow makes the network take everything and deliver nothing.
	swallow bool
}

// newProxy starts a proxy in front of a socket. The test ends it.
func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	p := &proxy{t: t, target: target, dir: t.TempDir(), conns: map[net.Conn]bool{}}
	l, err := net.Listen("unix", filepath.Join(p.dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = l.Close()
		p.cut()
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

// url leads a connection string of the server through the proxy.
func (p *proxy) url(direct string) string {
	return strings.Replace(direct, "host="+filepath.Dir(p.target), "host="+p.dir, 1)
}

// cut ends all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

// set changes what the proxy does.
func (p *proxy) set(sent func(data []byte) bool, swallow bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent, p.swallow = sent, swallow
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", p.target)
	if err != nil {
		return // as if nobody listened
	}
	defer server.Close()
	p.mu.Lock()
	p.conns[client], p.conns[server] = true, true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, client)
		delete(p.conns, server)
	}()
	var silent sync.Once
	stop := make(chan struct{})
	go func() { // from the server
		defer client.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			select {
			case <-stop:
				return // the answer is lost, and so is the connection
			default:
			}
			p.mu.Lock()
			swallow := p.swallow
			p.mu.Unlock()
			if swallow {
				continue
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 1<<20)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		sent, swallow := p.sent, p.swallow
		p.mu.Unlock()
		if swallow {
			continue
		}
		if sent != nil && sent(buf[:n]) {
			silent.Do(func() { close(stop) })
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}
