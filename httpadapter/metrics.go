package httpadapter

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/voicescreen/voicescreen"
)

// Observation is one request that was answered, for Options.Observe. It
// identifies neither the caller nor the patient.
type Observation struct {
	Method   string        // of the route; "" for a request without one
	Route    string        // such as "predict/sessions/*"; "none" for a request without one
	Status   int           // of the answer
	Duration time.Duration // from the headers to the end of the answer
}

// Metrics counts requests and analyses and serves the counts to Prometheus, in
// the text format 0.0.4 unless the request asks for another one. The handler of
// New does not serve them: the counts are those of all accounts together, which
// the holder of one account's key must not see. Serve them on a listener of
// their own. The zero value is ready to use, and all its methods may be called
// concurrently. A metric is served once it has a value.
//
//	var m httpadapter.Metrics
//	engine, err := voicescreen.Open(path, &voicescreen.Options{Results: voicescreen.ResultOptions{OnResult: m.OnResult}})
//	m.Queue, m.Notices, m.StoreErrors = engine.Queued, engine.Notices, engine.StoreErrors
//	handler := httpadapter.New(engine, keys, &httpadapter.Options{Observe: m.Observe})
//	go http.ListenAndServe("127.0.0.1:9090", &m)
//
// No label holds a user, session, account or key. The metrics:
//
//	voicescreen_requests_total{method,route,code}         counter
//	voicescreen_request_duration_seconds{method,route}    histogram
//	voicescreen_analyses_total{product,status,error}      counter
//	voicescreen_result_seconds{product}                   histogram, from submission to result
//	voicescreen_queue_depth                               gauge, recordings that wait or are being analysed
//	voicescreen_notices_total{outcome}                    counter, attempts: delivered, failed (sent again), dropped (not delivered, not sent again)
//	voicescreen_notice_last_timestamp_seconds{outcome}    gauge, time of the last such attempt
//	voicescreen_notices_waiting                           gauge, notices that wait to be sent, for the first time or again
//	voicescreen_backup_last_timestamp_seconds{outcome}    gauge, time of the last success and of the last failed backup
//	voicescreen_backup_last_success                       gauge, 1 if the last backup succeeded, 0 if it failed
//	voicescreen_calibrations_total{category,outcome}      counter: activated, kept (the model in use stays), failed
//	voicescreen_calibration_last_timestamp_seconds{category}  gauge, time of the last calibration
//	voicescreen_adaptations_total{category,outcome}       counter: activated, kept (the norms in use stay), failed
//	voicescreen_adaptation_last_timestamp_seconds{category}   gauge, time of the last adaptation of norms
//	voicescreen_store_errors_total{operation}             counter, calls of the store that failed
//
// Times are Unix times in seconds. The counters begin at 0 with the process.
type Metrics struct {
	// Queue returns the number of recordings that wait or are being analysed:
	// Engine.Queued. If it is nil or returns an error, voicescreen_queue_depth is
	// left out. It must not be changed while the Metrics is in use.
	Queue func(context.Context) (int, error)

	// Notices returns the numbers of notices that wait: Engine.Notices. Nil or an
	// error leaves out voicescreen_notices_waiting. It must not be changed while
	// the Metrics is in use.
	Notices func(context.Context) (map[string]int, error)

	// StoreErrors returns how many calls of the store failed: Engine.StoreErrors.
	// Nil leaves out voicescreen_store_errors_total. It must not be changed while
	// the Metrics is in use.
	StoreErrors func() map[string]int

	once     sync.Once // sets what follows
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec // of requests, in seconds
	analyses *prometheus.CounterVec
	results  *prometheus.HistogramVec // from submission to result, in seconds
	background
}

// The bounds of the histograms in seconds. Chosen: a request takes from
// microseconds to the maximum of Options.MaxWait; a result takes from two
// seconds with an idle worker to a quarter of an hour with a full queue.
var (
	requestBounds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	resultBounds  = []float64{.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1200, 3600}
)

// init makes the metrics at first use.
func (m *Metrics) init() {
	m.once.Do(func() {
		m.registry = prometheus.NewRegistry()
		factory := promauto.With(m.registry)
		m.requests = factory.NewCounterVec(prometheus.CounterOpts{
			Name: "voicescreen_requests_total", Help: "Requests that were answered."}, []string{"method", "route", "code"})
		m.latency = factory.NewHistogramVec(prometheus.HistogramOpts{
			Name: "voicescreen_request_duration_seconds", Help: "Time from the headers of a request to the end of its answer.",
			Buckets: requestBounds}, []string{"method", "route"})
		m.analyses = factory.NewCounterVec(prometheus.CounterOpts{
			Name: "voicescreen_analyses_total", Help: "Sessions whose analysis succeeded or failed."}, []string{"product", "status", "error"})
		m.results = factory.NewHistogramVec(prometheus.HistogramOpts{
			Name: "voicescreen_result_seconds", Help: "Time from submission to result.", Buckets: resultBounds}, []string{"product"})
		m.background = newBackground(factory)
	})
}

// Observe counts a request. It is an Options.Observe.
func (m *Metrics) Observe(o Observation) {
	m.init()
	m.requests.WithLabelValues(o.Method, o.Route, strconv.Itoa(o.Status)).Inc()
	m.latency.WithLabelValues(o.Method, o.Route).Observe(o.Duration.Seconds())
}

// OnResult counts an analysis. It is a ResultOptions.OnResult of the engine. A
// program with an OnResult of its own calls it from there.
func (m *Metrics) OnResult(_ context.Context, _ string, r *voicescreen.Result) {
	m.init()
	code := ""
	if r.Failure != nil {
		code = strings.ToValidUTF8(r.Failure.Code, "\uFFFD") // labels must be UTF-8
	}
	m.analyses.WithLabelValues(r.Product.String(), r.Status.String(), code).Inc()
	m.results.WithLabelValues(r.Product.String()).Observe(r.UpdatedAt.Sub(r.SubmittedAt).Seconds())
}

// ServeHTTP answers with all metrics, at any path.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.init()
	all := prometheus.Gatherers{m.registry, m.current(r.Context())}
	promhttp.HandlerFor(all, promhttp.HandlerOpts{DisableCompression: true}).ServeHTTP(w, r)
}
