package dsp_test

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

// TestBesselI0 compares with the integral, and with values of Abramowitz and Stegun,
// table 9.8.
func TestBesselI0(t *testing.T) {
	const tolerance = 1e-13 // relative: rounding of some 60 terms
	for _, x := range []float64{0, 1e-9, 0.5, 3, 8.96, 14, 20} {
		if got, want := dsp.BesselI0(x), slowBessel(x); math.Abs(got/want-1) > tolerance {
			t.Errorf("I₀(%v): got %v, want %v", x, got, want)
		}
	}
	for x, want := range map[float64]float64{1: 1.2660658777520084, 2: 2.2795853023360673, 5: 27.239871823604442} {
		if got := dsp.BesselI0(x); math.Abs(got/want-1) > tolerance {
			t.Errorf("I₀(%v): got %v, want %v", x, got, want)
		}
	}
}
