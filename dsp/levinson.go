package dsp

import "math"

// Levinson solves the normal equations of linear prediction by the
// autocorrelation method for r[0] … r[p], the autocorrelation of a signal at the
// lags 0 … p. It fills a, of p+1 coefficients, with the prediction error filter
//
//	A(z) = 1 + a[1]·z⁻¹ + … + a[p]·z⁻ᵖ,  e(n) = x(n) + Σ a[k]·x(n−k),
//
// and, unless k is nil, k[0] … k[p−1] with the reflection coefficients. It
// returns the power of the prediction error, r[0]·Π (1 − k²). The recursion is
// that of Levinson and Durbin (J. Makhoul, "Linear prediction: a tutorial
// review", Proc. IEEE 63, 1975, eq. 38):
//
//	k   = −(r[m] + Σ a[i]·r[m−i]) / e,  i = 1 … m−1
//	a[m] = k,  a[i] ← a[i] + k·a[m−i],  e ← (1 − k²)·e
//
// If r is not the autocorrelation of a signal with power (an e that is not
// positive and finite before the last step), the result is NaN, a is 1, 0, 0 …
// and k is 0. Otherwise all |k| ≤ 1 up to rounding. Real signals need a white
// noise correction of r[0] first, such as 1e-9 of itself. Levinson panics if r is
// empty, a is not as long or k, not nil, is not one shorter. r is not changed. It
// allocates nothing.
func Levinson(a, k, r []float64) (e float64) {
	if len(r) == 0 || len(a) != len(r) || k != nil && len(k) != len(r)-1 {
		panic("dsp: autocorrelation, predictor and reflections differ in order")
	}
	clear(a)
	clear(k)
	a[0] = 1
	e = r[0]
	for m := 1; m < len(r); m++ {
		if !(e > 0) || math.IsInf(e, 0) {
			clear(a[1:])
			clear(k)
			return math.NaN()
		}
		s := r[m]
		for i := 1; i < m; i++ {
			s += a[i] * r[m-i]
		}
		s /= -e
		stepUp(a[:m+1], s)
		if k != nil {
			k[m-1] = s
		}
		e *= 1 - s*s
	}
	return e
}

// StepUp fills a, of p+1 coefficients, with the prediction error filter
// A(z) = 1 + a[1]·z⁻¹ + … + a[p]·z⁻ᵖ whose reflection coefficients are
// k[0] … k[p−1], those that [Levinson] writes: the step-up procedure of J. Markel
// and A. Gray, Linear Prediction of Speech, 1976. The filter 1/A is stable if all
// |k| < 1. StepUp panics unless a is one longer than k. k is not changed. It
// allocates nothing.
func StepUp(a, k []float64) {
	if len(a) != len(k)+1 {
		panic("dsp: predictor and reflections differ in order")
	}
	clear(a)
	a[0] = 1
	for m, v := range k {
		stepUp(a[:m+2], v)
	}
}

// stepUp raises the order of the filter a[:m] by one, to the last index m of a,
// with the reflection coefficient k.
func stepUp(a []float64, k float64) {
	m := len(a) - 1
	for i, j := 1, m-1; i <= j; i, j = i+1, j-1 {
		a[i], a[j] = a[i]+k*a[j], a[j]+k*a[i]
	}
	a[m] = k
}
