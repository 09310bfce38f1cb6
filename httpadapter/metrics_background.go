package httpadapter

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/voicescreen/voicescreen"
)

// The values of the label outcome.
const (
	outcomeDelivered = "delivered" // notice
	outcomeDropped   = "dropped"   // notice: not delivered, and not sent again
	outcomeFailed    = "failed"    // notice: sent again; backup, calibration

	outcomeSuccess   = "success"   // backup
	outcomeActivated = "activated" // calibration
	outcomeKept      = "kept"      // calibration: the model in use stays
)

// background holds the metrics of what the service does by itself.
type background struct {
	notices      *prometheus.CounterVec
	noticeLast   *prometheus.GaugeVec // Unix time in seconds
	backupLast   *prometheus.GaugeVec // Unix time in seconds
	backupGood   *prometheus.GaugeVec // 1 or 0; without labels
	calibrations *prometheus.CounterVec
	calibrated   *prometheus.GaugeVec // Unix time in seconds
	adaptations  *prometheus.CounterVec
	adapted      *prometheus.GaugeVec // Unix time in seconds
}

func newBackground(factory promauto.Factory) background {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return factory.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return factory.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	return background{
		notices:      counter("voicescreen_notices_total", "Attempts to deliver a notice of a result.", "outcome"),
		noticeLast:   gauge("voicescreen_notice_last_timestamp_seconds", "Time of the last attempt of the outcome.", "outcome"),
		backupLast:   gauge("voicescreen_backup_last_timestamp_seconds", "Time of the last backup of the outcome.", "outcome"),
		backupGood:   gauge("voicescreen_backup_last_success", "1 if the last backup succeeded, 0 if it failed."),
		calibrations: counter("voicescreen_calibrations_total", "Calibrations of models.", "category", "outcome"),
		calibrated:   gauge("voicescreen_calibration_last_timestamp_seconds", "Time of the last calibration of the category.", "category"),
		adaptations:  counter("voicescreen_adaptations_total", "Adaptations of norms.", "category", "outcome"),
		adapted:      gauge("voicescreen_adaptation_last_timestamp_seconds", "Time of the last adaptation of the category.", "category"),
	}
}

// unixSeconds returns the value of a timestamp.
func unixSeconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// OnNotice counts an attempt to deliver a notice. It is an Outcome of the
// engine's NotifyOptions.
func (m *Metrics) OnNotice(_ voicescreen.Notice, err error, dropped bool) {
	m.init()
	outcome := outcomeDelivered
	switch {
	case dropped:
		outcome = outcomeDropped
	case err != nil:
		outcome = outcomeFailed
	}
	m.notices.WithLabelValues(outcome).Inc()
	m.noticeLast.WithLabelValues(outcome).Set(unixSeconds(time.Now()))
}

// OnBackup notes a backup and its error, nil for a success. A program that finds
// an earlier backup at its start notes that one too, with its time.
func (m *Metrics) OnBackup(at time.Time, err error) {
	m.init()
	outcome, good := outcomeSuccess, 1.0
	if err != nil {
		outcome, good = outcomeFailed, 0
	}
	m.backupLast.WithLabelValues(outcome).Set(unixSeconds(at))
	m.backupGood.WithLabelValues().Set(good)
}

// OnCalibration counts what Engine.Calibrate returned. An error without a
// category has the category "".
func (m *Metrics) OnCalibration(found []*voicescreen.Calibration, err error) {
	m.init()
	for _, c := range found {
		learned(m.calibrations, m.calibrated, c.Category.String(), outcomeOf(c.Activated))
	}
	if err != nil {
		learned(m.calibrations, m.calibrated, "", outcomeFailed)
	}
}

// OnAdaptation counts what Engine.Adapt returned, as OnCalibration does.
func (m *Metrics) OnAdaptation(found []*voicescreen.Adaptation, err error) {
	m.init()
	for _, a := range found {
		learned(m.adaptations, m.adapted, a.Category.String(), outcomeOf(a.Activated))
	}
	if err != nil {
		learned(m.adaptations, m.adapted, "", outcomeFailed)
	}
}

// learned counts an outcome of a category, and notes its time.
func learned(count *prometheus.CounterVec, last *prometheus.GaugeVec, category, outcome string) {
	count.WithLabelValues(category, outcome).Inc()
	last.WithLabelValues(category).Set(unixSeconds(time.Now()))
}

// outcomeOf is the outcome of what was learned, or adapted, and is in use or not.
func outcomeOf(activated bool) string {
	if activated {
		return outcomeActivated
	}
	return outcomeKept
}

// current returns the metrics that are asked for at each answer, of those whose
// functions are set and return no error.
func (m *Metrics) current(ctx context.Context) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	factory := promauto.With(registry)
	if m.Queue != nil {
		if n, err := m.Queue(ctx); err == nil {
			factory.NewGauge(prometheus.GaugeOpts{
				Name: "voicescreen_queue_depth", Help: "Recordings that wait or are being analysed."}).Set(float64(n))
		}
	}
	if m.Notices != nil {
		for _, outcome := range []string{outcomeDelivered, outcomeFailed, outcomeDropped} {
			m.notices.WithLabelValues(outcome) // served with 0, so that the first failure is an increase
		}
		if counts, err := m.Notices(ctx); err == nil {
			n := 0
			for _, c := range counts {
				n += c
			}
			factory.NewGauge(prometheus.GaugeOpts{
				Name: "voicescreen_notices_waiting", Help: "Notices that wait to be sent, for the first time or again."}).Set(float64(n))
		}
	}
	if m.StoreErrors != nil {
		failed := factory.NewCounterVec(prometheus.CounterOpts{
			Name: "voicescreen_store_errors_total", Help: "Calls of the store that failed."}, []string{"operation"})
		for operation, n := range m.StoreErrors() {
			failed.WithLabelValues(operation).Add(float64(n))
		}
	}
	return registry
}
