package augment

import (
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
)

// autocorrelation returns r[0] … r[order] of x.
func autocorrelation(x []float64, order int) []float64 {
	r := make([]float64, order+1)
	for k := range r {
		for i := k; i < len(x); i++ {
			r[k] += x[i] * x[i-k]
		}
	}
	return r
}

// levinson returns the reflection coefficients of the autocorrelation r, with
// white noise 40 dB below added. They are all 0 for a signal without power.
func levinson(r []float64) []float64 {
	noisy := slices.Clone(r)
	noisy[0] *= 1.0001
	k := make([]float64, len(r)-1)
	dsp.Levinson(make([]float64, len(r)), k, noisy)
	return k
}

// predictor returns a[1] … a[p] of A(z) = 1 + Σ a[i]·z⁻ⁱ, whose reflection
// coefficients are k. With all |k| < 1 the filter 1/A is stable.
func predictor(k []float64) []float64 {
	a := make([]float64, len(k)+1)
	dsp.StepUp(a, k)
	return a[1:]
}

// chirped returns a with a[i]·g^i: the poles of 1/A move inwards by g.
func chirped(a []float64, g float64) []float64 {
	b, p := make([]float64, len(a)), 1.0
	for i, v := range a {
		p *= g
		b[i] = v * p
	}
	return b
}

// inverse is the residual x[n] + Σ a[i]·x[n−i] of x[start:end].
func inverse(x, a []float64, start, end int) []float64 {
	e := make([]float64, end-start)
	for n := start; n < end; n++ {
		s := x[n]
		for i, v := range a {
			if n-1-i >= 0 {
				s += v * x[n-1-i]
			}
		}
		e[n-start] = s
	}
	return e
}

// rounded returns the reflection coefficients k as log area ratios rounded to
// a step (Viswanathan & Makhoul 1975: they are about equally sensitive
// everywhere).
func rounded(k []float64, step float64) []float64 {
	q := make([]float64, len(k))
	for i, v := range k {
		v = min(max(v, -0.999), 0.999)
		q[i] = math.Tanh(math.Round(2*math.Atanh(v)/step) * step / 2)
	}
	return q
}
