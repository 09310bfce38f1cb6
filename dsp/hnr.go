package dsp

import (
	"math"
	"slices"
)

const (
	// hnrPeriods is the length of the window in periods. With the lag of one
	// period, six periods of x take part. A longer window has less chance error,
	// but counts more of the voice's own change as noise (Boersma 1993, section
	// 7, recommends 4.5 to 6).
	hnrPeriods = 5.0
	// hnrGrid is the ratio of two window lengths up to which one window serves
	// both, so that a steady voice reuses its window; chosen.
	hnrGrid = 1.02
	// hnrSpread is the distance in seconds of the two lags from whose
	// correlation the error of the track's lag is estimated: noise moves the
	// estimate by its inverse, and it is half a period of 5.5 kHz. Chosen.
	hnrSpread = 4.0 / 44100
	// hnrMargin is the number of frames at each end of a voiced stretch that
	// may be half outside of the voice: by the track's frame of 10 ms.
	hnrMargin = 1
	// hnrCeiling is the largest ratio in dB: rounding or interpolation may raise
	// a correlation to 1, where the ratio is infinite. Chosen above every
	// recording.
	hnrCeiling = 100.0
)

// HNR measures the harmonics-to-noise ratio after P. Boersma, "Accurate short-term
// analysis of the fundamental frequency and the harmonics-to-noise ratio of a
// sampled sound", IFA Proceedings 17 (1993), 97–110, eq. 4:
//
//	HNR = 10·log10( r(τ) / (1 − r(τ)) ) dB
//
// at the period τ of the pitch track. Boersma's r is the autocorrelation of the
// windowed signal. Here r is the correlation, under one Hann window v, of a stretch
// with the stretch one period later,
//
//	r(τ) = 2·Σ v(t)·x(t)·x(t+τ) / Σ v(t)·(x²(t) + x²(t+τ)).
//
// It has the same expectation, but 1 − r is half the mean square of the difference
// of the two stretches, in which chance products of voice and noise cancel. r is
// taken at the lag of the track, corrected for the error of that lag, and not at
// its own maximum, which noise biases upwards.
//
// An HNR owns its scratch memory, allocates nothing after a call with the lowest
// pitch, and is not safe for concurrent use.
type HNR struct {
	sr      float64
	length  float64 // of the window, in samples
	w       []float64
	x, y, q []float64 // x less its mean, windowed, squared
	first   int       // frames of the voiced stretch of the latest frame
	end     int
}

// NewHNR returns an HNR for mono samples at sr Hz, which must be positive.
func NewHNR(sr float64) *HNR { return &HNR{sr: sr} }

// Track returns the harmonics-to-noise ratio of x in dB, from about −20 to 100, for
// every frame of the track f0 (Hz, frames centred on i·[Hop], 0 where unvoiced). It
// is NaN in unvoiced frames, in frames of which x holds less than two periods, and
// where the correlation is not positive. Near an end of a voiced stretch the window
// is moved inwards, so that sounds outside of the stretch do not count as noise of
// the voice. The result has len(f0) frames and is written from dst[0] on, in dst's
// memory where that is large enough; dst may be nil. x and f0 are not changed.
func (h *HNR) Track(dst, x, f0 []float64) []float64 {
	dst = slices.Grow(dst[:0], len(f0))[:len(f0)]
	all := whole(x)
	h.start()
	for i := range f0 {
		dst[i] = h.at(&all, f0, i)
	}
	return dst
}

// start makes the next frame the first of a recording.
func (h *HNR) start() {
	h.length = 0 // the window of another recording would serve near lengths
	h.end = 0
}

