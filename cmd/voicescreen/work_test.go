//go:build unix

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

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/internal/proof/s3server"
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
