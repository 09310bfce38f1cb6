package dsp

import "math"

// lpcOrder is the order of the formant analysis: two poles for each of the
// five resonances that a vocal tract of 17 cm has below 5.5 kHz (Markel &
// Gray, Linear Prediction of Speech, 1976, section 6.2).
const lpcOrder = 10

// lpcTerms is the size of the covariance matrix with the sample itself.
const lpcTerms = lpcOrder + 1

// lpcHistory is the number of samples that robustLPC reads before the first
// one that it predicts: lpcOrder, rounded up to the width of a tile.
const lpcHistory = 12

// huberScale is where a residual counts as an outlier, in root-mean-square
// residuals: the customary 1.5 (Huber, Robust Statistics, 1981, section 4.5).
// On the Klatt vowels of the tests 1 to 2 do equally well.
const huberScale = 1.5

// A lpc fits a predictor A(z) = 1 + a[1]·z⁻¹ + … + a[10]·z⁻¹⁰ to a few periods
// of a vowel, so that the pulses of the glottis do not pull the poles. It owns
// its scratch and is not safe for concurrent use.
type lpc struct {
	gauss []float64 // g(n), the window over the frame
	y     []float64 // windowed frame, later the residual
	w     []float64 // weights of the refit
	phi   [lpcTerms + 1][lpcTerms + 1]float64
	a     [lpcTerms]float64
}

// newLPC returns an lpc for frames of n samples under a Gaussian window with
// the standard deviation sigma, in samples.
func newLPC(n int, sigma float64) *lpc {
	l := &lpc{gauss: make([]float64, n), y: make([]float64, n), w: make([]float64, n)}
	for i := range l.gauss {
		t := (float64(i) - 0.5*float64(n-1)) / sigma
		l.gauss[i] = math.Exp(-0.5 * t * t)
	}
	return l
}

// fit returns the predictor of the frame in x[lpcHistory:], whose samples are
// weighted by ste, the short-time energy of the samples before each (same
// index as x without the history). It reports false where there is nothing to
// predict. The result is valid until the next call.
//
// Three steps. (1) A first predictor by the autocorrelation method (Markel &
// Gray 1976, chapter 3), Gaussian window. (2) Its residual e(n) gives Huber's
// weights min(1, c·σ/|e(n)|) (Lee, "On robust linear prediction of speech",
// IEEE Trans. ASSP 36, 1988). (3) The predictor that minimises
// Σ g(n)·ste(n)·h(n)·e(n)² over the unwindowed frame. Weighting by the energy
// of the preceding samples favours the closed phase, when the vocal tract
// rings freely (Ma, Kamp & Willems, "Robust signal selection for linear
// prediction analysis of voiced speech", Speech Communication 12, 1993).
//
// Burg's method as step (1) gives the same formants to 0.1 % and costs three
// times as much; a second refit changes nothing either.
func (l *lpc) fit(x, ste []float64) ([]float64, bool) {
	n := len(l.gauss)
	frame := x[lpcHistory : lpcHistory+n]
	for i, v := range frame {
		l.y[i] = v * l.gauss[i]
	}
	if !l.autocorrelation() {
		return nil, false
	}
	scale := l.residual(x)
	for i, e := range l.y {
		h := 1.0
		if e = math.Abs(e); e > scale {
			h = scale / e
		}
		l.w[i] = l.gauss[i] * ste[i] * ste[i] * h
	}
	l.covariance(x)
	l.solve()
	return l.a[:], true
}

// autocorrelation fits a to the windowed frame y by the Levinson-Durbin
// recursion. It reports false for silence.
func (l *lpc) autocorrelation() bool {
	var r [lpcTerms]float64
	for k := range r {
		r[k] = innerProduct(l.y[k:], l.y[:len(l.y)-k])
	}
	if !(r[0] > math.SmallestNonzeroFloat64/0x1p-52) {
		return false
	}
	r[0] *= 1 + 1e-9 // white noise at -90 dB keeps the recursion stable (Markel & Gray, section 8.3)
	a := &l.a
	*a = [lpcTerms]float64{0: 1}
	e := r[0]
	for m := 1; m <= lpcOrder; m++ {
		k := r[m]
		for i := 1; i < m; i++ {
			k += a[i] * r[m-i]
		}
		k /= -e
		for i, j := 1, m-1; i <= j; i, j = i+1, j-1 {
			a[i], a[j] = a[i]+k*a[j], a[j]+k*a[i]
		}
		a[m] = k
		e *= 1 - k*k
	}
	return e > 0
}

