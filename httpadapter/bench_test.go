package httpadapter_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// serve answers a request without the checks of tests.
func (s *service) serve(b *testing.B, r request, want int) {
	req := httptest.NewRequest(r.method, r.path, strings.NewReader(r.body))
	req.Header.Set("X-API-Key", s.key)
	if r.contentType != "" {
		req.Header.Set("Content-Type", r.contentType)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, req)
	if w.Code != want {
		b.Fatalf("got %d %s, want %d", w.Code, w.Body, want)
	}
}

func BenchmarkInitiate(b *testing.B) {
	s := newService(b)
	b.ReportAllocs()
	for b.Loop() {
		s.serve(b, request{method: "POST", path: "/v2/initate", contentType: formType,
			body: "user_id=p1&is_initiated=true&metadata.age=30&metadata.gender=Female"}, http.StatusCreated)
	}
}

func BenchmarkResult(b *testing.B) {
	s := newService(b)
	id := s.submit("p1", "/v2/prediction/", testWAV(b, 44100, 1, 0.1))
	s.finish(id, nil, nil)
	b.ReportAllocs()
	for b.Loop() {
		s.serve(b, request{method: "GET", path: "/v2/predict/sessions/" + id}, http.StatusOK)
	}
}

// A submission of half a minute, with the file after the session and before it.
func BenchmarkSubmit(b *testing.B) {
	const seconds = 30
	recording := string(testWAV(b, 44100, 1, seconds))
	for name, fileFirst := range map[string]bool{"streamed": false, "spooled": true} {
		b.Run(name, func(b *testing.B) {
			s := newService(b)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				id := s.initiate(fmt.Sprint(b.Name()))
				fields := []field{{"session_id", id}, {"file", recording}}
				if fileFirst {
					fields[0], fields[1] = fields[1], fields[0]
				}
				r := form("POST", "/v2/prediction/", fields...)
				b.StartTimer()
				s.serve(b, r, http.StatusAccepted)
				b.StopTimer()
				s.serve(b, request{method: "DELETE", path: "/v2/sessions/" + id}, http.StatusNoContent)
				b.StartTimer()
			}
			b.ReportMetric(seconds*float64(b.N)/b.Elapsed().Seconds(), "audio-s/s")
		})
	}
}
