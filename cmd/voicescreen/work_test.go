//go:build unix && !darwin

package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/internal/proof/s3server"
)

// A server without workers accepts recordings, and other processes analyse them. One
// that gets SIGTERM leaves nothing behind that waits for a lease to run out.
func TestWork(t *testing.T) {
	t.Parallel()
	pg, url := newDatabase(t)
	key := strings.TrimSpace(ok(t, "keys", "create", "--db", url, "--account", "clinic-a").stdout)
	s := startServer(t, "--db", url, "--workers", "0")
	submit := func(recording string) string {
		id := s.initiate("/initiate", key, js, `{"user_id":"patient-31","is_initiated":true}`)
		s.submit("/predict", key, id, read(t, recording), http.StatusAccepted)
		return id
	}
	first := submit(short)
	worker := startProgram(t, "work", "--db", url, "--addr", "127.0.0.1:0", "--workers", "1")
	s.result("/predict/sessions/"+first, key, http.StatusOK).want(t, "status", "success")
	worker.call("GET", "/healthz", "", "", nil, http.StatusOK).want(t, "status", "ok")
	worker.call("GET", "/sessions", "", "", nil, http.StatusNotFound) // no API
	if text := page(t, worker.base+"/metrics"); !strings.Contains(text, `voicescreen_analyses_total{error="",product="deepfake",status="success"} 1`) || !strings.Contains(text, "voicescreen_queue_depth 0") {
		t.Errorf("got metrics\n%s\nwant those of one analysis", text)
	}

	ids := []string{submit(interview), submit(interview), submit(interview)}
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

// Recordings wait where --audio says, encrypted, until a worker has them.
func TestAudioOfServeAndWork(t *testing.T) {
	t.Setenv(envStoreKey, strings.Repeat("c3", secretSize))
	for name, place := range map[string]func(t *testing.T) (flag, files string){"directory": audioDir, "bucket": audioBucket} {
		t.Run(name, func(t *testing.T) {
			pg, url := newDatabase(t)
			flag, files := place(t)
			key := strings.TrimSpace(ok(t, "keys", "create", "--db", url, "--account", "clinic-a").stdout)
			s := startServer(t, "--db", url, "--workers", "0", "--audio", flag)
			id := s.initiate("/initiate", key, js, `{"user_id":"patient-31","is_initiated":true}`)
			s.submit("/predict", key, id, read(t, short), http.StatusAccepted)
			if waits := below(t, files); len(waits) != 1 || bytes.Contains(waits[0], []byte("WAVE")) {
				t.Errorf("got %d files, want one, encrypted", len(waits))
			}
			if n, err := pg.SQL(t.Context(), nameOf(url), "SELECT count(*) FROM voicescreen.audio_chunks"); n != "0" || err != nil {
				t.Errorf("got %s rows and error %v, want no recording in the database", n, err)
			}
			worker := startProgram(t, "work", "--db", url, "--audio", flag, "--addr", "127.0.0.1:0")
			s.result("/predict/sessions/"+id, key, http.StatusOK).want(t, "status", "success")
			worker.stop()
			s.stop()
			if n, err := pg.SQL(t.Context(), nameOf(url), "SELECT count(*) FROM voicescreen.audio"); n != "0" || err != nil || len(below(t, files)) != 0 {
				t.Errorf("got %d files, %s rows and error %v after the result, want none", len(below(t, files)), n, err)
			}
		})
	}
}

// A worker without --audio does not start while recordings wait elsewhere. One that runs
// when they come says so, and leaves them to a worker that can read them.
func TestWorkWithoutTheAudio(t *testing.T) {
	pg, url := newDatabase(t)
	flag, _ := audioDir(t)
	key := strings.TrimSpace(ok(t, "keys", "create", "--db", url, "--account", "clinic-a").stdout)
	s := startServer(t, "--db", url, "--workers", "0", "--audio", flag)
	lacking := startProgram(t, "work", "--db", url, "--addr", "127.0.0.1:0", "--workers", "1")
	id := s.initiate("/initiate", key, js, `{"user_id":"patient-31","is_initiated":true}`)
	s.submit("/predict", key, id, read(t, short), http.StatusAccepted)
	const says = "level=ERROR msg=\"recordings wait where this process cannot read them; start it with the same --audio as the servers\""
	for end := time.Now().Add(resultTime); !strings.Contains(lacking.stderr.String(), says); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("got log\n%s\nwant %s", lacking.stderr, says)
		}
	}
	release := func() { // as if the pause after the first lease was over
		if _, err := pg.SQL(t.Context(), nameOf(url), "UPDATE voicescreen.sessions SET due = clock_timestamp()"); err != nil {
			t.Fatal(err)
		}
	}
	release()
	second := s.initiate("/initiate", key, js, `{"user_id":"patient-31","is_initiated":true}`)
	s.submit("/predict", key, second, read(t, short), http.StatusAccepted)
	for _, args := range [][]string{{"work"}, {"serve", "--addr", "127.0.0.1:0"}} {
		if o := program(t, append(args, "--db", url)...); o.code != command.ExitUsage || !strings.Contains(o.stderr, "--audio is missing") {
			t.Errorf("%s: got %+v, want a usage error that names --audio", args[0], o)
		}
	}
	if n, err := pg.SQL(t.Context(), nameOf(url), "SELECT sum(token) FROM voicescreen.sessions"); n != "1" || err != nil {
		t.Errorf("got %s leases and error %v, want the first one alone", n, err)
	}
	worker := startProgram(t, "work", "--db", url, "--audio", flag, "--addr", "127.0.0.1:0")
	for _, id := range []string{id, second} {
		s.result("/predict/sessions/"+id, key, http.StatusOK).want(t, "status", "success")
	}
	for _, p := range []*server{worker, lacking, s} {
		p.stop()
	}
	if n := strings.Count(lacking.stderr.String(), says); n != 1 {
		t.Errorf("got the line %d times within a minute, want once:\n%s", n, lacking.stderr)
	}
}

