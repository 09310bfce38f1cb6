package httpadapter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-audio/audio"
	"github.com/go-audio/wav"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/memory"
)

// service is a handler on an engine in memory, with a clock and identifiers
// that tests know.
type service struct {
	t       testing.TB
	engine  *voicescreen.Engine
	keys    *httpadapter.Keys
	opts    httpadapter.Options // of handler
	handler http.Handler
	key     string // of the account "clinic", with all scopes
	log     *lockedBuffer
	store   store.Store

	mu  sync.Mutex
	now time.Time // protected by mu
}

// newService starts a service without workers: submissions stay in processing
// until finish.
func newService(t testing.TB) *service { t.Helper(); return newServiceWith(t, nil, nil) }

func newServiceWith(t testing.TB, eo func(*voicescreen.Options), ho *httpadapter.Options) *service {
	t.Helper()
	s := &service{t: t, keys: httpadapter.NewKeys(), log: &lockedBuffer{}, now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	s.store = memory.New(&memory.Options{Now: s.time})
	var ids atomic.Int64
	opts := &voicescreen.Options{
		Workers: -1,
		NewID:   func() string { return fmt.Sprintf("session-%d", ids.Add(1)) },
		Scoring: voicescreen.ScoringOptions{Models: []models.Scorer{fixedScorer{}}},
	}
	if eo != nil {
		eo(opts)
	}
	e, err := voicescreen.New(s.store, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := s.store.Close(); err != nil {
			t.Error(err)
		}
	})
	if ho != nil {
		s.opts = *ho
	}
	if s.opts.TempDir == "" {
		s.opts.TempDir = t.TempDir()
	}
	s.opts.Logger = slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.engine = e
	s.use(e)
	s.key = s.newKey("clinic", httpadapter.ScopeInitiate, httpadapter.ScopeSubmit, httpadapter.ScopeRead, httpadapter.ScopeFeedback, httpadapter.ScopeAdmin)
	t.Cleanup(func() {
		if left, err := os.ReadDir(s.opts.TempDir); err != nil || len(left) > 0 {
			t.Errorf("got %d temporary files left, %v", len(left), err)
		}
	})
	return s
}

// use makes a handler on another engine.
func (s *service) use(e *voicescreen.Engine) { s.handler = httpadapter.New(e, s.keys, &s.opts) }

func (s *service) newKey(account string, scopes ...httpadapter.Scope) string {
	return mustCreate(s.t, s.keys, account, scopes...)
}

func (s *service) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *service) advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// request is one request of a test. Key "" is that of the service, "none"
// sends none.
type request struct {
	method, path string
	contentType  string
	body         string
	key          string
	prefer       string
	accept       string
	beyond       bool // whether the call takes more than the document says
}

// do answers a request, and checks both against the OpenAPI document.
func (s *service) do(r request) *httptest.ResponseRecorder {
	s.t.Helper()
	req := httptest.NewRequest(r.method, r.path, strings.NewReader(r.body))
	if r.contentType != "" {
		req.Header.Set("Content-Type", r.contentType)
	}
	if r.accept != "" {
		req.Header.Set("Accept", r.accept)
	}
	if r.prefer != "" {
		req.Header.Set("Prefer", r.prefer)
	}
	switch r.key {
	case "":
		req.Header.Set("X-API-Key", s.key)
	case "none":
	default:
		req.Header.Set("X-API-Key", r.key)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, req)
	checkOpenAPI(s.t, req, r, w)
	checkErrorBody(s.t, r, w)
	return w
}

// checkErrorBody checks that an error has the one body that errors have.
func checkErrorBody(t testing.TB, r request, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code < 400 || w.Code == http.StatusExpectationFailed || strings.Contains(w.Body.String(), "unsupported_metadata_spec") {
		return
	}
	var body map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || len(body) != 1 {
		t.Errorf("%s %s: got body %s, want an object with a message alone", r.method, r.path, w.Body)
	}
	if text, ok := body["message"].(string); !ok || text == "" {
		t.Errorf("%s %s: got body %s, want a message", r.method, r.path, w.Body)
	}
	if ct := w.Header().Get("Content-Type"); ct != "application/json" {
		t.Errorf("%s %s: got Content-Type %q", r.method, r.path, ct)
	}
}

// want answers a request and ends the test unless the status is right. It
// returns the body, decoded.
func (s *service) want(status int, r request) map[string]any {
	s.t.Helper()
	w := s.do(r)
	if w.Code != status {
		s.t.Fatalf("%s %s: got %d %s, want %d", r.method, r.path, w.Code, w.Body, status)
	}
	var body map[string]any
	if w.Body.Len() > 0 && w.Body.Bytes()[0] == '{' {
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
			s.t.Fatalf("%s %s: body %s: %v", r.method, r.path, w.Body, err)
		}
	}
	return body
}

