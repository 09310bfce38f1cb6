package dsp_test

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// cpps measures a signal at 44.1 kHz.
func cpps(x []float64) float64 {
	return dsp.NewCPPS(dsp.SampleRate).Measure(x, dsp.NewPitch(dsp.SampleRate, nil).Track(nil, x))
}

// The prominence falls with noise and with jitter. How its order compares with
// that of another program stands in the accuracy table.
func TestCPPSFallsWithNoiseAndJitter(t *testing.T) {
	for _, f0 := range []float64{110, 210} {
		before := math.Inf(1)
		for _, db := range []float64{40, 30, 20, 10, 0} {
			v := cpps(signals.HNR(dsp.SampleRate, f0, db, 1, 1))
			if !(v < before) {
				t.Errorf("%g Hz with noise at %g dB: got %.2f dB, want less than %.2f", f0, db, v, before)
			}
			before = v
		}
		before = math.Inf(1)
		for _, jitter := range []float64{0.005, 0.01, 0.02, 0.04} {
			v := cpps(signals.Normalize(signals.NewTrain(f0, 1, jitter, 0, 1).Vowel(dsp.SampleRate, 1), 0.5))
			if !(v < before) {
				t.Errorf("%g Hz with a jitter of %g: got %.2f dB, want less than %.2f", f0, jitter, v, before)
			}
			before = v
		}
	}
}

func TestCPPSOfWhatHasNoVoiceIsNaN(t *testing.T) {
	c := dsp.NewCPPS(dsp.SampleRate)
	voiced := make([]float64, 101)
	for i := range voiced {
		voiced[i] = 100
	}
	for name, v := range map[string]float64{
		"no samples":      c.Measure(nil, nil),
		"unvoiced noise":  c.Measure(normal(1, dsp.SampleRate), make([]float64, 101)),
		"digital silence": c.Measure(make([]float64, dsp.SampleRate), voiced),
		"too short":       c.Measure(normal(1, 1000), voiced[:3]),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s: got %v, want NaN", name, v)
		}
	}
}
