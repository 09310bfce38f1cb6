package dsp_test

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// cepstrumTolerance is of sums of 100 numbers of size 1 in double precision.
const cepstrumTolerance = 1e-11

func TestCepstrumEqualsDefinition(t *testing.T) {
	for _, c := range []struct{ n, m int }{{1, 4}, {7, 8}, {100, 128}, {128, 128}, {90, 256}} {
		x := noise(3, c.n)
		got := dsp.NewCepstrum(c.n, c.m).Coefficients(nil, x)
		var mean float64
		for _, v := range x {
			mean += v / float64(c.n)
		}
		for j := range c.m/2 + 1 {
			var want complex128
			for k, v := range x {
				h := 0.5 - 0.5*math.Cos(2*math.Pi*float64(k)/float64(c.n))
				want += complex(h*(v-mean), 0) * cmplx.Exp(complex(0, -2*math.Pi*float64(j*k)/float64(c.m)))
			}
			if cmplx.Abs(got[j]-want) > cepstrumTolerance {
				t.Errorf("%d bins of %d: got C[%d] = %v, want %v", c.n, c.m, j, got[j], want)
			}
		}
	}
}

// A spectrum with a ripple every 8 bins has its peak at m/8, for every phase of the
// ripple and every level.
func TestCepstrumFindsTheRipple(t *testing.T) {
	const n, m, every = 200, 256, 8
	c := dsp.NewCepstrum(n, m)
	for _, phase := range []float64{0, 1, 2.5} {
		x := make([]float64, n)
		for k := range x {
			x[k] = -20 + math.Cos(2*math.Pi*float64(k)/every+phase)
		}
		best, at := 0.0, 0
		for j, z := range c.Coefficients(nil, x) {
			if cmplx.Abs(z) > best {
				best, at = cmplx.Abs(z), j
			}
		}
		// A Hann window of n points passes a cosine with n/4.
		if at != m/every || math.Abs(best-n/4) > 0.02*n/4 {
			t.Errorf("phase %v: got %v at %d, want %v at %d", phase, best, at, n/4, m/every)
		}
	}
}

func TestCepstrumAllocatesNothing(t *testing.T) {
	c, x, dst := dsp.NewCepstrum(100, 128), noise(4, 100), make([]complex128, 65)
	if n := cost.Allocations(10, func() { c.Coefficients(dst, x) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