// residual fills y with e(n) = Σ a[k]·x(n-k) and returns the level at which
// it counts as an outlier, from its root mean square under the window.
func (l *lpc) residual(x []float64) float64 {
	n := len(l.y)
	a1, a2, a3, a4, a5 := l.a[1], l.a[2], l.a[3], l.a[4], l.a[5]
	a6, a7, a8, a9, a10 := l.a[6], l.a[7], l.a[8], l.a[9], l.a[10]
	var s, sw float64
	x = x[lpcHistory-lpcOrder:]
	x = x[:n+lpcOrder]
	for i := range l.y {
		v := x[i : i+lpcTerms : i+lpcTerms]
		e := (v[10] + a1*v[9] + a2*v[8] + a3*v[7]) + (a4*v[6] + a5*v[5] + a6*v[4]) + (a7*v[3] + a8*v[2] + a9*v[1] + a10*v[0])
		l.y[i] = e
		g := l.gauss[i]
		s += g * e * e
		sw += g
	}
	return huberScale * math.Sqrt(s/sw)
}

// covariance fills the upper triangle of phi with
// phi[i][j] = Σ w(n)·x(n-i)·x(n-j), two rows by four columns at a time so that
// eight sums stay in registers.
func (l *lpc) covariance(x []float64) {
	n := len(l.w)
	for i := 0; i < lpcTerms; i += 2 {
		u0, u1 := x[lpcHistory-i:][:n], x[lpcHistory-i-1:][:n]
		for j := i; j < lpcTerms; j += 4 {
			// Columns past the last are read from the history's end and dropped.
			j1, j2, j3 := min(j+1, lpcTerms), min(j+2, lpcTerms), min(j+3, lpcTerms)
			s := tile(l.w, u0, u1, x[lpcHistory-j:][:n], x[lpcHistory-j1:][:n], x[lpcHistory-j2:][:n], x[lpcHistory-j3:][:n])
			for r := range 2 {
				l.phi[i+r][j], l.phi[i+r][j1], l.phi[i+r][j2], l.phi[i+r][j3] = s[4*r], s[4*r+1], s[4*r+2], s[4*r+3]
			}
		}
	}
}

// tile returns Σ w·u0·v0 … Σ w·u0·v3, Σ w·u1·v0 … Σ w·u1·v3.
func tile(w, u0, u1, v0, v1, v2, v3 []float64) [8]float64 {
	n := len(w)
	u0, u1, v0, v1, v2, v3 = u0[:n], u1[:n], v0[:n], v1[:n], v2[:n], v3[:n]
	var s00, s01, s02, s03, s10, s11, s12, s13 float64
	for k, wk := range w {
		p, q := wk*u0[k], wk*u1[k]
		a, b, c, d := v0[k], v1[k], v2[k], v3[k]
		s00 += p * a
		s01 += p * b
		s02 += p * c
		s03 += p * d
		s10 += q * a
		s11 += q * b
		s12 += q * c
		s13 += q * d
	}
	return [8]float64{s00, s01, s02, s03, s10, s11, s12, s13}
}

// solve sets a to the minimiser of the weighted residual: the normal
// equations Σ_j phi[i][j]·a[j] = -phi[0][i], i = 1…10, by Cholesky's
// decomposition. Where they are singular, a stays the first predictor.
func (l *lpc) solve() {
	var c [lpcTerms][lpcTerms]float64 // lower triangle, phi = c·cᵀ
	var b [lpcTerms]float64
	for i := 1; i <= lpcOrder; i++ {
		for j := 1; j <= i; j++ {
			s := l.phi[j][i]
			for k := 1; k < j; k++ {
				s -= c[i][k] * c[j][k]
			}
			if j < i {
				c[i][j] = s / c[j][j]
				continue
			}
			if !(s > 1e-13*l.phi[i][i]) { // singular to rounding: 1e-13 is 500 ulp
				return
			}
			c[i][i] = math.Sqrt(s)
		}
		s := -l.phi[0][i]
		for k := 1; k < i; k++ {
			s -= c[i][k] * b[k]
		}
		b[i] = s / c[i][i]
	}
	for i := lpcOrder; i >= 1; i-- {
		s := b[i]
		for k := i + 1; k <= lpcOrder; k++ {
			s -= c[k][i] * b[k]
		}
		b[i] = s / c[i][i]
	}
	copy(l.a[1:], b[1:])
}

// innerProduct returns Σ x(i)·y(i) over equally long x and y, in four interleaved sums.
func innerProduct(x, y []float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	for len(x) >= 4 && len(y) >= 4 {
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		s0 += v * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}
