package dsp_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// What lowers the regularity of a voice lowers the cepstral peak.
func TestCPPSFallsWithNoiseAndJitter(t *testing.T) {
	measure := func(x []float64) float64 {
		return dsp.NewCPPS(dsp.SampleRate).Measure(x, trajectoryFrames(signals.Constant(140), float64(len(x))/dsp.SampleRate))
	}
	last := math.Inf(1)
	for _, db := range []float64{40, 25, 10, 0} {
		v := measure(signals.HNR(dsp.SampleRate, 140, db, 1, 1))
		if !(v < last-0.5) {
			t.Errorf("%g dB of noise: got %.2f dB, want less than %.2f", db, v, last)
		}
		last = v
	}
	last = math.Inf(1)
	for _, j := range []float64{0, 0.01, 0.04} {
		v := measure(signals.NewTrain(140, 1, j, 0, 2).Vowel(dsp.SampleRate, 1))
		if !(v < last-0.5) {
			t.Errorf("jitter of %g: got %.2f dB, want less than %.2f", j, v, last)
		}
		last = v
	}
}

func TestCPPSEdges(t *testing.T) {
	c := dsp.NewCPPS(dsp.SampleRate)
	x := signals.HNR(dsp.SampleRate, 140, 20, 0.5, 1)
	f0 := trajectoryFrames(signals.Constant(140), 0.5)
	a := c.Measure(x, f0)
	const rounding = 1e-9
	if b := c.Measure(signals.Scale(x, 0.01), f0); math.Abs(a-b) > rounding {
		t.Errorf("40 dB fainter: got %g dB, want %g", b, a)
	}
	for name, v := range map[string]float64{
		"empty":    c.Measure(nil, nil),
		"silence":  c.Measure(make([]float64, 20000), f0),
		"unvoiced": c.Measure(x, make([]float64, 51)),
		"short":    c.Measure(x[:2000], f0[:5]),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s: got %g, want NaN", name, v)
		}
	}
	if !cost.Race {
		if n := cost.Allocations(3, func() { c.Measure(x, f0) }); n > 0 {
			t.Errorf("got %g allocations, want 0", n)
		}
	}
}

// A perfectly periodic vowel is at the upper end of what the papers report.
func TestCPPSOfAPerfectVoice(t *testing.T) {
	for _, f := range []float64{100, 200} {
		x := signals.Klatt(dsp.SampleRate, f, signals.Vowels["schwa"], 1, 1)
		f0 := trajectoryFrames(signals.Constant(f), 1)
		v := dsp.NewCPPS(dsp.SampleRate).Measure(x, f0)
		if !(v > 15 && v < 40) {
			t.Errorf("%s: got %.1f dB, want the 15 to 40 dB of a perfect voice", fmt.Sprint(f), v)
		}
	}
}
