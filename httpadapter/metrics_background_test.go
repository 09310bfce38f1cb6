package httpadapter_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/screen"
)

// wantMetrics compares metrics with what is wanted of them.
func wantMetrics(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name, want := range want {
		if value, there := got[name]; !there || value != want {
			t.Errorf("%s: got %g (served: %v), want %g", name, value, there, want)
		}
	}
}

func TestMetricsOfNotices(t *testing.T) {
	var m httpadapter.Metrics
	m.Notices = func(context.Context) (map[string]int, error) {
		return map[string]int{"CANARY-a": 2, "CANARY-b": 3}, nil
	}
	wantMetrics(t, scrape(t, &m), map[string]float64{
		`voicescreen_notices_waiting{}`:                  5,
		`voicescreen_notices_total{outcome="delivered"}`: 0,
		`voicescreen_notices_total{outcome="failed"}`:    0,
		`voicescreen_notices_total{outcome="dropped"}`:   0,
	})
	before := float64(time.Now().Unix())
	n := voicescreen.Notice{Account: "CANARY", SessionID: "CANARY"}
	m.OnNotice(n, nil, false)
	m.OnNotice(n, errors.New("CANARY"), false)
	m.OnNotice(n, errors.New("CANARY"), false)
	m.OnNotice(n, errors.New("CANARY"), true)
	got := scrape(t, &m)
	wantMetrics(t, got, map[string]float64{
		`voicescreen_notices_total{outcome="delivered"}`: 1,
		`voicescreen_notices_total{outcome="failed"}`:    2,
		`voicescreen_notices_total{outcome="dropped"}`:   1,
	})
	for _, outcome := range []string{"delivered", "failed", "dropped"} {
		if at := got[`voicescreen_notice_last_timestamp_seconds{outcome="`+outcome+`"}`]; at < before || at > before+60 {
			t.Errorf("last %s: got %g, want now, %g", outcome, at, before)
		}
	}
	for name := range got {
		if strings.Contains(name, "CANARY") {
			t.Errorf("%s holds an account, a session or the text of an error", name)
		}
	}
	m.Notices = func(context.Context) (map[string]int, error) { return nil, errors.ErrUnsupported }
	if _, there := scrape(t, &m)["voicescreen_notices_waiting{}"]; there {
		t.Error("got a number of notices from a store that does not count them")
	}
}

func TestMetricsOfBackups(t *testing.T) {
	var m httpadapter.Metrics
	for name := range scrape(t, &m) {
		if strings.Contains(name, "backup") {
			t.Errorf("%s is served before the first backup", name)
		}
	}
	m.OnBackup(time.Unix(1000, 0), nil)
	wantMetrics(t, scrape(t, &m), map[string]float64{
		`voicescreen_backup_last_success{}`:                            1,
		`voicescreen_backup_last_timestamp_seconds{outcome="success"}`: 1000,
	})
	m.OnBackup(time.Unix(2000, 0), errors.New("no space left on device"))
	wantMetrics(t, scrape(t, &m), map[string]float64{
		`voicescreen_backup_last_success{}`:                            0,
		`voicescreen_backup_last_timestamp_seconds{outcome="success"}`: 1000,
		`voicescreen_backup_last_timestamp_seconds{outcome="failed"}`:  2000,
	})
	m.OnBackup(time.Unix(3000, 0), nil)
	wantMetrics(t, scrape(t, &m), map[string]float64{`voicescreen_backup_last_success{}`: 1})
}

