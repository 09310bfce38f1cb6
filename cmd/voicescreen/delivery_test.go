//go:build unix && !darwin

package main

import (
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/command"
)

// premises is a receiver on this machine whose certificate the programs of the
// test trust, as an operator makes them trust that of a private authority. On macOS
// there is no variable for it.
type premises struct {
	*httptest.Server
	status atomic.Int32
	bodies chan string
}

func newPremises(t *testing.T) *premises {
	t.Helper()
	p := &premises{bodies: make(chan string, 100)}
	p.status.Store(http.StatusNoContent)
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.bodies <- string(body)
		status := int(p.status.Load())
		w.WriteHeader(status)
		if status != http.StatusNoContent {
			_, _ = w.Write([]byte("come \x1b[31mback\nlater"))
		}
	}))
	p.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	p.StartTLS()
	t.Cleanup(p.Close)
	authority := filepath.Join(t.TempDir(), "ca.pem")
	write(t, authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw}))
	t.Setenv("SSL_CERT_FILE", authority)
	return p
}

func TestWebhooksTest(t *testing.T) {
	p := newPremises(t)
	file := filepath.Join(t.TempDir(), "webhooks.json")
	set := []string{"webhooks", "set", "--webhooks", file, "--account", "a", "--url", p.URL + "/canary"}
	if o := cli(t, set...); o.code != command.ExitUsage || !strings.Contains(o.stderr, "--webhook-allow-private") {
		t.Errorf("set without the flag: got %+v, want an error that names the flag", o)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a refused address made a file")
	}
	if o := ok(t, append(set, "--webhook-allow-private", "192.168.0.0/16,127.0.0.1")...); !strings.Contains(o.stderr, file+" is new") {
		t.Errorf("got %+v, want to be told that the file is new", o)
	}
	test := []string{"webhooks", "test", "--webhooks", file, "--account", "a"}
	allowed := append(slices.Clone(test), "--webhook-allow-private", "127.0.0.0/8")
	if o := program(t, test...); o.code != command.ExitError || !strings.Contains(o.stderr, "not a public one") || !strings.Contains(o.stderr, "--webhook-allow-private") {
		t.Errorf("test without the flag: got %+v, want an error that names the flag", o)
	}
	if o := program(t, allowed...); o.code != 0 || !regexp.MustCompile(`^204 No Content after [0-9.]+m?s\n$`).MatchString(o.stdout) || o.stderr != "" {
		t.Errorf("got %+v, want the answer", o)
	}
	if body := <-p.bodies; !strings.Contains(body, `"type":"webhook.test"`) {
		t.Errorf("the receiver got %s", body)
	}
	p.status.Store(http.StatusServiceUnavailable)
	if o := program(t, allowed...); o.code != command.ExitError || !strings.HasPrefix(o.stdout, "503 Service Unavailable after") ||
		!strings.HasSuffix(o.stdout, "\ncome .[31mback\nlater\n") || !strings.Contains(o.stderr, "200 to 299") {
		t.Errorf("got %+v, want the answer without control characters, and an error", o)
	}
	p.status.Store(http.StatusGone)
	if o := program(t, allowed...); o.code != command.ExitError || !strings.Contains(o.stderr, "disabled") {
		t.Errorf("got %+v, want what 410 does", o)
	}
	if list := ok(t, "webhooks", "list", "--webhooks", file).stdout; !strings.Contains(list, "a        active") {
		t.Errorf("got list\n%s, want it as it was", list)
	}
	p.Close()
	if o := program(t, allowed...); o.code != command.ExitError || o.stdout != "" || !strings.Contains(o.stderr, "connection refused") {
		t.Errorf("got %+v, want why there is no answer", o)
	}
	if o := cli(t, "webhooks", "test", "--webhooks", file, "--account", "b"); o.code != command.ExitError || !strings.Contains(o.stderr, "no endpoint") {
		t.Errorf("another account: got %+v", o)
	}
	write(t, file+".deliveries", []byte("damaged"))
	if o := cli(t, "webhooks", "list", "--webhooks", file); o.code != command.ExitError || !strings.Contains(o.stdout, p.URL) || !strings.Contains(o.stderr, file+".deliveries") {
		t.Errorf("got %+v, want the list, and an error that names the file", o)
	}
}

