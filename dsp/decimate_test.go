package dsp

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// convolved is x less offset convolved with the half-band filter h and halved,
// by the definition: every coefficient, the zeros too, zero outside x.
func convolved(x, h []float64) []float64 {
	l := 2*len(h) - 1
	full := make([]float64, 2*l+1)
	full[l] = 0.5
	for k, v := range h {
		full[l-1-2*k], full[l+1+2*k] = v, v
	}
	y := make([]float64, (len(x)+1)/2)
	for m := range y {
		for j, v := range full {
			if i := 2*m + j - l; i >= 0 && i < len(x) {
				y[m] += v * x[i]
			}
		}
	}
	return y
}

func TestQuarterAgainstTheDefinition(t *testing.T) {
	x := signals.Noise(SampleRate, 0.1, 0.02, 1)
	q := newQuarter()
	inner := make([]float64, len(x)) // with the offset taken off
	for i, v := range x {
		inner[i] = v - 0.25
	}
	// The definition is run on a longer signal, as the first step's tails count.
	const pad = 400
	long := append(append(make([]float64, pad), inner...), make([]float64, pad)...)
	want := convolved(convolved(long, q.h1[:]), q.h2[:])
	for _, first := range []int{-20, 0, 3, len(x)/4 - 10} {
		got := make([]float64, 40)
		all := whole(x)
		q.run(got, &all, first, 0.25)
		for i, g := range got {
			if w := want[pad/4+first+i]; math.Abs(g-w) > 1e-14 {
				t.Errorf("sample %d: got %g, want %g", first+i, g, w)
			}
		}
	}
}

func TestQuarterPassAndStop(t *testing.T) {
	q := newQuarter()
	gain := func(f float64) float64 {
		x := signals.Tone(SampleRate, f, 1, 0.2)
		y := make([]float64, 1500)
		all := whole(x)
		q.run(y, &all, 300, 0)
		return 10 * math.Log10(2*sq(norm(y))/float64(len(y)))
	}
	for _, c := range []struct{ f, low, high float64 }{
		{300, -0.05, 0.05}, {3000, -0.05, 0.05}, {4000, -0.05, 0.05}, // where formants are: a tilt far below a formant's width
		{7500, -300, -50}, {10000, -300, -50}, {17000, -300, -50}, {21000, -300, -50}, // what folds onto them
	} {
		if g := gain(c.f); g < c.low || g > c.high {
			t.Errorf("%g Hz: got %.3f dB, want %g to %g", c.f, g, c.low, c.high)
		}
	}
}

// The assembly gives the same bits as the pure Go code, for any number of samples.
func TestHalveInAVX(t *testing.T) {
	q := newQuarter()
	for n := 1; n < 70; n++ {
		for _, more := range []int{0, 1, 5} { // samples that are not needed
			x := noise(71, 2*n+46+more)
			got, want := make([]float64, n), make([]float64, n)
			q.halve(got, x[:2*n+13+more], q.h1[:])
			halve4(want, x, &q.h1)
			compare(t, "four coefficients", got, want, 0)
			q.halve(got, x[:2*n+45+more], q.h2[:])
			halve12(want, x, &q.h2)
			compare(t, "twelve coefficients", got, want, 0)
		}
	}
}
