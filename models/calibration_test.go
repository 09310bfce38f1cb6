package models_test

import (
	"errors"
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/models"
)

func TestCalibrationBendsOneHalf(t *testing.T) {
	c := models.Calibration{A: 2, B: 1, Half: 0.7}
	for _, k := range []struct{ logit, want float64 }{
		{-3, -3}, {-0.25, -0.25}, {0.225, -0.125}, {0.7, 0}, {0.825, 0.475}, {0.95, 0.95}, {4, 4},
	} {
		if got := c.Of((k.logit - c.B) / c.A); math.Abs(got-k.want) > 1e-12 {
			t.Errorf("logit %v: got %v, want %v", k.logit, got, k.want)
		}
	}
	last := math.Inf(-1)
	for eta := -3.0; eta < 3; eta += 0.001 {
		v := c.Of(eta)
		if v <= last {
			t.Fatalf("at %v: got %v after %v, want it to grow", eta, v, last)
		}
		last = v
		if got, want := (models.Calibration{A: 2, B: 1}).Of(eta), 2*eta+1; got != want {
			t.Fatalf("without a bend at %v: got %v, want %v", eta, got, want)
		}
	}
}

// TestScoresAreBent scores a vector whose calibrated logit is the half, and its interval.
func TestScoresAreBent(t *testing.T) {
	f := small(models.Logit)
	v := voice(nil)
	l, err := models.NewLinear(f)
	if err != nil {
		t.Fatal(err)
	}
	plain := l.ScoreVector(v)
	logit := func(p float64) float64 { return math.Log(p / (1 - p)) }
	f.Calibration = &models.Calibration{A: 1, B: 0.4 - logit(plain.Probability), Half: 0.4}
	if l, err = models.NewLinear(f); err != nil {
		t.Fatal(err)
	}
	s := l.ScoreVector(v)
	if math.Abs(s.Probability-0.5) > 1e-9 {
		t.Errorf("got a probability of %v, want one half", s.Probability)
	}
	for _, k := range []struct{ got, before float64 }{{s.Low, plain.Low}, {s.High, plain.High}} {
		if want := f.Calibration.Of(logit(k.before)); math.Abs(logit(k.got)-want) > 1e-6 {
			t.Errorf("interval: got the logit %v, want %v", logit(k.got), want)
		}
	}
	for _, half := range []float64{-0.1, math.NaN(), math.Inf(1)} {
		f.Calibration.Half = half
		var fault *models.FileError
		if err := f.Check(); !errors.As(err, &fault) || fault.Path != "calibration.half" {
			t.Errorf("half of %v: got %v, want a fault at calibration.half", half, err)
		}
	}
	f = small(models.Ordinal)
	f.Calibration = &models.Calibration{A: 1, Half: 0.4}
	var fault *models.FileError
	if err := f.Check(); !errors.As(err, &fault) || fault.Path != "calibration.half" {
		t.Errorf("ordinal link: got %v, want a fault at calibration.half", err)
	}
}
