//go:build unix

package main

import (
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/s3server"
)

// The services of compose.yaml, started as processes of this machine with a PostgreSQL and
// an S3 server of the test, are one service: a session goes through all three replicas and
// the worker, and its recording through the bucket.
func TestComposeServes(t *testing.T) {
	pg, database := newDatabase(t)
	s3, err := s3server.Start()
	if errors.Is(err, s3server.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s3.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := s3.Bucket("voicescreen"); err != nil { // as the service "bucket" does
		t.Fatal(err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", s3server.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3server.SecretKey)
	storeKey := filepath.Join(t.TempDir(), "store.key")
	write(t, storeKey, []byte(strings.Repeat("c3", secretSize)))
	key := strings.TrimSpace(ok(t, "keys", "create", "--db", database, "--store-key", storeKey, "--account", "clinic-a").stdout)

	services := map[string]*server{}
	for _, d := range ofCompose(t) {
		_, name, _ := strings.Cut(d.where, "service ")
		services[name] = startProgram(t, d.onThisMachine(t, map[string]string{
			"VOICESCREEN_DB":             database, // the server of the test listens on a socket
			"VOICESCREEN_STORE_KEY_FILE": storeKey,
			"VOICESCREEN_AUDIO":          strings.Replace(d.env["VOICESCREEN_AUDIO"], "http://s3:7070", "http://"+s3.Addr, 1),
		})...)
	}
	one, two, three, worker := services["api-1"], services["api-2"], services["api-3"], services["worker"]
	if one == nil || two == nil || three == nil || worker == nil {
		t.Fatalf("got services %v, want api-1, api-2, api-3 and worker", services)
	}
	for _, s := range []*server{one, two, three} {
		ok(t, "health", s.base+"/readyz") // as the proxy asks
	}
	ok(t, "health", worker.base+"/healthz") // as the image asks
	id := one.initiate("/initiate", key, js, `{"user_id":"patient-32","is_initiated":true}`)
	two.submit("/predict", key, id, read(t, short), http.StatusAccepted)
	three.result("/predict/sessions/"+id, key, http.StatusOK).want(t, "status", "success")
	if text := page(t, worker.base+"/metrics"); !strings.Contains(text, `voicescreen_analyses_total{error="",product="deepfake",status="success"} 1`) {
		t.Errorf("got metrics\n%s\nwant the analysis in the worker", text)
	}
	if n, err := pg.SQL(t.Context(), nameOf(database), "SELECT count(*) FROM voicescreen.audio_chunks"); n != "0" || err != nil {
		t.Errorf("got %s rows and error %v, want no recording in the database", n, err)
	}
	if left := below(t, filepath.Join(s3.Objects(), "voicescreen")); len(left) > 0 {
		t.Errorf("got %d recordings in the bucket after the result, want none", len(left))
	}
	for name, s := range services {
		s.stop()
		if log := s.stderr.String(); strings.Contains(log, "not known") || strings.Contains(log, `"level":"ERROR"`) {
			t.Errorf("%s: got log\n%s", name, log)
		}
	}
}

// onThisMachine returns the command line of a service for this machine: its variables as
// flags, with the values of replace where there is one, and free ports.
func (d *deployed) onThisMachine(t *testing.T, replace map[string]string) (args []string) {
	t.Helper()
	cmd, _, err := newRoot().Find(d.args)
	if err != nil {
		t.Fatalf("%s: %v", d.where, err)
	}
	for _, a := range d.args {
		if strings.HasPrefix(a, ":") {
			a = "127.0.0.1:0"
		}
		args = append(args, a)
	}
	for name, value := range d.env {
		if other := replace[name]; other != "" {
			value = other
		}
		f := flagOf(cmd, name)
		if f == nil {
			t.Fatalf("%s: %s is not known", d.where, name)
		}
		args = append(args, "--"+f.Name, value)
	}
	return args
}

// Caddy writes the request of a call that fails to its log. The names of headers and paths
// are those of its log.
func TestProxyLogsNoKeys(t *testing.T) {
	text := string(read(t, deployDir+"compose/Caddyfile"))
	for _, want := range []string{"log default {", "request>headers delete", "request>uri delete"} {
		if !strings.Contains(text, want) {
			t.Errorf("the Caddyfile has no %q", want)
		}
	}
}
