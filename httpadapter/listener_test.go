package httpadapter_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter"
)

// wrapped serves the handler on a listener of WrapListener.
func (s *service) wrapped(handler http.Handler) (addr string) {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	server := httpadapter.NewServer("", handler)
	go server.Serve(httpadapter.WrapListener(l))
	s.t.Cleanup(func() { server.Close() })
	return l.Addr().String()
}

// exchange sends the bytes of a request and returns the answer.
func exchange(t *testing.T, addr, text string) (*http.Response, []byte) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	go io.WriteString(c, text)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%.60q: %v", text, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%.60q: %v", text, err)
	}
	return resp, body
}

// The answers that net/http gives without the handler have the body of every other
// error, with the header fields of every answer.
func TestAnswersOfTheServer(t *testing.T) {
	s := newService(t)
	addr := s.wrapped(s.handler)
	key := "X-API-Key: " + s.key + "\r\n"
	for name, c := range map[string]struct {
		text string
		want int
		says string
	}{
		"bad escape":                {"GET /v2/predict/sessions/%zz HTTP/1.1\r\nHost: x\r\n" + key + "\r\n", 400, "bad request"},
		"bad first line":            {"GARBAGE\r\n\r\n", 400, "bad request"},
		"no path":                   {"GET  HTTP/1.1\r\nHost: x\r\n\r\n", 400, "bad request"},
		"bad method":                {"G(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400, "bad request"},
		"header without a colon":    {"GET /healthz HTTP/1.1\r\nHost: x\r\nbroken header\r\n\r\n", 400, "bad request"},
		"bad name of a header":      {"GET /healthz HTTP/1.1\r\nHost: x\r\na b: c\r\n\r\n", 400, "bad request"},
		"bad value of a header":     {"GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: a\x01b\r\n\r\n", 400, "bad request"},
		"no Host":                   {"GET /healthz HTTP/1.1\r\n\r\n", 400, "Host"},
		"two Hosts":                 {"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400, "bad request"},
		"bad Host":                  {"GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "Host"},
		"bad Content-Length":        {"POST /initiate HTTP/1.1\r\nHost: x\r\n" + key + "Content-Length: many\r\n\r\n", 400, "bad request"},
		"two Content-Lengths":       {"POST /initiate HTTP/1.1\r\nHost: x\r\n" + key + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", 400, "bad request"},
		"large header":              {"GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", 431, "too large"},
		"many header fields":        {"GET /healthz HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X-A: x\r\n", 1<<16) + "\r\n", 431, "too large"},
		"long path":                 {"GET /" + strings.Repeat("x", 1<<20) + " HTTP/1.1\r\nHost: x\r\n\r\n", 431, "too large"},
		"unknown Transfer-Encoding": {"POST /initiate HTTP/1.1\r\nHost: x\r\n" + key + "Transfer-Encoding: gzip\r\n\r\n", 501, "not implemented"},
		"unknown Expect":            {"POST /initiate HTTP/1.1\r\nHost: x\r\n" + key + "Expect: magic\r\nContent-Length: 0\r\n\r\n", 417, "expectation failed"},
		"unknown Expect, GET":       {"GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: magic\r\n\r\n", 417, "expectation failed"},
		"unknown version":           {"GET /healthz HTTP/3.7\r\nHost: x\r\n\r\n", 505, "version"},
		"HTTP/2":                    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 403, "API key"},
		"OPTIONS *":                 {"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 403, "API key"},
		"OPTIONS * with a key":      {"OPTIONS * HTTP/1.1\r\nHost: x\r\n" + key + "\r\n", 404, "no such path"},
		"another address":           {"GET http://elsewhere/v2 HTTP/1.1\r\nHost: x\r\n" + key + "\r\n", 404, "no such path"},
		"CONNECT":                   {"CONNECT elsewhere:80 HTTP/1.1\r\nHost: x\r\n" + key + "\r\n", 404, "no such path"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, body := exchange(t, addr, c.text)
			var got map[string]string
			err := json.Unmarshal(body, &got)
			if err != nil || resp.StatusCode != c.want || len(got) != 1 || !strings.Contains(got["message"], c.says) {
				t.Errorf("got %d %s, want %d and a message with %q", resp.StatusCode, body, c.want, c.says)
			}
			h := resp.Header
			if h.Get("Content-Type") != "application/json" || h.Get("X-Request-Id") == "" || h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("got header %v, want that of every answer", h)
			}
		})
	}
}

// Every other answer passes a listener of WrapListener as it is, also one that is
// written in parts or by another handler.
func TestWrapListenerKeepsAnswers(t *testing.T) {
	s := newService(t)
	id := s.initiate("p1")
	for name, handler := range map[string]http.Handler{
		"the service": s.handler,
		"text of a handler": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "400 Bad Request: by hand", http.StatusBadRequest)
		}),
		"an answer in the body": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte("first"))
			http.NewResponseController(w).Flush()
			w.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
		}),
		"an answer without a body": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Own", "1")
			w.WriteHeader(http.StatusNoContent)
		}),
	} {
		ask := "GET /v2/predict/sessions/" + id + " HTTP/1.1\r\nHost: x\r\nX-API-Key: " + s.key + "\r\n\r\n"
		plain, wantBody := exchange(t, s.plain(handler), ask)
		resp, body := exchange(t, s.wrapped(handler), ask)
		if resp.StatusCode != plain.StatusCode || !bytes.Equal(body, wantBody) || resp.Header.Get("Content-Type") != plain.Header.Get("Content-Type") {
			t.Errorf("%s: got %d %s, want %d %s", name, resp.StatusCode, body, plain.StatusCode, wantBody)
		}
	}
}

// plain serves a handler on a listener of its own.
func (s *service) plain(handler http.Handler) (addr string) {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	server := httpadapter.NewServer("", handler)
	go server.Serve(l)
	s.t.Cleanup(func() { server.Close() })
	return l.Addr().String()
}