// TestServeStoresDeliveries: another process lists the delivery state while the server
// has the database open, and the metrics have it.
func TestServeStoresDeliveries(t *testing.T) {
	p := newPremises(t)
	dir := t.TempDir()
	keyFile, hooks := filepath.Join(dir, "keys.json"), filepath.Join(dir, "webhooks.json")
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", keyFile, "--account", "clinic-a").stdout)
	ok(t, "webhooks", "set", "--webhooks", hooks, "--account", "clinic-a", "--url", p.URL, "--webhook-allow-private", "127.0.0.0/8")
	s := startServer(t, "--db", filepath.Join(dir, "clinic.db"), "--keys", keyFile, "--webhooks", hooks,
		"--webhook-allow-private", "127.0.0.0/8", "--metrics-addr", "127.0.0.1:0")
	line, err := s.first.ReadString('\n')
	metrics, found := strings.CutPrefix(strings.TrimSpace(line), "metrics on ")
	if err != nil || !found {
		t.Fatalf("got %q %v, want the address of the metrics", line, err)
	}
	want := func(row, text string) {
		t.Helper()
		for end := time.Now().Add(resultTime); ; time.Sleep(50 * time.Millisecond) {
			list, figures := program(t, "webhooks", "list", "--webhooks", hooks).stdout, string(getMetrics(t, metrics))
			if regexp.MustCompile(row).MatchString(list) && strings.Contains(figures, text) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("got list\n%s\nand metrics\n%s\nwant %s and %s", list, figures, row, text)
			}
		}
	}
	predict := func() {
		t.Helper()
		id := s.initiate("/initiate", key, js, `{"user_id":"patient-24","is_initiated":true}`)
		s.submit("/predict", key, id, clip(read(t, short), 0.5), http.StatusAccepted)
	}
	want(`clinic-a  active  1  +\S+ \S+  -  +0  `, "voicescreen_notices_waiting 0\n")
	predict()
	want(`clinic-a  active  1  +\S+ \S+  20\S+ \S+  0  +\S+  -\n`, `voicescreen_notices_total{outcome="delivered"} 1`+"\n")
	p.status.Store(http.StatusServiceUnavailable)
	predict()
	want(`clinic-a  failing  1  +\S+ \S+  20\S+ \S+  1  +\S+  20\S+ \S+: the receiver answered with status 503\n`, "voicescreen_notices_waiting 1\n")
	if figures := string(getMetrics(t, metrics)); !strings.Contains(figures, `voicescreen_notices_total{outcome="failed"} 1`+"\n") ||
		!strings.Contains(figures, `voicescreen_store_errors_total{operation="update"} 0`+"\n") || strings.Contains(figures, "clinic-a") {
		t.Errorf("got metrics\n%s, want the failure, no error of the store and no account", figures)
	}
	s.stop()
}

// A start that fails leaves no new file: neither for an address in use, nor for a
// mistyped file of webhooks.
func TestAFailedStartLeavesNothingBehind(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, args := range map[string][]string{
		"address in use":    {"--addr", l.Addr().String()},
		"metrics in use":    {"--addr", "127.0.0.1:0", "--metrics-addr", l.Addr().String()},
		"mistyped webhooks": {"--addr", "127.0.0.1:0", "--webhooks", "webhoks.json"},
	} {
		dir := t.TempDir()
		in := func(name string) string { return filepath.Join(dir, name) }
		args = append([]string{"serve", "--db", in("clinic.db")}, args...)
		if name == "mistyped webhooks" {
			args[len(args)-1] = in(args[len(args)-1])
		}
		o := cli(t, append(args, "--keys", in("keys.json"), "--audit", in("audit.log"))...)
		if o.code != command.ExitError || o.stdout != "" || !strings.Contains(o.stderr, args[len(args)-1]) {
			t.Errorf("%s: got %+v, want an error that names it", name, o)
		}
		if flag := args[len(args)-2]; name != "mistyped webhooks" && !strings.Contains(o.stderr, flag+": listen") {
			t.Errorf("%s: got %+v, want the flag %s", name, o, flag)
		}
		if name == "mistyped webhooks" && !strings.Contains(o.stderr, "webhooks set") {
			t.Errorf("%s: got %+v, want to be told how to make the file", name, o)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > 0 {
			t.Errorf("%s: got files %v and error %v, want none", name, entries, err)
		}
	}
}

func TestADatabaseThatThisProcessHasOpen(t *testing.T) {
	db := filepath.Join(t.TempDir(), "clinic.db")
	e, err := voicescreen.Open(db, &voicescreen.Options{Workers: -1})
	if err != nil {
		t.Fatal(err)
	}
	here, there := cli(t, "db", "check", db), program(t, "db", "check", db)
	if !strings.Contains(here.stderr, "already open by this process") || !strings.Contains(there.stderr, "already open by another process") {
		t.Errorf("got %q here and %q elsewhere, want who has it open", here.stderr, there.stderr)
	}
	if err := closeEngine(e); err != nil {
		t.Error(err)
	}
}
