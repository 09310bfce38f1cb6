package dsp

import "slices"

// An Autocorrelation measures how a frame repeats, by the autocorrelation of the
// windowed frame divided by that of its window w (P. Boersma, "Accurate
// short-term analysis of the fundamental frequency and the harmonics-to-noise
// ratio of a sampled sound", IFA Proceedings 17, 1993, eq. 9):
//
//	r(k) = Σ w[j]·x[j]·w[j+k]·x[j+k] · Σ w² / Σ w[j]·w[j+k]
//
// It is computed from the power spectrum (Wiener-Khinchin theorem). The mean of x is
// not subtracted. [Pitch] finds a path through such frames; an Autocorrelation
// measures each frame alone.
//
// It owns its scratch, allocates nothing after [NewAutocorrelation], and is not
// safe for concurrent use.
type Autocorrelation struct {
	window     []float64
	fft        *FFT
	frame      []float64    // the windowed frame, zeros behind it
	power      []float64    // its power spectrum
	spectrum   []complex128 // the same, for the inverse transform
	sequence   []float64
	correction []float64 // Σ w² / Σ w[j]·w[j+k]
	cosines    []float64 // cos(2πi/len), one period
}

// NewAutocorrelation returns an Autocorrelation of frames as long as the window,
// which it copies, at the lags 0 … lags. It panics unless 0 ≤ lags < len(window)
// and the window is positive at those lags: its own autocorrelation is a divisor.
func NewAutocorrelation(window []float64, lags int) *Autocorrelation {
	if lags < 0 || lags >= len(window) {
		panic("dsp: autocorrelation at impossible lags")
	}
	n := powerOfTwo(len(window) + lags) // no lag wraps round
	a := &Autocorrelation{
		window: slices.Clone(window), fft: NewFFT(n).padded(len(window)), frame: make([]float64, n), sequence: make([]float64, n),
		power: make([]float64, n/2+1), spectrum: make([]complex128, n/2+1),
		correction: make([]float64, lags+1), cosines: make([]float64, n),
	}
	for i := range a.cosines {
		a.cosines[i] = real(unitRoot(i, n))
	}
	copy(a.frame, window)
	a.transform()
	for k := range a.correction {
		a.correction[k] = a.sequence[0] / a.sequence[k]
		if !(a.correction[k] > 0) {
			panic("dsp: autocorrelation under a window without one")
		}
	}
	return a
}

// transform fills power and sequence from frame.
func (a *Autocorrelation) transform() {
	a.fft.Power(a.power, a.frame)
	widen(a.spectrum, a.power, hasAVX)
	a.fft.Sequence(a.sequence, a.spectrum)
}

// Measure computes r(0) … r(lags) of a frame into dst and returns it; a nil dst
// is allocated. r(0) is the power Σ (w·x)², and r(k)/r(0) is nearly 1 at a period
// of k samples; all are 0 of silence. A NaN or infinite sample gives NaN. It
// panics if dst or frame has another length. The frame is not changed.
func (a *Autocorrelation) Measure(dst, frame []float64) []float64 {
	if dst == nil {
		dst = make([]float64, len(a.correction))
	}
	if len(dst) != len(a.correction) || len(frame) != len(a.window) {
		panic("dsp: autocorrelation of a frame or into a slice of the wrong length")
	}
	product(a.frame, frame, a.window, hasAVX)
	a.transform()
	product(dst, a.sequence[:len(dst)], a.correction, hasAVX)
	return dst
}

// Band is r(lag)/r(0) of the part of the latest frame in a band: of the bins
// lo ≤ k < hi of the power spectrum, which are [Autocorrelation.BinWidth] apart.
// It is within about −1 … 1, and NaN if the band has no power. It panics if lag or a
// bin is out of range.
func (a *Autocorrelation) Band(lag, lo, hi int) float64 {
	var r [4]float64 // sums that do not depend on one another
	power, period := a.power[lo:hi], a.cosines[:len(a.frame)]
	at, last := lo*lag, len(period)-1 // the length is a power of two
	k := 0
	for ; k+4 <= len(power); k += 4 {
		p := (*[4]float64)(power[k : k+4])
		r[0] += p[0] * period[at&last]
		r[1] += p[1] * period[(at+lag)&last]
		r[2] += p[2] * period[(at+2*lag)&last]
		r[3] += p[3] * period[(at+3*lag)&last]
		at += 4 * lag
	}
	for ; k < len(power); k++ {
		r[0] += power[k] * period[at&last]
		at += lag
	}
	return ((r[0] + r[1]) + (r[2] + r[3])) / total(power, hasAVX) * a.correction[lag]
}

// BinWidth is the distance of the bins of [Autocorrelation.Band] in Hz for
// samples at sr Hz.
func (a *Autocorrelation) BinWidth(sr float64) float64 { return sr / float64(len(a.frame)) }

// PeakLag returns the lag of the largest of r[lo] … r[hi−1], the first of equal
// ones, and that lag refined by the parabola through it and its neighbours, by
// at most one. Where these three have no maximum, as at an end of a slope, exact
// is the lag. It panics unless 1 ≤ lo < hi < len(r). r is not changed.
func PeakLag(r []float64, lo, hi int) (lag int, exact float64) {
	if lo < 1 || lo >= hi || hi >= len(r) {
		panic("dsp: peak at impossible lags")
	}
	lag = lo
	for k := lo; k < hi; k++ {
		if r[k] > r[lag] {
			lag = k
		}
	}
	exact = float64(lag)
	a, b, c := r[lag-1], r[lag], r[lag+1]
	if curve := a - 2*b + c; curve < 0 {
		exact += min(max(0.5*(a-c)/curve, -1), 1)
	}
	return lag, exact
}
