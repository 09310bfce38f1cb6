package httpadapter_test

import (
	"bytes"
	"context"
	"io/fs"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// canary is what stands for patient data; no other text has it.
const canary = "CANARY"

// canaries is a service on a disk, with everything that writes logs or files.
type canaries struct {
	*service
	dir     string // of everything that is on the disk
	metrics httpadapter.Metrics
	audit   string
	errors  strings.Builder // bodies of answers with an error
}

func newCanaries(t *testing.T) *canaries {
	t.Helper()
	c := &canaries{service: newService(t), dir: t.TempDir()}
	logger := slog.New(slog.NewTextHandler(c.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c.audit = filepath.Join(c.dir, "audit.log")
	trail, err := audit.Open(c.audit, nil)
	if err != nil {
		t.Fatal(err)
	}
	st, err := bolt.Open(filepath.Join(c.dir, "clinic.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := voicescreen.New(st, &voicescreen.Options{Workers: 1, Logger: logger, Scoring: voicescreen.ScoringOptions{Models: []models.Scorer{fixedScorer{}}}, Results: voicescreen.ResultOptions{OnResult: c.metrics.OnResult}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
		trail.Close()
	})
	tmp := filepath.Join(c.dir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	c.handler = httpadapter.New(e, c.keys, &httpadapter.Options{Logger: logger, Audit: trail, Observe: c.metrics.Observe, TempDir: tmp})
	return c
}

// send makes a request with a canary in every header that a call reads, and in one
// that no call reads.
func (c *canaries) send(method, path, contentType, body, key string) *httptest.ResponseRecorder {
	c.t.Helper()
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	for _, name := range []string{"Prefer", "X-Request-Id", "User-Agent", "Accept", "Referer", "Cookie", "Authorization", "X-Forwarded-For", canary} {
		req.Header.Set(name, canary)
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("X-API-Key", key)
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, req)
	if w.Code == http.StatusInternalServerError {
		c.t.Errorf("%s %s: got 500", method, path)
	}
	if w.Code >= 400 && w.Code != http.StatusExpectationFailed {
		c.errors.WriteString(w.Body.String())
	}
	for name, values := range w.Header() {
		if name != "Link" { // which is the caller's own path
			c.errors.WriteString(name + strings.Join(values, ""))
		}
	}
	c.fileNames()
	return w
}

// fileNames checks the names of all files.
func (c *canaries) fileNames() {
	c.t.Helper()
	err := filepath.WalkDir(c.dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(strings.ToUpper(path), canary) {
			c.t.Errorf("got file name %s, want nothing of what was sent", path)
		}
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// upload returns a multipart body with a canary in every part but the recording and
// the session.
func (c *canaries) upload(session, recording string, fileFirst bool) (contentType, body string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	field := func() { w.WriteField("session_id", session) } // a buffer takes everything
	if !fileFirst {
		field()
	}
	w.WriteField(canary, canary)
	head := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="` + canary + `.wav"`}, "Content-Type": {"audio/" + canary}, "X-" + canary: {canary}}
	part, err := w.CreatePart(head)
	if err != nil {
		c.t.Fatal(err)
	}
	part.Write([]byte(recording))
	if fileFirst {
		field()
	}
	w.Close()
	return w.FormDataContentType(), b.String()
}

// No text that a caller sends about a patient is in logs, metrics, errors, the
// audit log or names of files, whether the request succeeds or not.
func TestNothingOfPatientsLeaks(t *testing.T) {
	c := newCanaries(t)
	recording := string(testWAV(t, 44100, 1, 2.5)) + canary // behind its end
	start := func() string {
		w := c.send("POST", "/v2/initiate", jsonType, `{"user_id":"`+canary+`-user","is_initiated":true,"`+canary+`":"`+canary+`","metadata":{"age":44,"zipcode":"12345"}}`, c.key)
		return jsonObject(t, w.Body.Bytes())["session_id"].(string)
	}
	for _, fileFirst := range []bool{false, true} {
		for _, path := range []string{"/v2/prediction", "/predict"} {
			id := start()
			ct, body := c.upload(id, recording, fileFirst)
			if w := c.send("POST", path, ct, body, c.key); w.Code != http.StatusAccepted {
				t.Fatalf("%s: got %d %s, want 202", path, w.Code, w.Body)
			}
			within(t, 30*time.Second, "the recording is analysed", func() bool {
				w := c.send("GET", "/v2/predict/sessions/"+id, canary, "", c.key)
				return !strings.Contains(w.Body.String(), "processing")
			})
			c.send("POST", path, ct, body, c.key)
			c.send("PATCH", "/v2/feedback/phq/9", jsonType, `{"session_id":"`+id+`","actual_score":"`+canary+`"}`, c.key)
			c.send("PATCH", "/v2/feedback/phq/2", jsonType, `{"session_id":"`+id+`","actual_score":[1,2],"`+canary+`":1}`, c.key)
			c.send("PATCH", "/v2/feedback/depression/binary", formType, "session_id="+id+"&actual_score="+canary, c.key)
			ct, body = c.upload(canary, recording, fileFirst)
			c.send("POST", path, ct, body, c.key)
			ct, body = c.upload(start(), canary, fileFirst)
			c.send("POST", path, ct, body, c.key)
			c.send("POST", path, ct, body[:len(body)/2], c.key)
		}
	}
	for _, r := range []request{
		{method: "POST", path: "/v2/initiate", body: `{"user_id":"CANARY","is_initiated":false,"metadata":{"zipcode":"CANARY"}}`},
		{method: "POST", path: "/v2/initiate", body: `{"user_id":["CANARY"],"is_initiated":"CANARY","metadata":{"age":"CANARY","gender":"CANARY","race":"CANARY","ethnicity":"CANARY","language":"CANARY","weight":"CANARY"}}`},
		{method: "POST", path: "/v2/initiate", body: `{"CANARY`},
		{method: "POST", path: "/v2/initiate", body: "CANARY=%zz"},
		{method: "POST", path: "/v2/initiate", body: "user_id=CANARY%0aCANARY&is_initiated=CANARY"},
		{method: "GET", path: "/v2/predict/users/CANARY-user?CANARY=CANARY"},
		{method: "GET", path: "/v2/predict/users/CANARY-user?limit=1&detail=full"},
		{method: "GET", path: "/v2/predict/users/CANARY-user?limit=CANARY"},
		{method: "GET", path: "/v2/predict/users/CANARY-user?cursor=CANARY&limit=1"},
		{method: "GET", path: "/v2/predict/users/CANARY-user?detail=CANARY"},
		{method: "GET", path: "/v2/predict/users/CANARY%0aCANARY"},
		{method: "GET", path: "/v2/predict/sessions/CANARY"},
		{method: "GET", path: "/v2/predict/sessions/..%2fCANARY"},
		{method: "GET", path: "/CANARY"},
		{method: canary, path: "/v2/initiate"},
		{method: "PATCH", path: "/v2/feedback/phq/2", body: `{"session_id":"CANARY","actual_score":[1,1]}`},
		{method: "PATCH", path: "/v2/feedback/gad/7", body: `{"session_id":{"CANARY":1},"actual_score":["CANARY",1]}`},
		{method: "POST", path: "/predict", body: `{"session_id":"CANARY"}`},
		{method: "DELETE", path: "/v2/sessions/CANARY"},
		{method: "DELETE", path: "/v2/users/CANARY-user"},
		{method: "GET", path: "/", key: canary},
		{method: "GET", path: "/v2/predict/users/CANARY", key: "vk_" + canary + "_" + canary},
		{method: "GET", path: "/v2/predict/users/CANARY", key: "vk_" + canary + "0123456789_" + strings.Repeat(canary+"0123", 7)[:64]},
	} {
		key := r.key
		if key == "" {
			key = c.key
		}
		c.send(r.method, r.path, "text/"+canary, r.body, key)
	}
	w := httptest.NewRecorder()
	c.metrics.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	trail, err := os.ReadFile(c.audit)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"log": c.log.String(), "metrics": w.Body.String(), "errors": c.errors.String(), "audit log": string(trail)} {
		for _, form := range []string{canary, strings.ToLower(canary), c.key, c.key[len(c.key)-64:]} {
			if i := strings.Index(text, form); i >= 0 {
				t.Errorf("%s: got %q, want nothing of what was sent", what, text[max(0, i-100):min(len(text), i+100)])
			}
		}
		if what != "errors" && !strings.Contains(text, "feedback/phq/2") {
			t.Errorf("%s: got\n%.1000s\nwant every call", what, text)
		}
	}
}
