package httpadapter_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/screen"
)

// sample is a line of the text format: a name, labels and a value.
var sample = regexp.MustCompile(`^([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? ([0-9.e+-]+)$`)

// scrape reads metrics, each line of which must be well-formed and belong to
// the TYPE before it, and returns the values by name and labels.
func scrape(t *testing.T, m *httpadapter.Metrics) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if ct := w.Header().Get("Content-Type"); w.Code != http.StatusOK || !strings.HasPrefix(ct, "text/plain; version=0.0.4") {
		t.Errorf("got %d %q, want the text format", w.Code, ct)
	}
	values := map[string]float64{}
	kind := ""
	for lines := bufio.NewScanner(w.Body); lines.Scan(); {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			kind, _, _ = strings.Cut(rest, " ")
			continue
		}
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		part := sample.FindStringSubmatch(line)
		if part == nil || !strings.HasPrefix(part[1], kind) {
			t.Errorf("got line %q under %s", line, kind)
			continue
		}
		value, err := strconv.ParseFloat(part[3], 64)
		if err != nil {
			t.Errorf("%q: %v", line, err)
		}
		values[part[1]+"{"+part[2]+"}"] = value
	}
	return values
}

func TestMetrics(t *testing.T) {
	const canary = "CANARY"
	var m httpadapter.Metrics
	s := newServiceWith(t, nil, &httpadapter.Options{Observe: m.Observe})
	m.Queue = s.engine.Queued
	recording := string(testWAV(t, 44100, 1, 0.1))
	id := s.submit(canary+"-user", "/v2/prediction/", []byte(recording))
	for _, r := range []request{
		{method: "GET", path: "/v1/predict/sessions/" + id},
		{method: "GET", path: "/v2/predict/sessions/" + canary},
		{method: "GET", path: "/v2/predict/users/" + canary},
		{method: "GET", path: "/" + canary},
		{method: canary, path: "/v2/initiate"},
		{method: "POST", path: "/v2/initiate", body: `{"user_id":"CANARY","is_initiated":false,"metadata":{"CANARY":1}}`},
		{method: "GET", path: "/", key: canary},
		{method: "GET", path: "/healthz", key: "none"},
	} {
		s.do(r)
	}
	got := scrape(t, &m)
	for name, want := range map[string]float64{
		`voicescreen_queue_depth{}`: 1,
		`voicescreen_requests_total{code="201",method="POST",route="initate"}`:                         1,
		`voicescreen_requests_total{code="202",method="POST",route="prediction"}`:                      1,
		`voicescreen_requests_total{code="200",method="GET",route="predict/sessions/*"}`:               1,
		`voicescreen_requests_total{code="404",method="GET",route="predict/sessions/*"}`:               1,
		`voicescreen_requests_total{code="422",method="POST",route="initiate"}`:                        1,
		`voicescreen_requests_total{code="404",method="",route="none"}`:                                1,
		`voicescreen_requests_total{code="405",method="",route="none"}`:                                1,
		`voicescreen_requests_total{code="403",method="",route="none"}`:                                1,
		`voicescreen_request_duration_seconds_count{method="GET",route="predict/sessions/*"}`:          2,
		`voicescreen_request_duration_seconds_bucket{method="",route="none",le="+Inf"}`:                3,
		`voicescreen_request_duration_seconds_bucket{method="GET",route="predict/sessions/*",le="30"}`: 2,
	} {
		if got[name] != want {
			t.Errorf("%s: got %g, want %g", name, got[name], want)
		}
	}
	for name := range got {
		for _, secret := range []string{canary, id, "clinic"} {
			if strings.Contains(name, secret) {
				t.Errorf("%s holds %s", name, secret)
			}
		}
	}
}

func TestMetricsOfAnalyses(t *testing.T) {
	var m httpadapter.Metrics
	m.Queue = func(context.Context) (int, error) { return 0, errors.New("the store is away") }
	begin := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for i, r := range []voicescreen.Result{
		{Status: screen.StatusSuccess, Product: screen.DeepfakeBinary},
		{Status: screen.StatusSuccess, Product: screen.DeepfakeBinary},
		{Status: screen.StatusFailed, Product: screen.DeepfakeBinary, Failure: &screen.Failure{Code: "a\"b\\c\nd"}},
	} {
		r.SubmittedAt, r.UpdatedAt = begin, begin.Add(time.Duration(i)*1500*time.Millisecond) // 0, 1.5 and 3 s
		m.OnResult(context.Background(), "clinic", &r)
	}
	got := scrape(t, &m)
	if _, there := got["voicescreen_queue_depth{}"]; there {
		t.Error("got a queue depth from a queue that cannot be asked")
	}
	product := `product="deepfake"`
	for name, want := range map[string]float64{
		`voicescreen_analyses_total{error="",` + product + `,status="success"}`:          2,
		`voicescreen_analyses_total{error="a\"b\\c\nd",` + product + `,status="failed"}`: 1,
		`voicescreen_result_seconds_sum{` + product + `}`:                                4.5,
		`voicescreen_result_seconds_count{` + product + `}`:                              3,
		`voicescreen_result_seconds_bucket{` + product + `,le="0.5"}`:                    1,
		`voicescreen_result_seconds_bucket{` + product + `,le="1"}`:                      1,
		`voicescreen_result_seconds_bucket{` + product + `,le="2"}`:                      2,
		`voicescreen_result_seconds_bucket{` + product + `,le="5"}`:                      3,
		`voicescreen_result_seconds_bucket{` + product + `,le="+Inf"}`:                   3,
	} {
		if got[name] != want {
			t.Errorf("%s: got %g, want %g", name, got[name], want)
		}
	}
}

// A duration on a bound is within it, and each bucket holds those before it.
func TestHistogram(t *testing.T) {
	var m httpadapter.Metrics
	for _, d := range []time.Duration{0, time.Second, time.Second + 1, 2500 * time.Millisecond, time.Hour, -time.Second} {
		m.Observe(httpadapter.Observation{"GET", "x", 200, d})
	}
	got := scrape(t, &m)
	for bound, want := range map[string]float64{"0.0005": 2, "0.5": 2, "1": 3, "2.5": 5, "30": 5, "+Inf": 6} {
		if n := got[`voicescreen_request_duration_seconds_bucket{method="GET",route="x",le="`+bound+`"}`]; n != want {
			t.Errorf("up to %s s: got %g durations, want %g", bound, n, want)
		}
	}
}

// A code that is not UTF-8, which no label can hold, is counted all the same.
func TestMetricsOfAForeignCode(t *testing.T) {
	var m httpadapter.Metrics
	m.OnResult(context.Background(), "", &voicescreen.Result{Status: screen.StatusFailed, Product: screen.DeepfakeBinary,
		Failure: &screen.Failure{Code: "a\xffb"}})
	if got := scrape(t, &m)["voicescreen_analyses_total{error=\"a\uFFFDb\",product=\"deepfake\",status=\"failed\"}"]; got != 1 {
		t.Errorf("got %g, want it counted once", got)
	}
}

func TestMetricsConcurrent(t *testing.T) {
	var m httpadapter.Metrics
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				m.Observe(httpadapter.Observation{"GET", "x", 200, time.Millisecond})
				m.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
			}
		})
	}
	wg.Wait()
	if got := scrape(t, &m)[`voicescreen_requests_total{code="200",method="GET",route="x"}`]; got != 800 {
		t.Errorf("got %g requests, want 800", got)
	}
}
