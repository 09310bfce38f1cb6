//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	startTime  = 30 * time.Second // a server listens, on a busy machine
	resultTime = 60 * time.Second // an analysis is done, on a busy machine
	endTime    = 30 * time.Second // a server has drained
)

// server is a running "voicescreen serve".
type server struct {
	t      testing.TB
	cmd    *exec.Cmd
	base   string // address
	first  *bufio.Reader
	stderr *lockedBuffer
	ended  chan error
}

// startServer starts "voicescreen serve" with the arguments and waits until it
// listens.
func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	return startProgram(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
}

// startProgram starts a command that listens on an address and prints it first.
func startProgram(t testing.TB, args ...string) *server {
	t.Helper()
	return startCommand(t, exec.Command(built, args...))
}

// startCommand is startProgram for a command whose environment or program is another.
func startCommand(t testing.TB, cmd *exec.Cmd) *server {
	t.Helper()
	s := &server{t: t, cmd: cmd, stderr: &lockedBuffer{}, ended: make(chan error, 1)}
	s.cmd.Stderr = s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	s.first = bufio.NewReader(out)
	line := make(chan string, 1)
	go func() {
		l, _ := s.first.ReadString('\n')
		line <- l
	}()
	select {
	case l := <-line:
		base, ok := strings.CutPrefix(strings.TrimSpace(l), "listening on ")
		if !ok {
			s.cmd.Wait()
			t.Fatalf("got first line %q, want the address; standard error:\n%s", l, s.stderr)
		}
		s.base = base
	case <-time.After(startTime):
		t.Fatal("the server does not listen")
	}
	return s
}

// stop ends the server as a supervisor would, and wants it to end well.
func (s *server) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	go func() { s.ended <- s.cmd.Wait() }()
	select {
	case err := <-s.ended:
		if err != nil {
			s.t.Errorf("server ended with %v; standard error:\n%s", err, s.stderr)
		}
	case <-time.After(endTime):
		s.t.Error("the server does not end")
	}
}

// object is a JSON object.
type object map[string]any

// call makes a request and wants the status; the answer is the body's object,
// nil if it is none.
func (s *server) call(method, path, key, contentType string, body io.Reader, want int) object {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if res.StatusCode != want {
		s.t.Fatalf("%s %s: got %d, %s, want %d", method, path, res.StatusCode, b, want)
	}
	var o object
	_ = json.Unmarshal(b, &o) // lists and empty bodies stay nil
	return o
}

// status is the status code of the answer to a GET.
func (s *server) status(path, key string) int {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), "GET", s.base+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("X-API-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

const (
	form = "application/x-www-form-urlencoded"
	js   = "application/json"
)

func (s *server) initiate(path, key, contentType, body string) string {
	s.t.Helper()
	id, _ := s.call("POST", path, key, contentType, strings.NewReader(body), http.StatusCreated)["session_id"].(string)
	if id == "" {
		s.t.Fatalf("%s: got no session_id", path)
	}
	return id
}

// submit uploads a recording, or bytes that are none.
func (s *server) submit(path, key, id string, file []byte, want int) object {
	s.t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	m.WriteField("session_id", id)
	part, err := m.CreateFormFile("file", "answer.wav")
	if err != nil {
		s.t.Fatal(err)
	}
	part.Write(file)
	m.Close()
	return s.call("POST", path, key, m.FormDataContentType(), &b, want)
}

// result polls until the prediction is done, and wants the status code then.
func (s *server) result(path, key string, want int) object {
	s.t.Helper()
	for end := time.Now().Add(resultTime); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		req, err := http.NewRequestWithContext(s.t.Context(), "GET", s.base+path, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		req.Header.Set("X-API-Key", key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			s.t.Fatal(err)
		}
		var o object
		err = json.NewDecoder(res.Body).Decode(&o)
		res.Body.Close()
		if err != nil {
			s.t.Fatal(err)
		}
		if o["status"] == "processing" && res.StatusCode == http.StatusOK {
			continue
		}
		if res.StatusCode != want {
			s.t.Fatalf("%s: got %d, %v, want %d", path, res.StatusCode, o, want)
		}
		return o
	}
	s.t.Fatalf("%s: no result after %v", path, resultTime)
	return nil
}

func (o object) want(t testing.TB, name string, values ...any) {
	t.Helper()
	for _, v := range values {
		if o[name] == v {
			return
		}
	}
	t.Errorf("%s: got %v, want one of %v", name, o[name], values)
}
