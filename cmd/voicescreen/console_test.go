//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestServeConsole signs in to a trial with the key that it prints.
func TestServeConsole(t *testing.T) {
	words := t.TempDir()
	write(t, filepath.Join(words, "en.json"), []byte(`{"home.title": "Practice A"}`))
	s := startServer(t, "--dev", "--console", "--console-words", words)
	var key, console string
	for range 10 {
		line, err := s.first.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if at, ok := strings.CutPrefix(line, "console on "); ok {
			console = strings.TrimSpace(at)
		}
		if _, k, ok := strings.Cut(line, "key for this trial: "); ok {
			key = strings.TrimSpace(k)
			break
		}
	}
	if console != s.base+"/console/" {
		t.Errorf("got the page at %q, want %s/console/", console, s.base)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Timeout: time.Minute}
	read := func(res *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if page := read(browser.Get(s.base + "/console")); !strings.Contains(page, `name="key"`) {
		t.Errorf("/console: got %s, want the page to sign in", page)
	}
	if page := read(browser.PostForm(s.base+"/console/sign-in", url.Values{"key": {key}})); !strings.Contains(page, "Practice A") || !strings.Contains(page, "Account: dev") {
		t.Errorf("sign-in: got %s, want the overview with the operator's words", page)
	}
	if page := read(browser.Get(s.base + "/console/operations")); !strings.Contains(page, "Takes recordings") {
		t.Errorf("operations: got %s, want the service as a whole in a trial", page)
	}
	if body := read(browser.Get(s.base + "/healthz")); !strings.Contains(body, "ok") {
		t.Errorf("/healthz beside the page: got %s", body)
	}
	s.stop()
	if strings.Contains(s.stderr.String(), key) {
		t.Error("the log holds the key")
	}
}

func TestConsoleIsOffByDefault(t *testing.T) {
	s := startServer(t, "--dev")
	res, err := http.Get(s.base + "/console/")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("got %d, want 403: without a key nothing is there", res.StatusCode)
	}
	for _, args := range [][]string{
		{"serve", "--dev", "--console-words", "."},
		{"serve", "--dev", "--console-operator", "a"},
	} {
		if o := cli(t, args...); o.code == 0 {
			t.Errorf("%v: got code 0, want a usage error", args)
		}
	}
}