func TestMetricsOfCalibrations(t *testing.T) {
	var m httpadapter.Metrics
	m.OnCalibration([]*voicescreen.Calibration{{Category: screen.Depression, Activated: true}, {Category: screen.Anxiety}}, nil)
	m.OnCalibration([]*voicescreen.Calibration{{Category: screen.Depression}}, errors.New("the store is away"))
	got := scrape(t, &m)
	wantMetrics(t, got, map[string]float64{
		`voicescreen_calibrations_total{category="depression",outcome="activated"}`: 1,
		`voicescreen_calibrations_total{category="depression",outcome="kept"}`:      1,
		`voicescreen_calibrations_total{category="anxiety",outcome="kept"}`:         1,
		`voicescreen_calibrations_total{category="",outcome="failed"}`:              1,
	})
	if at := got[`voicescreen_calibration_last_timestamp_seconds{category="anxiety"}`]; at < float64(time.Now().Unix()-60) {
		t.Errorf("got %g, want the time of the calibration", at)
	}
}

func TestMetricsOfAdaptations(t *testing.T) {
	var m httpadapter.Metrics
	m.OnAdaptation([]*voicescreen.Adaptation{{Category: screen.Depression, Activated: true}, {Category: screen.Anxiety}}, nil)
	m.OnAdaptation(nil, errors.New("the store is away"))
	got := scrape(t, &m)
	wantMetrics(t, got, map[string]float64{
		`voicescreen_adaptations_total{category="depression",outcome="activated"}`: 1,
		`voicescreen_adaptations_total{category="anxiety",outcome="kept"}`:         1,
		`voicescreen_adaptations_total{category="",outcome="failed"}`:              1,
	})
	if at := got[`voicescreen_adaptation_last_timestamp_seconds{category="depression"}`]; at < float64(time.Now().Unix()-60) {
		t.Errorf("got %g, want the time of the adaptation", at)
	}
}

func TestMetricsOfStoreErrors(t *testing.T) {
	var m httpadapter.Metrics
	s := newServiceWith(t, nil, &httpadapter.Options{Observe: m.Observe})
	m.StoreErrors, m.Notices = s.engine.StoreErrors, s.engine.Notices
	wantMetrics(t, scrape(t, &m), map[string]float64{`voicescreen_store_errors_total{operation="update"}`: 0, `voicescreen_notices_waiting{}`: 0})
	m.StoreErrors = func() map[string]int { return map[string]int{"update": 3} }
	wantMetrics(t, scrape(t, &m), map[string]float64{`voicescreen_store_errors_total{operation="update"}`: 3})
}

// TestMetricsAreListed compares what is served with the list in the
// documentation of Metrics.
func TestMetricsAreListed(t *testing.T) {
	var m httpadapter.Metrics
	m.Queue = func(context.Context) (int, error) { return 0, nil }
	m.Notices = func(context.Context) (map[string]int, error) { return nil, nil }
	m.StoreErrors = func() map[string]int { return map[string]int{"get": 0} }
	m.Observe(httpadapter.Observation{Method: "GET", Route: "x", Status: 200})
	m.OnResult(t.Context(), "", &voicescreen.Result{Status: screen.StatusSuccess, Product: screen.DeepfakeBinary})
	m.OnNotice(voicescreen.Notice{}, nil, false)
	m.OnBackup(time.Now(), nil)
	m.OnCalibration([]*voicescreen.Calibration{{Category: screen.Anxiety}}, nil)
	m.OnAdaptation([]*voicescreen.Adaptation{{Category: screen.Anxiety}}, nil)
	served := map[string]bool{}
	for name := range scrape(t, &m) {
		name, _, _ = strings.Cut(name, "{")
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			name = strings.TrimSuffix(name, part)
		}
		served[name] = true
	}
	listed := listedMetrics(t)
	for name := range served {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is served and not listed", name)
		}
	}
	for _, name := range listed {
		if !served[name] {
			t.Errorf("%s is listed and not served", name)
		}
	}
}

// listedMetrics returns the names in the documentation of Metrics.
func listedMetrics(t *testing.T) (names []string) {
	t.Helper()
	source, err := os.ReadFile("metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`(?m)^//\t(voicescreen_[a-z_]+)`).FindAllSubmatch(source, -1) {
		names = append(names, string(match[1]))
	}
	return names
}
