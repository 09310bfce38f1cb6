package augment

import "math"

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
// white noise 40 dB below added (Makhoul 1975, eq. 38). They are all 0 for a
// signal without power.
func levinson(r []float64) []float64 {
	order := len(r) - 1
	k, a, old := make([]float64, order), make([]float64, order), make([]float64, order)
	e := r[0] * 1.0001
	for i := range order {
		if !(e > 0) {
			break
		}
		s := r[i+1]
		for j := range i {
			s += a[j] * r[i-j]
		}
		k[i] = -s / e
		copy(old, a)
		a[i] = k[i]
		for j := range i {
			a[j] = old[j] + k[i]*old[i-1-j]
		}
		e *= 1 - k[i]*k[i]
	}
	return k
}

// predictor returns a[1] … a[p] of A(z) = 1 + Σ a[i]·z⁻ⁱ, whose reflection
// coefficients are k. With all |k| < 1 the filter 1/A is stable.
func predictor(k []float64) []float64 {
	a, old := make([]float64, len(k)), make([]float64, len(k))
	for i, r := range k {
		copy(old, a)
		a[i] = r
		for j := range i {
			a[j] = old[j] + r*old[i-1-j]
		}
	}
	return a
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
