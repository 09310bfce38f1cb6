package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/command"
)

func TestHealth(t *testing.T) {
	release := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "the store is full", http.StatusServiceUnavailable)
	})
	mux.Handle("GET /moved", http.RedirectHandler("/healthz", http.StatusFound))
	mux.HandleFunc("GET /slow", func(http.ResponseWriter, *http.Request) { <-release })
	s := httptest.NewServer(mux)
	t.Cleanup(func() { close(release); s.Close() })
	gone := httptest.NewServer(mux)
	gone.Close()
	t.Setenv("HTTP_PROXY", "http://proxy.invalid:1") // has no effect

	if o := ok(t, "health", s.URL+"/healthz"); o.stdout+o.stderr != "" {
		t.Errorf("got %+v, want no output", o)
	}
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"not ready": {[]string{s.URL + "/readyz"}, "the store is full"},
		"moved":     {[]string{s.URL + "/moved"}, "302"},
		"slow":      {[]string{s.URL + "/slow", "--timeout", "50ms"}, "deadline"},
		"gone":      {[]string{gone.URL + "/healthz"}, "refused"},
	} {
		if o := cli(t, append([]string{"health"}, c.args...)...); o.code != command.ExitError || !strings.Contains(o.stderr, c.says) {
			t.Errorf("%s: got %+v, want exit code 1 and %q", name, o, c.says)
		}
	}
	for _, args := range [][]string{{"localhost:8080"}, {"ftp://x/"}, {"http:///healthz"}, {"http://u:secret@%zz/"}, {s.URL, "--timeout", "0s"}, {"a", "b"}} {
		if o := cli(t, append([]string{"health"}, args...)...); o.code != command.ExitUsage || strings.Contains(o.stderr, "secret") {
			t.Errorf("%v: got %+v, want a usage error", args, o)
		}
	}
}
