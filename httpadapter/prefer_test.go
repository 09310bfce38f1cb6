package httpadapter_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicescreen/voicescreen/httpadapter"
)

func TestPreferWait(t *testing.T) {
	const never = time.Hour
	for name, c := range map[string]struct {
		prefer  string
		after   time.Duration // when the result is there
		max     time.Duration // Options.MaxWait
		held    time.Duration
		applied string
		status  string
	}{
		"plain call":      {"", never, 0, 0, "", "processing"},
		"over":            {"wait=3", never, 0, 3 * time.Second, "wait=3", "processing"},
		"capped":          {"wait=3000", never, 5 * time.Second, 5 * time.Second, "wait=5", "processing"},
		"default cap":     {"wait=3000", never, 0, 30 * time.Second, "wait=30", "processing"},
		"ready meanwhile": {"wait=20", 2500 * time.Millisecond, 0, 3 * time.Second, "wait=20", "success"}, // the engine looks each second
		"ready before":    {"wait=20", 0, 0, 0, "wait=20", "success"},
		"no time":         {"wait=0", never, 0, 0, "wait=0", "processing"},
		"not a number":    {"wait=x", never, 0, 0, "", "processing"},
		"no second":       {"wait=9", never, time.Second - 1, 0, "", "processing"},
		"one second":      {"wait=9", never, time.Second, time.Second, "wait=1", "processing"},
		"switched off":    {"wait=9", never, -1, 0, "", "processing"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServiceWith(t, nil, &httpadapter.Options{MaxWait: c.max})
				id := s.submit("p1", "/predict", testWAV(t, 44100, 1, 0.1))
				if c.after == 0 {
					s.finish(id, nil, nil)
				} else {
					later := time.AfterFunc(c.after, func() { s.finish(id, nil, nil) })
					defer later.Stop()
				}
				begin := time.Now()
				w := s.do(request{method: "GET", path: "/v2/predict/sessions/" + id, prefer: c.prefer})
				if got := time.Since(begin); got != c.held {
					t.Errorf("got an answer after %v, want %v", got, c.held)
				}
				if got := w.Header().Get("Preference-Applied"); got != c.applied {
					t.Errorf("got Preference-Applied %q, want %q", got, c.applied)
				}
				if got := jsonObject(t, w.Body.Bytes())["status"]; w.Code != http.StatusOK || got != c.status {
					t.Errorf("got %d %v, want 200 %s", w.Code, got, c.status)
				}
			})
		})
	}
}

// The call of the deepfake product delays its answer too. The answer for a session
// without a submission, or for an unknown one, is immediate.
func TestPreferWaitElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		id := s.submit("p1", "/predict", testWAV(t, 44100, 1, 0.1))
		time.AfterFunc(1500*time.Millisecond, func() { s.finish(id, tooShort, nil) })
		begin := time.Now()
		s.want(http.StatusExpectationFailed, request{method: "POST", path: "/predict", contentType: formType, body: "session_id=" + id, prefer: "wait=9"})
		if got := time.Since(begin); got != 2*time.Second {
			t.Errorf("got an answer after %v, want 2s", got)
		}
		begin = time.Now()
		s.want(http.StatusExpectationFailed, request{method: "GET", path: "/predict/sessions/" + s.initiate("p1"), prefer: "wait=9"})
		s.want(http.StatusNotFound, request{method: "GET", path: "/predict/sessions/x", prefer: "wait=9"})
		if got := time.Since(begin); got != 0 {
			t.Errorf("got answers after %v, want them at once", got)
		}
		gone := s.submit("p1", "/predict", testWAV(t, 44100, 1, 0.1))
		time.AfterFunc(time.Second, func() {
			if err := s.engine.Tenant("clinic").Delete(context.Background(), gone); err != nil {
				t.Error(err)
			}
		})
		s.want(http.StatusNotFound, request{method: "GET", path: "/predict/sessions/" + gone, prefer: "wait=9"})
	})
}

// Shutdown does not wait for delayed answers.
func TestPreferWaitEndsWithServer(t *testing.T) {
	s := newService(t)
	id := s.submit("p1", "/predict", testWAV(t, 44100, 1, 0.1))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	arrived := make(chan struct{})
	server := httpadapter.NewServer("", http.StripPrefix("/voice", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		s.handler.ServeHTTP(w, r)
	})))
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	req, err := http.NewRequest("GET", "http://"+l.Addr().String()+"/voice/v2/predict/sessions/"+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", s.key)
	req.Header.Set("Prefer", "wait=30")
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-arrived
		time.Sleep(20 * time.Millisecond) // most often the answer is held by now
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	}()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("got %d, want 200", resp.StatusCode)
	}
	<-stopped
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}