// jsonObject decodes a JSON object.
func jsonObject(t testing.TB, data []byte) map[string]any {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal(data, &body); err != nil {
		t.Fatalf("body %s: %v", data, err)
	}
	return body
}

// initiate opens a session for a user.
func (s *service) initiate(user string) string {
	s.t.Helper()
	form := url.Values{"user_id": {user}, "is_initiated": {"true"}}
	body := s.want(http.StatusCreated, request{method: "POST", path: "/v2/initate",
		contentType: "application/x-www-form-urlencoded", body: form.Encode()})
	return body["session_id"].(string)
}

// submit opens a session and submits a recording on a path.
func (s *service) submit(user, path string, recording []byte) string {
	s.t.Helper()
	id := s.initiate(user)
	s.want(http.StatusAccepted, form("POST", path, field{"session_id", id}, field{"file", string(recording)}))
	return id
}

// finish brings a session to its end as a worker does, with testScores or a
// failure.
func (s *service) finish(id string, failure *screen.Failure, change func(*store.Session)) {
	s.t.Helper()
	_, err := s.store.Update(context.Background(), "clinic", id, func(r *store.Session, _ time.Time) error {
		r.Status, r.Scores = screen.StatusSuccess, testScores(r.Product.Categories())
		r.Features = map[string]float64{"f0.mean_hz": 120, "quality.snr_db": 30}
		if failure != nil {
			r.Status, r.Scores, r.Failure = screen.StatusFailed, nil, failure
		}
		r.Audio, r.Due, r.Analysed = "", time.Time{}, r.Duration
		r.UpdatedAt = r.SubmittedAt.Add(2 * time.Second)
		if change != nil {
			change(r)
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// tooShort is a failure with all that one has.
var tooShort = &screen.Failure{
	Code:    "audio_length_error",
	Message: "Audio file is less than the minimum audio length of 30.0 seconds",
	Data:    map[string]float64{"minimum_length": 30, "actual_length": 12.5},
}

// field is a part of a multipart body.
type field struct{ name, value string }

// form is a request with a multipart body of the fields, in their order.
func form(method, path string, fields ...field) request {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range fields {
		var part io.Writer
		var err error
		if f.name == "file" {
			part, err = w.CreateFormFile(f.name, "recording.wav")
		} else {
			part, err = w.CreateFormField(f.name)
		}
		if err == nil {
			_, err = io.WriteString(part, f.value)
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return request{method: method, path: path, contentType: w.FormDataContentType(), body: b.String()}
}

// testWAV makes a recording of a soft noise: right in form, nobody speaks.
func testWAV(t testing.TB, rate, channels int, seconds float64) []byte {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "test.wav"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	enc := wav.NewEncoder(f, rate, 16, channels, 1)
	buf := &audio.IntBuffer{Format: &audio.Format{NumChannels: channels, SampleRate: rate}, SourceBitDepth: 16}
	x := uint32(1)
	for range int(seconds*float64(rate)) * channels {
		x = x*1664525 + 1013904223 // Numerical Recipes' generator: the same noise every time
		buf.Data = append(buf.Data, int(x>>24)-128)
	}
	if err := enc.Write(buf); err != nil {
		t.Fatal(err)
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// speech reads one of the repository's recordings.
func speech(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// testScores are the scores of every success in the tests.
func testScores(categories []screen.Category) []screen.Score {
	known := map[screen.Category]screen.Score{
		screen.Depression: {Probability: 0.5, Low: 0.25, High: 0.75, Decision: screen.Indeterminate, Severity: screen.MildToModerate, Coverage: 1,
			Contributions: []screen.Contribution{{Feature: "f0.mean_hz", Value: 120, Unit: "Hz", Logits: -0.5}, {Feature: "hnr.mean_db", Value: math.NaN()}}},
		screen.Anxiety:  {Probability: 0.75, Low: 0.5, High: math.NaN(), Decision: screen.Positive, Severity: screen.ModeratelySevere, Coverage: 1, Calibrated: true},
		screen.Deepfake: {Probability: 0.12344, Low: 0, High: 0.25, Decision: screen.Negative, Coverage: 1, Calibrated: true},
	}
	var list []screen.Score
	for _, c := range categories {
		s := known[c]
		s.Category, s.Model, s.Version = c, "fixed", "1"
		list = append(list, s)
	}
	return list
}

// fixedScorer gives testScores, so that a real analysis has a known end.
type fixedScorer struct{}

func (fixedScorer) Info() models.Info {
	return models.Info{Name: "fixed", Version: "1", Categories: []screen.Category{screen.Depression, screen.Anxiety, screen.Deepfake}}
}

func (f fixedScorer) Score(context.Context, *features.Recording) ([]screen.Score, error) {
	return testScores(f.Info().Categories), nil
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
