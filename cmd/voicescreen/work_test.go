//go:build unix

package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// A server without workers accepts recordings, and other processes analyse them. One
// that gets SIGTERM leaves nothing behind that waits for a lease to run out.
func TestWork(t *testing.T) {
	pg, url := newDatabase(t)
	key := strings.TrimSpace(ok(t, "keys", "create", "--db", url, "--account", "clinic-a").stdout)
	s := startServer(t, "--db", url, "--workers", "0")
	submit := func() string {
		id := s.initiate("/initiate", key, js, `{"user_id":"patient-31","is_initiated":true}`)
		s.submit("/predict", key, id, read(t, interview), http.StatusAccepted)
		return id
	}
	first := submit()
	worker := startProgram(t, "work", "--db", url, "--addr", "127.0.0.1:0", "--workers", "1")
	s.result("/predict/sessions/"+first, key, http.StatusOK).want(t, "status", "success")
	worker.call("GET", "/healthz", "", "", nil, http.StatusOK).want(t, "status", "ok")
	worker.call("GET", "/sessions", "", "", nil, http.StatusNotFound) // no API
	if text := page(t, worker.base+"/metrics"); !strings.Contains(text, `voicescreen_analyses_total{error="",product="deepfake",status="success"} 1`) || !strings.Contains(text, "voicescreen_queue_depth 0") {
		t.Errorf("got metrics\n%s\nwant those of one analysis", text)
	}

	ids := []string{submit(), submit(), submit()}
	other := startProgram(t, "work", "--db", url, "--addr", "127.0.0.1:0", "--workers", "1")
	worker.stop()
	for _, id := range ids {
		s.result("/predict/sessions/"+id, key, http.StatusOK).want(t, "status", "success")
	}
	if n, err := pg.SQL(t.Context(), nameOf(url), "SELECT max(attempts) FROM voicescreen.sessions"); n != "1" || err != nil {
		t.Errorf("got up to %s attempts and error %v, want 1", n, err)
	}
	other.stop()
	s.stop()
	for _, p := range []*server{s, worker, other} {
		if text := p.stderr.String(); strings.Contains(text, key) || strings.Contains(text, "patient-31") {
			t.Errorf("a log holds the key or the user:\n%s", text)
		}
	}
}

// page returns the body of an address.
func page(t *testing.T, address string) string {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
