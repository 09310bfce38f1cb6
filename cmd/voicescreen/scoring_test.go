package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// lockedBuffer is a buffer that goroutines may share.
type lockedBuffer struct {
	mu sync.Mutex // protects b
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

// TestServerCalibratesByItself learns at intervals until it is told to end, and
// says so in a log that names nobody. That a model was given is no error.
func TestServerCalibratesByItself(t *testing.T) {
	prior, err := command.ShippedPrior(screen.Anxiety)
	if err != nil {
		t.Fatal(err)
	}
	given, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		models []models.Scorer
		want   string // of anxiety
	}{
		"without --model":         {nil, "too few labels"},
		"with --model of anxiety": {[]models.Scorer{given}, "given"},
	} {
		t.Run(name, func(t *testing.T) { calibratesByItself(t, c.models, c.want) })
	}
}

// calibratesByItself wants norms adapted, depression learned, and a reason why anxiety
// is not.
func calibratesByItself(t *testing.T, given []models.Scorer, reason string) {
	e, err := voicescreen.Open(labelledDB(t, 100), &voicescreen.Options{Workers: -1, Scoring: voicescreen.ScoringOptions{Models: given}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := closeEngine(e); err != nil {
			t.Error(err)
		}
	}()
	var log lockedBuffer
	var metrics httpadapter.Metrics
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		calibrateEvery(ctx, e, time.Millisecond, slog.New(slog.NewTextHandler(&log, nil)), &metrics)
		close(done)
	}()
	deadline := time.Now().Add(time.Minute)
	for !strings.Contains(log.String(), "msg=calibrated category=depression activated=true") && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	stop()
	<-done
	got := log.String()
	if !strings.Contains(got, "msg=calibrated category=depression activated=true") ||
		!strings.Contains(got, "msg=adapted category=") || !strings.Contains(got, "msg=calibrated category=anxiety activated=false") || !strings.Contains(got, reason) {
		t.Errorf("got log\n%s, want depression learned and anxiety left", got)
	}
	awaitMetric(t, &metrics, `voicescreen_calibrations_total{category="depression",outcome="activated"} `)
	awaitMetric(t, &metrics, `voicescreen_calibrations_total{category="anxiety",outcome="kept"} `)
	if strings.Contains(got, "user1") || strings.Contains(got, "level=ERROR") {
		t.Errorf("got log\n%s, want no user and no error", got)
	}
}