// at returns the ratio of frame i, the frames in order.
func (h *HNR) at(x *signal, f0 []float64, i int) float64 {
	if !(f0[i] > 0) {
		return math.NaN()
	}
	if i >= h.end { // the first of a stretch
		h.first, h.end = i, i+1
		for h.end < len(f0) && f0[h.end] > 0 {
			h.end++
		}
	}
	c := inward(float64(i), float64(h.first+hnrMargin), float64(h.end-1-hnrMargin), 0.5*(hnrPeriods+1)/f0[i]/Hop)
	return h.frame(x, c*Hop*h.sr, h.sr/trackAt(f0[h.first:h.end], c-float64(h.first)))
}

// inward returns the point nearest to at that is at least half away from lo and
// hi, and the middle of lo and hi if they are too close.
func inward(at, lo, hi, half float64) float64 {
	if hi-lo < 2*half {
		return 0.5 * (lo + hi)
	}
	return min(max(at, lo+half), hi-half)
}

// frame is the ratio in dB around the sample at, for a period of tau samples.
func (h *HNR) frame(x *signal, at, tau float64) float64 {
	m := int(math.Round(tau))
	spread := max(2, int(math.Round(hnrSpread*h.sr)))
	if m <= spread || tau > float64(x.n) {
		return math.NaN()
	}
	h.window(hnrPeriods * tau)
	// n samples under the window and those up to m + spread later, centred on at
	from := int(math.Round(at)) - (len(h.w)+m)/2
	lo, hi := max(0, -from), min(len(h.w), x.n-from-m-spread)
	if hi-lo < m {
		return math.NaN()
	}
	h.load(h.w[lo:hi], x.part(from+lo, from+hi+m+spread))
	w, y := h.w[lo:hi], h.y
	r := dotProducts5(y, h.x, [5]int{m - spread, m - 1, m, m + 1, m + spread}, hasAVX)
	lower, a, b, d, upper := r[0], r[1], r[2], r[3], r[4]
	e := dotProducts3(w, h.q, [3]int{0, m - spread, m + spread}, hasAVX)
	e0, e1, e2 := e[0], e[1], e[2]
	u := tau - float64(m)
	// the parabola through the three middle lags, at the lag of the track
	v := b + 0.5*u*(d-a) + 0.5*u*u*(a-2*b+d)
	// the loss by an error of the lag is slope²/(2·curvature)
	s := float64(spread)
	curve := (lower - 2*b + upper) / (s * s)
	slope := (upper-lower)/(2*s) + u*curve
	if curve < 0 && math.Abs(slope) < -curve*s {
		v -= slope * slope / (2 * curve)
	}
	p := e1 + (e2-e1)*(u+s)/(2*s)
	v *= 2 / (e0 + p)
	if !(v > 0) {
		return math.NaN()
	}
	return min(10*math.Log10(v/max(1-v, 1e-12)), hnrCeiling)
}

// load fills x, y and q from part, the samples under the window w and some
// after them.
func (h *HNR) load(w, part []float64) {
	mean := total(part, hasAVX) / float64(len(part))
	h.x, h.y, h.q = sized(h.x, len(part)), sized(h.y, len(w)), sized(h.q, len(part))
	centre(h.x, h.y, h.q, part, w, mean, hasAVX)
}

// window makes w a Hann window of about the given length in samples, odd in
// number.
func (h *HNR) window(length float64) {
	if h.length > 0 && length < h.length*hnrGrid && h.length < length*hnrGrid {
		return
	}
	half := int(length / 2)
	h.length = length
	h.w = sized(h.w, 2*half+1)
	// cos(2πi/length) by rotation, of four neighbours at a time
	step := 2 * math.Pi / length
	ds, dc := math.Sincos(4 * step)
	var s, c [4]float64
	for k := range c {
		s[k], c[k] = math.Sincos(float64(k) * step)
	}
	for i := 0; i <= half; i += 4 {
		for k := range min(4, half+1-i) {
			v := 0.5 + 0.5*c[k]
			h.w[half+i+k], h.w[half-i-k] = v, v
			s[k], c[k] = s[k]*dc+c[k]*ds, c[k]*dc-s[k]*ds
		}
	}
}
