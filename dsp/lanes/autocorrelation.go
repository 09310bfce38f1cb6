package lanes

import "github.com/voicescreen/voicescreen/dsp"

// An Autocorrelation measures how each of four frames repeats, by the autocorrelation of the
// windowed frame divided by that of its window w (P. Boersma, "Accurate short-term analysis
// of the fundamental frequency and the harmonics-to-noise ratio of a sampled sound", IFA
// Proceedings 17, 1993, eq. 9):
//
//	r(k) = Σ w[j]·x[j]·w[j+k]·x[j+k] · Σ w² / Σ w[j]·w[j+k]
//
// It is computed from the power spectrum (Wiener-Khinchin theorem). The mean of x is not
// subtracted. [dsp.Pitch] finds a path through such frames; an Autocorrelation measures each
// frame alone.
//
// It owns its scratch, allocates nothing after [NewAutocorrelation], and is not safe for
// concurrent use.
type Autocorrelation struct {
	R        []float64 // r(0) … r(lags) of the latest four frames, a group of lanes for each lag
	Spectrum *Spectrum // of the windowed frames

	n          int       // points of the spectrum
	sines      []float64 // the factors of fold
	half       *FFT      // of half as many points
	even       []float64 // the transform of the folded spectrum
	correction []float64 // 2/n·Σ w² / Σ w[j]·w[j+k]
	cosines    []float64 // cos(2πi/n), one period
}

// NewAutocorrelation returns an Autocorrelation of frames as long as the window, which it
// keeps, by a transform of n points at the lags 0 … lags. It panics unless lags is odd and
// less than the length of the window, and n is a power of two of at least 32, of which the
// window and the lags are no more, so that no lag wraps round. The window is positive at
// those lags: its own autocorrelation is a divisor.
func NewAutocorrelation(window []float64, n, lags int) *Autocorrelation {
	if lags%2 == 0 || lags < 0 || lags >= len(window) || len(window)+lags > n || n < 32 {
		panic("lanes: autocorrelation at impossible lags")
	}
	a := &Autocorrelation{
		R: make([]float64, Count*(lags+1)), Spectrum: NewSpectrum(window, n), n: n, half: NewFFT(n / 2),
		even: make([]float64, 2*Count*(n/4+1)), cosines: make([]float64, n),
	}
	for i := range a.cosines {
		root := dsp.UnitRoot(i, n)
		a.cosines[i] = real(root)
		if i > 0 && i < n/4 {
			a.sines = append(a.sines, -imag(root), real(root))
		}
	}
	for k := range lags + 1 {
		a.correction = append(a.correction, dsp.Dot(window, window)/dsp.Dot(window[:len(window)-k], window[k:])/float64(n/2))
	}
	return a
}

// Measure measures four frames of x, which are chosen as by [Spectrum.Measure].
//
// With the power P[k], k = 0 … m, of a transform of n = 2m points, the autocorrelation of the
// windowed frame at the lag j is F[j]/m,
//
//	F[j] = ½·(P[0] + (−1)^j·P[m]) + Σ P[k]·cos(πjk/m)  for k = 1 … m−1.
//
// Of the transform Y of the real numbers
// y[k] = ½·(P[k] + P[m−k]) − sin(πk/m)·(P[k] − P[m−k]), F[2j] is Re Y[j] and
// F[2j+1] = F[2j−1] − Im Y[j] (W. Press et al., Numerical Recipes, 3rd ed., section 12.4.2).
func (a *Autocorrelation) Measure(x []float64, start, hop, count int) {
	a.Spectrum.Measure(x, start, hop, count)
	power := a.Spectrum.Power
	var odd [Count]float64 // F[1]
	for l := range odd {
		odd[l] = 0.5 * (power[l] - power[len(power)-Count+l])
	}
	fold(a.half.z, power, a.sines, &odd, hasAVX2)
	a.half.Coefficients(a.even)
	unfold(a.R, a.even, a.correction, &odd, hasAVX2)
}

// Band is the part of r(lag) of frame l that is of the bins lo ≤ k < hi of the spectrum, for
// a frame whose power in these bins is 1: divide it by their sum. It is then within about
// −1 … 1.
func (a *Autocorrelation) Band(l, lag, lo, hi int) float64 {
	var r [4]float64 // sums that do not depend on one another
	power, period := a.Spectrum.Power, a.cosines
	at, last, k := lo*lag, a.n-1, lo // n is a power of two
	for ; k+4 <= hi; k += 4 {
		q := (*[3*Count + 1]float64)(power[Count*k+l:])
		r[0] += q[0] * period[at&last]
		r[1] += q[Count] * period[(at+lag)&last]
		r[2] += q[2*Count] * period[(at+2*lag)&last]
		r[3] += q[3*Count] * period[(at+3*lag)&last]
		at += 4 * lag
	}
	for ; k < hi; k++ {
		r[0] += power[Count*k+l] * period[at&last]
		at += lag
	}
	return ((r[0] + r[1]) + (r[2] + r[3])) * (a.correction[lag] * float64(a.n) / 2)
}
