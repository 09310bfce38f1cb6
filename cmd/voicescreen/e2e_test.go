//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/internal/command"
)

// The whole service as its callers use it: three products through initiate,
// submit, poll and feedback, on a server that then drains.
func TestServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, keyFile := filepath.Join(dir, "clinic.db"), filepath.Join(dir, "keys.json")
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", keyFile, "--account", "clinic-a").stdout)
	s := startServer(t, "--db", db, "--keys", keyFile)
	s.call("GET", "/healthz", "", "", nil, http.StatusOK)
	s.call("GET", "/readyz", "", "", nil, http.StatusOK)
	s.call("GET", "/openapi.json", "", "", nil, http.StatusOK)

	t.Run("v2", func(t *testing.T) { s.on(t).depressionAndAnxiety(key) })
	t.Run("v1", func(t *testing.T) { s.on(t).depressionBinary(key) })
	t.Run("deepfake", func(t *testing.T) { s.on(t).deepfake(key) })
	t.Run("bad input", func(t *testing.T) { s.on(t).badInput(key) })
	t.Run("unreadable requests", func(t *testing.T) { s.on(t).unreadable() })
	t.Run("keys", func(t *testing.T) { s.on(t).keyChanges(key, keyFile) })
	t.Run("second opener", func(t *testing.T) {
		out, err := exec.Command(built, "serve", "--addr", "127.0.0.1:0", "--db", db, "--keys", keyFile).CombinedOutput()
		exit, ok := err.(*exec.ExitError)
		if !ok || exit.ExitCode() != command.ExitError || !strings.Contains(string(out), "already open by another process") {
			t.Errorf("got %v, %s, want an error that says that the database is open", err, out)
		}
	})
	s.stop()
	for _, secret := range []string{key, "patient-17"} {
		if strings.Contains(s.stderr.String(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}

// on returns the server for a subtest.
func (s *server) on(t *testing.T) *server {
	c := *s
	c.t = t
	return &c
}

func (s *server) depressionAndAnxiety(key string) {
	id := s.initiate("/v2/initate", key, form, "user_id=patient-17&is_initiated=true&metadata.age=41&metadata.gender=Female")
	ack := s.submit("/v2/prediction/", key, id, read(s.t, interview), http.StatusAccepted)
	ack.want(s.t, "session_id", id)
	ack.want(s.t, "status", "processing")
	s.submit("/v2/prediction/", key, id, read(s.t, interview), http.StatusConflict)

	r := s.result("/v2/predict/sessions/"+id, key, http.StatusOK)
	r.want(s.t, "status", "success")
	r.want(s.t, "model_category", "depression,anxiety")
	r.want(s.t, "model_granularity", "severity")
	r.want(s.t, "predicted_score_depression", "no_to_mild", "mild_to_moderate", "moderate_to_severe")
	r.want(s.t, "predicted_score_anxiety", "no_or_minimal", "moderate", "moderately_severe", "severe")
	r.want(s.t, "predicted_score", r["predicted_score_depression"])

	feedback := func(path, scores string) {
		s.t.Helper()
		s.call("PATCH", path, key, js, strings.NewReader(`{"session_id":"`+id+`","actual_score":`+scores+`}`), http.StatusOK)
	}
	feedback("/v2/feedback/phq/2", "[1,2]")
	feedback("/v2/feedback/phq/9", "[0,1,2,3,0,1,2,3,0]")
	feedback("/v2/feedback/gad/7", "[0,1,2,3,0,1,2]")
	feedback("/v2/feedback/depression/binary", `"false"`)
	actual, _ := s.result("/v2/predict/sessions/"+id, key, http.StatusOK)["actual_score"].(map[string]any)
	if got, want := fmt.Sprint(actual["phq_9"]), "[0 1 2 3 0 1 2 3 0]"; got != want {
		s.t.Errorf("phq_9: got %s, want %s", got, want)
	}
	if _, there := actual["phq_2"]; there {
		s.t.Error("phq_2 is still there after phq_9")
	}
}

func (s *server) depressionBinary(key string) {
	id := s.initiate("/v1/initiate", key, form, "user_id=patient-18&is_initiated=true")
	s.submit("/v1/predict/server/depression/binary", key, id, read(s.t, interview), http.StatusAccepted)
	r := s.result("/v1/predict/sessions/"+id, key, http.StatusOK)
	r.want(s.t, "model_category", "depression")
	r.want(s.t, "model_granularity", "binary")
	r.want(s.t, "predicted_score", "true", "false", "additional_consideration_required")
	s.call("PATCH", "/v1/feedback/server/phq/2", key, form, strings.NewReader("session_id="+id+"&actual_score=0&actual_score=3"), http.StatusOK)
	s.call("PATCH", "/v1/feedback/server/depression/binary", key, form, strings.NewReader("session_id="+id+"&actual_score=true"), http.StatusOK)
}

func (s *server) deepfake(key string) {
	id := s.initiate("/initiate", key, js, `{"user_id":"patient-19","is_initiated":true}`)
	s.submit("/predict", key, id, read(s.t, short), http.StatusAccepted)
	r := s.result("/v2/predict/sessions/"+id, key, http.StatusOK)
	r.want(s.t, "status", "success")
	r.want(s.t, "model_category", "deepfake")
	r.want(s.t, "model_granularity", "binary")
	score, isNumber := r["predicted_deepfake_score"].(float64)
	if !isNumber || score < 0 || score > 100 {
		s.t.Errorf("predicted_deepfake_score: got %v, want 0 to 100", r["predicted_deepfake_score"])
	}
	again := s.call("POST", "/predict", key, js, strings.NewReader(`{"session_id":"`+id+`"}`), http.StatusOK)
	again.want(s.t, "predicted_deepfake_score", r["predicted_deepfake_score"])
	s.call("PATCH", "/v2/feedback/depression/binary", key, js, strings.NewReader(`{"session_id":"`+id+`","actual_score":"true"}`), http.StatusUnprocessableEntity)
}

// badInput wants each fault named, and the session usable afterwards.
func (s *server) badInput(key string) {
	s.call("POST", "/v2/initiate", "", form, strings.NewReader("user_id=a&is_initiated=true"), http.StatusForbidden)
	s.call("POST", "/v2/initiate", key, form, strings.NewReader("user_id=a&is_initiated=false"), http.StatusNotAcceptable)
	s.call("POST", "/v2/initiate", key, form, strings.NewReader("is_initiated=true&metadata.zipcode=123"), http.StatusUnprocessableEntity)
	s.submit("/v2/prediction/", key, "nosuchsession", read(s.t, short), http.StatusNotFound)

	id := s.initiate("/v2/initiate", key, form, "user_id=patient-20&is_initiated=true")
	s.call("PATCH", "/v2/feedback/phq/2", key, js, strings.NewReader(`{"session_id":"`+id+`","actual_score":[0,1]}`), http.StatusConflict)
	good := read(s.t, short)
	for name, file := range map[string][]byte{
		"text":      []byte("no sound"),
		"truncated": good[:len(good)-1000],
		"16 kHz":    read(s.t, voice16k),
		"stereo":    read(s.t, writeTone(s.t, 1, 44100, 2, 200, 0.5)),
	} {
		if m, _ := s.submit("/v2/prediction/", key, id, file, http.StatusUnprocessableEntity)["message"].(string); m == "" {
			s.t.Errorf("%s: got no message", name)
		}
	}
	s.submit("/v2/prediction/", key, id, good, http.StatusAccepted)
	r := s.result("/v2/predict/sessions/"+id, key, http.StatusExpectationFailed)
	failure, _ := r["predict_error"].(map[string]any)
	if failure["error"] != "audio_length_error" {
		s.t.Errorf("predict_error: got %v, want audio_length_error", failure)
	}
}

// unreadable wants a message for requests that are not HTTP as the server reads it.
func (s *server) unreadable() {
	for text, want := range map[string]int{
		"GET /v2/predict/sessions/%zz HTTP/1.1\r\nHost: x\r\n\r\n":  http.StatusBadRequest,
		"GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: magic\r\n\r\n": http.StatusExpectationFailed,
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
		if err != nil {
			s.t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte(text)); err != nil {
			s.t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			s.t.Fatal(err)
		}
		var o object
		if err := json.NewDecoder(resp.Body).Decode(&o); err != nil || resp.StatusCode != want || o["message"] == nil {
			s.t.Errorf("%q: got %d, %v and error %v, want %d and a message", text, resp.StatusCode, o, err, want)
		}
	}
}

// changeTime is how long a running server may take to see a change of keys.
const changeTime = time.Second

func (s *server) keyChanges(key, keyFile string) {
	status := func(key string) int { s.t.Helper(); return s.status("/v2/predict/users/patient-17", key) }
	fresh := strings.TrimSpace(ok(s.t, "keys", "create", "--keys", keyFile, "--account", "clinic-b").stdout)
	time.Sleep(changeTime)
	if got := status(fresh); got != http.StatusOK {
		s.t.Errorf("new key: got %d, want 200", got)
	}
	ok(s.t, "keys", "revoke", "--keys", keyFile, "--account", "clinic-b")
	time.Sleep(changeTime)
	if got := status(fresh); got != http.StatusForbidden {
		s.t.Errorf("revoked key: got %d, want 403", got)
	}
	if got := status(key); got != http.StatusOK {
		s.t.Errorf("key of another account: got %d, want 200", got)
	}
}

// What was accepted before the end has its result after the next start.
func TestServeKeepsWhatItAccepted(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--db", filepath.Join(dir, "clinic.db"), "--keys", filepath.Join(dir, "keys.json")}
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", args[3], "--account", "clinic-a").stdout)
	s := startServer(t, args...)
	id := s.initiate("/initiate", key, js, `{"user_id":"patient-21","is_initiated":true}`)
	s.submit("/predict", key, id, read(t, short), http.StatusAccepted)
	s.stop()
	s = startServer(t, args...)
	s.result("/predict/sessions/"+id, key, http.StatusOK).want(t, "status", "success")
	s.stop()
}

// The figures stand on a listener of their own, and not on that of callers.
func TestServeMetrics(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--db", filepath.Join(dir, "clinic.db"), "--keys", filepath.Join(dir, "keys.json"), "--metrics-addr", "127.0.0.1:0"}
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", args[3], "--account", "clinic-a").stdout)
	s := startServer(t, args...)
	line, err := s.first.ReadString('\n')
	base, found := strings.CutPrefix(strings.TrimSpace(line), "metrics on ")
	if err != nil || !found {
		t.Fatalf("got %q %v, want the address of the metrics", line, err)
	}
	id := s.initiate("/initiate", key, js, `{"user_id":"patient-23","is_initiated":true}`)
	s.submit("/predict", key, id, read(t, short), http.StatusAccepted)
	s.result("/predict/sessions/"+id, key, http.StatusOK)
	s.call("GET", "/metrics", key, "", nil, http.StatusNotFound)
	var text []byte
	for _, want := range []string{
		"voicescreen_queue_depth 0\n",
		`voicescreen_requests_total{code="201",method="POST",route="initiate"} 1` + "\n",
		`voicescreen_analyses_total{error="",product="deepfake",status="success"} 1` + "\n",
	} {
		// An analysis is counted after its result can be seen.
		deadline := time.Now().Add(resultTime)
		for text = getMetrics(t, base); !strings.Contains(string(text), want); text = getMetrics(t, base) {
			if time.Now().After(deadline) {
				t.Fatalf("got metrics\n%s\nwant %q in them", text, want)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	for _, secret := range []string{"patient-23", "clinic-a", id, key} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the metrics hold %q", secret)
		}
	}
	s.stop()
}

func getMetrics(t *testing.T, url string) []byte {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestServeDev(t *testing.T) {
	s := startServer(t, "--dev")
	var key string
	for key == "" {
		line, err := s.first.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if _, k, found := strings.Cut(line, "API key for this trial: "); found {
			key = strings.TrimSpace(k)
		}
	}
	s.initiate("/v2/initiate", key, form, "user_id=patient-22&is_initiated=true")
	s.stop()
}

// A server may be started before there is a key file.
func TestServeWithoutKeys(t *testing.T) {
	dir := t.TempDir()
	keyFile := filepath.Join(dir, "keys.json")
	s := startServer(t, "--db", filepath.Join(dir, "clinic.db"), "--keys", keyFile)
	s.call("POST", "/v2/initiate", "vk_0_0", js, strings.NewReader(`{"user_id":"u","is_initiated":true}`), http.StatusForbidden)
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", keyFile, "--account", "clinic-a").stdout)
	time.Sleep(time.Second) // in which a running server takes up the change
	s.initiate("/v2/initiate", key, js, `{"user_id":"u","is_initiated":true}`)
	s.stop()
}

// A server tells the accounts of its file: here one whose address is not
// public to the server, so that the attempt fails before anything leaves the
// machine.
func TestServeTellsAccounts(t *testing.T) {
	dir := t.TempDir()
	keyFile, hooks := filepath.Join(dir, "keys.json"), filepath.Join(dir, "webhooks.json")
	key := strings.TrimSpace(ok(t, "keys", "create", "--keys", keyFile, "--account", "clinic-a").stdout)
	ok(t, "webhooks", "set", "--webhooks", hooks, "--account", "clinic-a", "--url", "https://localhost/canary", "--webhook-allow-private", "127.0.0.0/8")
	start := func() *server {
		return startServer(t, "--db", filepath.Join(dir, "clinic.db"), "--keys", keyFile, "--webhooks", hooks, "--retain", "720h")
	}
	s := start()
	s.deepfake(key)
	tries := 0
	for s.stop(); !strings.Contains(s.stderr.String(), "not a public one"); s.stop() { // the notice outlives the server
		if tries++; tries > 10 {
			t.Fatalf("got log %s, want a notice that was not sent", s.stderr)
		}
		s = start()
		time.Sleep(time.Second)
	}
	list := ok(t, "webhooks", "list", "--webhooks", hooks).stdout
	if !regexp.MustCompile(`clinic-a  failing  .*  1 +https://localhost/canary  20..-.*: the address is not a public one\n`).MatchString(list) {
		t.Errorf("got list\n%s, want the failure, why, and one notice that waits", list)
	}
	for _, secret := range []string{"canary", "localhost", "patient-19"} {
		if strings.Contains(s.stderr.String(), secret) {
			t.Errorf("got log %s, want no %s", s.stderr, secret)
		}
	}
}

func TestServeErrors(t *testing.T) {
	dir := t.TempDir()
	keyFile := filepath.Join(dir, "keys.json")
	ok(t, "keys", "create", "--keys", keyFile, "--account", "a")
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"not a key file":   {"--db", filepath.Join(dir, "a.db"), "--keys", text},
		"not a database":   {"--db", text, "--keys", keyFile},
		"not a model":      {"--db", filepath.Join(dir, "b.db"), "--keys", keyFile, "--model", keyFile},
		"address in use":   {"--addr", "256.0.0.1:1", "--db", filepath.Join(dir, "c.db"), "--keys", keyFile},
		"not webhooks":     {"--db", filepath.Join(dir, "e.db"), "--keys", keyFile, "--webhooks", keyFile},
		"no such database": {"--db", filepath.Join(dir, "none", "d.db"), "--keys", keyFile},
	} {
		o := cli(t, append([]string{"serve"}, args...)...)
		if o.code != command.ExitError || !strings.HasPrefix(o.stderr, "voicescreen: ") {
			t.Errorf("%s: got %+v, want an error", name, o)
		}
	}
}
