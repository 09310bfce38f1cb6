package dsp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

// What an HNR measured before leaves no trace: windows are kept from frame to
// frame, and one of nearly the same length must not come from another voice.
func TestHNRDoesNotDependOnFormerRecordings(t *testing.T) {
	voice := func(hz float64) (x, f0 []float64) {
		rng := rand.New(rand.NewPCG(1, uint64(hz)))
		x = make([]float64, dsp.SampleRate/2)
		for i := range x {
			for k := 1.0; k < 8; k++ {
				x[i] += math.Sin(2*math.Pi*k*hz*float64(i)/dsp.SampleRate) / (10 * k)
			}
			x[i] += 0.01 * rng.NormFloat64()
		}
		f0 = make([]float64, dsp.FrameCount(len(x)))
		for i := range f0 {
			f0[i] = hz
		}
		return x, f0
	}
	x, f0 := voice(120)
	want := dsp.NewHNR(dsp.SampleRate).Track(nil, x, f0)
	h := dsp.NewHNR(dsp.SampleRate)
	y, g0 := voice(121.5) // within the ratio of windows that count as one
	h.Track(nil, y, g0)
	got := h.Track(nil, x, f0)
	for i := range want {
		if got[i] != want[i] && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Fatalf("frame %d: got %v dB after another voice, want %v", i, got[i], want[i])
		}
	}
}