// A worker notifies the account of the results that it stores, with the webhook of the
// database, also when no server runs.
func TestWorkSendsNotices(t *testing.T) {
	p := newPremises(t)
	_, url := newDatabase(t)
	allow := []string{"--db", url, "--webhook-allow-private", "127.0.0.0/8"}
	key := strings.TrimSpace(ok(t, "keys", "create", "--db", url, "--account", "clinic-a").stdout)
	ok(t, append([]string{"webhooks", "set", "--account", "clinic-a", "--url", p.URL}, allow...)...)
	s := startServer(t, append([]string{"--workers", "0"}, allow...)...)
	id := s.initiate("/initiate", key, js, `{"user_id":"patient-31","is_initiated":true}`)
	s.submit("/predict", key, id, read(t, short), http.StatusAccepted)
	s.stop()
	worker := startProgram(t, append([]string{"work", "--addr", "127.0.0.1:0", "--workers", "1"}, allow...)...)
	select {
	case body := <-p.bodies:
		if !strings.Contains(body, id) || !strings.Contains(body, "success") || strings.Contains(body, "patient-31") {
			t.Errorf("got %s, want the session and its status", body)
		}
	case <-time.After(resultTime):
		t.Fatalf("got no notice; log\n%s", worker.stderr)
	}
	const delivered = `voicescreen_notices_total{outcome="delivered"} 1`
	for end := time.Now().Add(resultTime); !strings.Contains(page(t, worker.base+"/metrics"), delivered); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("got metrics\n%s\nwant %s", page(t, worker.base+"/metrics"), delivered)
		}
	}
	worker.stop()
}

func audioDir(t *testing.T) (flag, files string) { dir := t.TempDir(); return dir, dir }

func audioBucket(t *testing.T) (flag, files string) {
	s, err := s3server.Start()
	if errors.Is(err, s3server.ErrNotInstalled) {
		t.Skip(err)
	}
	if err == nil {
		t.Cleanup(func() {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		})
		err = s.Bucket("recordings")
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": s3server.AccessKey, "AWS_SECRET_ACCESS_KEY": s3server.SecretKey, "AWS_EC2_METADATA_DISABLED": "true"} {
		t.Setenv(name, value)
	}
	endpoint := "?endpoint=http://" + s.Addr
	if o := program(t, "work", "--db", "postgres://nowhere.invalid/db", "--audio", "s3://missing"+endpoint); o.code != command.ExitError || !strings.Contains(o.stderr, "bucket") {
		t.Errorf("a missing bucket: got %+v, want an error that says so", o)
	}
	return "s3://recordings/clinic" + endpoint, filepath.Join(s.Objects(), "recordings")
}

// below returns the contents of the files below a directory.
func below(t *testing.T, dir string) (contents [][]byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			contents = append(contents, read(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return contents
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
