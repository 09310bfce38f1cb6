package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/httpadapter/client"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/memory"
)

// service is a real one on a real connection, with faults where a test wants
// them.
type service struct {
	engine *voicescreen.Engine
	url    string
	key    string

	mu     sync.Mutex // protects what follows
	faults []fault    // of the next requests
	seen   []string   // method and path of each request
}

// fault is what happens to a request.
type fault uint8

const (
	none        fault = iota
	dropBefore        // the connection breaks off before the service has the request
	dropAfter         // it breaks off when the service has done what was asked for
	busy              // 503
	soon              // 503 with Retry-After: 1
	broken            // 500
	brokenAfter       // 502 when the service has done what was asked for
	limited           // 429
	away              // 503 with Retry-After of an hour
)

func newService(t *testing.T, workers int) *service {
	t.Helper()
	st := memory.New(nil)
	engine, err := voicescreen.New(st, &voicescreen.Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	keys := httpadapter.NewKeys()
	s := &service{engine: engine}
	s.key, err = keys.Create("clinic", httpadapter.ScopeInitiate, httpadapter.ScopeSubmit, httpadapter.ScopeRead, httpadapter.ScopeFeedback, httpadapter.ScopeAdmin)
	if err != nil {
		t.Fatal(err)
	}
	handler := httpadapter.New(engine, keys, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(handler, w, r) }))
	s.url = server.URL
	t.Cleanup(func() {
		server.Close()
		if err := errors.Join(engine.Close(context.Background()), st.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *service) serve(handler http.Handler, w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	f := none
	if len(s.faults) > 0 {
		f, s.faults = s.faults[0], s.faults[1:]
	}
	s.seen = append(s.seen, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	switch f {
	case none:
		handler.ServeHTTP(w, r)
	case dropBefore:
		panic(http.ErrAbortHandler)
	case dropAfter:
		handler.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case busy:
		w.WriteHeader(http.StatusServiceUnavailable)
	case soon:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	case broken:
		w.WriteHeader(http.StatusInternalServerError)
	case brokenAfter:
		handler.ServeHTTP(httptest.NewRecorder(), r)
		w.WriteHeader(http.StatusBadGateway)
	case limited:
		w.WriteHeader(http.StatusTooManyRequests)
	case away:
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// with sets the faults of the next requests and returns a function that says
// how many there were.
func (s *service) with(faults ...fault) (requests func() int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.seen = faults, nil
	return func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.seen)
	}
}

func (s *service) client(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.New(s.url+"/", s.key, &client.Options{Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func recording(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

const (
	interview = "interview_en.wav"
	patience  = time.Minute // for an analysis, on a busy machine
)

// status is that of an *Error; 0 of any other.
func status(err error) int {
	var e *client.Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// The whole flow against the whole service.
func TestFlow(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s := newService(t, 1)
	c := s.client(t)
	english := true
	user := "patient/17 ?&ü"
	id, err := c.Initiate(ctx, client.InitiateRequest{UserID: user, Consent: true,
		Metadata: screen.Metadata{Age: 41, Gender: screen.Female, Zipcode: "02139", English: &english}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Result(ctx, id)
	if err != nil || r.Submitted() || r.Status != screen.StatusFailed {
		t.Errorf("before the submission: got %+v %v", r, err)
	}
	if err := c.PHQ2(ctx, id, [2]int{}); status(err) != http.StatusConflict {
		t.Errorf("feedback before the submission: got %v, want 409", err)
	}
	if err := c.Submit(ctx, id, recording(t, interview), nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Submit(ctx, id, recording(t, interview), nil); status(err) != http.StatusConflict {
		t.Errorf("second submission: got %v, want 409", err)
	}
	r, err = c.Wait(ctx, id)
	if err != nil || r.Status != screen.StatusSuccess || r.SessionID != id || r.Categories != "depression,anxiety" ||
		r.Depression == "" || r.Anxiety == "" || r.Score != r.Depression || time.Since(r.CreatedAt.Time) > time.Hour {
		t.Fatalf("got %+v %v, want the scores", r, err)
	}
	for name, err := range map[string]error{
		"PHQ-2": c.PHQ2(ctx, id, [2]int{1, 2}), "PHQ-9": c.PHQ9(ctx, id, [9]int{3, 2, 1}),
		"GAD-7": c.GAD7(ctx, id, [7]int{1}), "interview": c.Interview(ctx, id, screen.InterviewUndecided),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	r, err = c.Result(ctx, id)
	if err != nil || !slices.Equal(r.Labels.GAD7, []int{1, 0, 0, 0, 0, 0, 0}) || r.Labels.Depression != screen.InterviewUndecided {
		t.Errorf("got %+v %v, want the labels", r, err)
	}
	list, next, err := c.Results(ctx, user, client.Page{})
	if err != nil || len(list) != 1 || list[0].SessionID != id || next != "" {
		t.Errorf("got %v %q %v, want the one result", list, next, err)
	}
	if err := c.DeleteSession(ctx, id); err != nil {
		t.Error(err)
	}
	if err := c.ForgetUser(ctx, user); err != nil {
		t.Error(err)
	}
	if _, err := c.Result(ctx, id); status(err) != http.StatusNotFound {
		t.Errorf("after it was erased: got %v, want 404", err)
	}
}

// Every product goes where it belongs, and a rate is passed on.
func TestProducts(t *testing.T) {
	ctx := context.Background()
	s := newService(t, -1)
	c := s.client(t)
	for product, categories := range map[screen.Product]string{
		screen.DepressionAnxiety: "depression,anxiety severity", screen.DepressionBinary: "depression binary",
		screen.DepressionSeverity: "depression severity", screen.AnxietySeverity: "anxiety severity", screen.DeepfakeBinary: "deepfake binary",
	} {
		id := initiate(t, c)
		if err := c.Submit(ctx, id, recording(t, interview), &client.SubmitOptions{Product: product, SampleRate: 44100, Speech: screen.Reading}); err != nil {
			t.Errorf("%v: %v", product, err)
			continue
		}
		if r, err := c.Result(ctx, id); err != nil || r.Categories+" "+r.Granularity != categories || r.Status != screen.StatusProcessing {
			t.Errorf("%v: got %+v %v, want %s", product, r, err, categories)
		}
	}
	id := initiate(t, c)
	if err := c.Submit(ctx, id, recording(t, interview), &client.SubmitOptions{SampleRate: 16000}); status(err) != http.StatusUnprocessableEntity {
		t.Errorf("another rate: got %v, want 422", err)
	}
	if err := c.Submit(ctx, id, recording(t, interview), &client.SubmitOptions{Speech: 9}); err == nil {
		t.Error("submitting an unknown way of speaking: got no error")
	}
	if err := c.Submit(ctx, id, recording(t, interview), &client.SubmitOptions{Product: 99}); err == nil {
		t.Error("got no error for a product that there is not")
	}
}

func initiate(t *testing.T, c *client.Client) string {
	t.Helper()
	id, err := c.Initiate(context.Background(), client.InitiateRequest{UserID: "p1", Consent: true})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestPages(t *testing.T) {
	ctx := context.Background()
	s := newService(t, -1)
	c := s.client(t)
	for range 5 {
		if err := c.Submit(ctx, initiate(t, c), recording(t, interview), nil); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	page, pages := client.Page{Limit: 2}, 0
	for ; pages == 0 || page.Cursor != ""; pages++ {
		list, next, err := c.Results(ctx, "p1", page)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			seen[r.SessionID] = true
		}
		page.Cursor = next
	}
	if pages != 3 || len(seen) != 5 {
		t.Errorf("got %d sessions on %d pages, want 5 on 3", len(seen), pages)
	}
	if list, next, err := c.Results(ctx, "..", client.Page{}); err != nil || len(list) != 0 || next != "" {
		t.Errorf("a user named ..: got %v %q %v, want none", list, next, err)
	}
}

// A service that cannot hold answers is asked again and again.
func TestWaitPolls(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; r.Header.Get("Prefer") != "wait=20" {
			t.Errorf("got Prefer %q", r.Header.Get("Prefer"))
		}
		state := "processing"
		if asked > 1 {
			state = "success"
		}
		fmt.Fprintf(w, `{"status":%q,"created_at":"2026-03-04 05:06:07"}`, state)
	}))
	defer server.Close()
	c, err := client.New(server.URL, "key", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Wait(context.Background(), "x")
	if err != nil || r.Status != screen.StatusSuccess || asked != 2 || !r.CreatedAt.Equal(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)) {
		t.Errorf("got %+v %v after %d questions, want success after 2", r, err, asked)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	asked = 0
	if _, err := c.Wait(ctx, "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// A time-out for single requests ends none that the service holds.
func TestWaitFitsIntoTheTimeout(t *testing.T) {
	for timeout, want := range map[time.Duration]string{10 * time.Second: "wait=5", time.Minute: "wait=20", 1500 * time.Millisecond: ""} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("Prefer"); got != want {
				t.Errorf("with a time-out of %v: got Prefer %q, want %q", timeout, got, want)
			}
			fmt.Fprint(w, `{"status":"success"}`)
		}))
		c, err := client.New(server.URL, "key", &client.Options{HTTP: &http.Client{Timeout: timeout}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait(t.Context(), "x"); err != nil {
			t.Error(err)
		}
		server.Close()
	}
}

// The key goes to nobody else.
func TestRedirectsAreNotFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("got a request with key %q", r.Header.Get("X-API-Key"))
	}))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	c, err := client.New(server.URL, "key", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Result(context.Background(), "x"); status(err) != http.StatusTemporaryRedirect {
		t.Errorf("got %v, want the redirect as an error", err)
	}
}

func TestErrors(t *testing.T) {
	ctx := context.Background()
	s := newService(t, -1)
	c := s.client(t)
	_, err := c.Initiate(ctx, client.InitiateRequest{Consent: true, Metadata: screen.Metadata{Zipcode: "1"}})
	var e *client.Error
	if !errors.As(err, &e) || e.Status != 422 || e.Fields["user_id"] != "unprovided" || e.Fields["metadata.zipcode"] != "malformed" || e.RequestID == "" {
		t.Errorf("got %+v, want every field at fault", err)
	}
	if text := err.Error(); !strings.Contains(text, "metadata.zipcode is malformed, user_id is unprovided") {
		t.Errorf("got %q, want the fields in it", text)
	}
	if _, err := c.Initiate(ctx, client.InitiateRequest{UserID: "p1"}); status(err) != http.StatusNotAcceptable {
		t.Errorf("got %v, want 406", err)
	}
	if err := c.Submit(ctx, initiate(t, c), bytes.NewReader([]byte("no audio")), nil); status(err) != 422 || !strings.Contains(err.Error(), "audio") {
		t.Errorf("got %v, want 422 and why", err)
	}
	for _, base := range []string{"", "example.org", "ftp://example.org", "http://", "http://x?y=z", "::"} {
		if _, err := client.New(base, "key", nil); err == nil {
			t.Errorf("%q: got no error", base)
		}
	}
	if _, err := client.New("http://x", "", nil); err == nil {
		t.Error("got no error for an empty key")
	}
}
