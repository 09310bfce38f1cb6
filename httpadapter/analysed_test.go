package httpadapter_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
)

// A recording longer than what is analysed says so, in the header of its result and
// in detail=full. One that is shorter says that all of it was analysed.
func TestAnalysedSeconds(t *testing.T) {
	long := speech(t, "female_en.wav")
	s := newServiceWith(t, func(o *voicescreen.Options) {
		o.Workers, o.Audio.MaxDuration = 1, 3*time.Second
		o.Queue.Poll = 5 * time.Millisecond
	}, nil)
	for name, c := range map[string]struct {
		path      string
		recording []byte
		status    int
		analysed  string
		cut       bool
	}{
		"longer":             {"/predict", long, http.StatusOK, "3.000", true},
		"shorter":            {"/predict", testWAV(t, 44100, 1, 1.5), http.StatusExpectationFailed, "1.500", false},
		"longer, and failed": {"/v2/prediction/", testWAV(t, 44100, 1, 4), http.StatusExpectationFailed, "3.000", true},
	} {
		t.Run(name, func(t *testing.T) {
			id := s.submit("p1", c.path, c.recording)
			if _, err := s.engine.Tenant("clinic").Wait(context.Background(), id); err != nil {
				t.Fatal(err)
			}
			w := s.do(request{method: "GET", path: "/v2/predict/sessions/" + id + "?detail=full"})
			if w.Code != c.status || w.Header().Get("Voicescreen-Analysed-Seconds") != c.analysed {
				t.Errorf("got %d %s and header %v, want %d and %s s", w.Code, w.Body, w.Header(), c.status, c.analysed)
			}
			var body struct {
				Detail struct {
					Duration float64 `json:"duration_seconds"`
					Analysed float64 `json:"analysed_seconds"`
				}
			}
			if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
				t.Fatal(err)
			}
			if d := body.Detail; d.Analysed == 0 || d.Duration < d.Analysed || (d.Duration > d.Analysed) != c.cut {
				t.Errorf("got %+v, want the duration and what of it was analysed", d)
			}
		})
	}
	if w := s.do(request{method: "GET", path: "/v2/predict/sessions/" + s.initiate("p1")}); w.Header().Get("Voicescreen-Analysed-Seconds") != "" {
		t.Errorf("got %v, want no header before a submission", w.Header())
	}
}
