package httpadapter

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen"
)

// Observation is one request that was answered, as Options.Observe has it. It
// holds nothing of whom the request was from or about.
type Observation struct {
	Method   string        // of the route; "" where there is no such route
	Route    string        // such as "predict/sessions/*"; "none" where there is no such route
	Status   int           // of the answer
	Duration time.Duration // from the headers to the end of the answer
}

// Metrics counts requests and analyses and shows them in the text format of
// Prometheus, version 0.0.4. It is not part of the surface that New serves: the
// figures are those of all accounts together, which no single account's key
// should see, and are meant for a listener of their own. The zero value is ready
// to use, and all its methods may be called concurrently.
//
//	var m httpadapter.Metrics
//	engine, err := voicescreen.Open(path, &voicescreen.Options{Results: voicescreen.ResultOptions{OnResult: m.OnResult}})
//	m.Queue = engine.Queued
//	handler := httpadapter.New(engine, keys, &httpadapter.Options{Observe: m.Observe})
//	go http.ListenAndServe("127.0.0.1:9090", &m)
//
// The metrics, none of which has a label with a user, session, account or key:
//
//	voicescreen_requests_total{method,route,code}         counter
//	voicescreen_request_duration_seconds{method,route}    histogram
//	voicescreen_analyses_total{product,status,error}      counter
//	voicescreen_result_seconds{product}                   histogram, from submission to result
//	voicescreen_queue_depth                               gauge, recordings that wait or are in work
type Metrics struct {
	// Queue returns how many recordings wait or are in work: Engine.Queued. If
	// it is nil or fails, voicescreen_queue_depth is left out. It must not be
	// changed once the Metrics is in use.
	Queue func(context.Context) (int, error)

	mu       sync.Mutex            // protects what follows
	requests map[string]uint64     // by labels, as the ones below
	analyses map[string]uint64     //
	latency  map[string]*histogram // of requests
	results  map[string]*histogram // from submission to result
}

// histogram counts durations.
type histogram struct {
	bounds []float64 // seconds, ascending
	counts []uint64  // of durations up to each bound, and of all
	sum    float64   // seconds
}

// The bounds of the histograms in seconds, chosen: requests take from
// microseconds to the length of a held answer, results from an idle worker's
// two seconds to a full queue's quarter of an hour.
var (
	requestBounds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	resultBounds  = []float64{.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1200, 3600}
)

// Observe counts a request. It is an Options.Observe.
func (m *Metrics) Observe(o Observation) {
	route := labels("method", o.Method, "route", o.Route)
	request := route + "," + labels("code", strconv.Itoa(o.Status))
	m.mu.Lock()
	defer m.mu.Unlock()
	count(&m.requests, request)
	observe(&m.latency, route, requestBounds, o.Duration)
}

// OnResult counts an analysis. It is a ResultOptions.OnResult of the engine. A
// program that needs the result too calls it from its own.
func (m *Metrics) OnResult(_ context.Context, _ string, r *voicescreen.Result) {
	code := ""
	if r.Failure != nil {
		code = r.Failure.Code
	}
	product := labels("product", r.Product.String())
	analysis := product + "," + labels("status", r.Status.String(), "error", code)
	m.mu.Lock()
	defer m.mu.Unlock()
	count(&m.analyses, analysis)
	observe(&m.results, product, resultBounds, r.UpdatedAt.Sub(r.SubmittedAt))
}

func count(m *map[string]uint64, labels string) {
	if *m == nil {
		*m = map[string]uint64{}
	}
	(*m)[labels]++
}

func observe(m *map[string]*histogram, labels string, bounds []float64, d time.Duration) {
	if *m == nil {
		*m = map[string]*histogram{}
	}
	h := (*m)[labels]
	if h == nil {
		h = &histogram{bounds: bounds, counts: make([]uint64, len(bounds)+1)}
		(*m)[labels] = h
	}
	s := d.Seconds()
	i, _ := slices.BinarySearch(bounds, s)
	for ; i < len(h.counts); i++ {
		h.counts[i]++
	}
	h.sum += s
}

var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// labels writes names and values as they stand between braces.
func labels(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(pairs[i] + `="` + escapeLabel.Replace(pairs[i+1]) + `"`)
	}
	return b.String()
}

// ServeHTTP answers with all metrics, at any path.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	m.write(&b)
	if m.Queue != nil {
		if n, err := m.Queue(r.Context()); err == nil {
			head(&b, "voicescreen_queue_depth", "gauge", "Recordings that wait or are being analysed.")
			fmt.Fprintf(&b, "voicescreen_queue_depth %d\n", n)
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write(b.Bytes()) // an error means that nobody listens any more
}

func (m *Metrics) write(b *bytes.Buffer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	writeCounters(b, "voicescreen_requests_total", "Requests that were answered.", m.requests)
	writeHistograms(b, "voicescreen_request_duration_seconds", "Time that requests took.", m.latency)
	writeCounters(b, "voicescreen_analyses_total", "Sessions brought to their end.", m.analyses)
	writeHistograms(b, "voicescreen_result_seconds", "Time from submission to result.", m.results)
}

func head(b *bytes.Buffer, name, kind, help string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func writeCounters(b *bytes.Buffer, name, help string, m map[string]uint64) {
	head(b, name, "counter", help)
	for _, l := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(b, "%s{%s} %d\n", name, l, m[l])
	}
}

func writeHistograms(b *bytes.Buffer, name, help string, m map[string]*histogram) {
	head(b, name, "histogram", help)
	for _, l := range slices.Sorted(maps.Keys(m)) {
		h := m[l]
		for i, n := range h.counts {
			bound := "+Inf"
			if i < len(h.bounds) {
				bound = strconv.FormatFloat(h.bounds[i], 'g', -1, 64)
			}
			fmt.Fprintf(b, "%s_bucket{%s,le=%q} %d\n", name, l, bound, n)
		}
		fmt.Fprintf(b, "%s_sum{%s} %g\n%s_count{%s} %d\n", name, l, h.sum, name, l, h.counts[len(h.bounds)])
	}
}
