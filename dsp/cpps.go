package dsp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	cppsRate    = 11025.0 // Hz aimed at: 5 kHz of spectrum (Maryn and Weenink 2015)
	cppsFFT     = 1024    // samples, 93 ms: about 50 ms of effective window, three periods of 60 Hz
	cppsStep    = 4       // frames of the track from one cepstrum to the next, 40 ms
	cppsSmooth  = 0.0005  // s of quefrency over which the cepstrum is averaged (10 samples of 20 kHz in Hillenbrand and Houde)
	cppsLow     = 60.0    // Hz and
	cppsHigh    = 330.0   // Hz: range of the peak (Maryn and Weenink 2015)
	cppsLineLow = 0.001   // s, shortest quefrency of the regression line (Maryn and Weenink 2015)
	cppsPre     = 50.0    // Hz, pre-emphasis from here on (Maryn and Weenink 2015)
	cppsFloor   = 1e-12   // power below which a bin is not looked at closer, relative to the strongest: −120 dB
)

// CPPS measures the smoothed cepstral peak prominence after J. Hillenbrand and
// R. A. Houde, "Acoustic correlates of breathy vocal quality", J. Speech Hear.
// Res. 39 (1996), 311–321, with the constants of Y. Maryn and D. Weenink,
// "Objective dysphonia measures in the program Praat: smoothed cepstral peak
// prominence and acoustic voice quality index", J. Voice 29 (2015), 35–43: the
// height in dB of the cepstral peak between 1/330 and 1/60 s over a regression
// line through the cepstrum.
//
// It differs from those for speed: the cepstra are 20 ms and not 2 ms apart,
// only those of voiced frames are made, smoothing in time is over two of them,
// and the line ends at the longest quefrency of the 46 ms window.
//
// A CPPS owns its scratch memory, allocates nothing after [NewCPPS], and is not
// safe for concurrent use.
type CPPS struct {
	sr, rate     float64
	d            int
	box          []float64
	mean         float64 // of the recording, after the box
	fft          *FFT
	w, y         []float64
	coef         []complex128
	last, now    []float64 // power cepstra
	smooth       []float64
	lo, hi, line int
}

// NewCPPS returns a CPPS for mono samples at sr Hz. It panics unless sr is at
// least 4 kHz.
func NewCPPS(sr float64) *CPPS {
	if !(sr >= 4000) || math.IsInf(sr, 0) {
		panic("dsp: sample rate out of range")
	}
	c := &CPPS{sr: sr, d: max(1, int(math.Round(sr/cppsRate))), fft: NewFFT(cppsFFT)}
	c.rate = sr / float64(c.d)
	c.box = boxes(c.d)
	c.w = make([]float64, cppsFFT)
	for i := range c.w {
		c.w[i] = 0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/cppsFFT)
	}
	c.y = make([]float64, cppsFFT)
	c.coef = make([]complex128, cppsFFT/2+1)
	c.last = make([]float64, cppsFFT/2)
	c.now = make([]float64, cppsFFT/2)
	c.smooth = make([]float64, cppsFFT/2)
	c.line = int(math.Ceil(cppsLineLow * c.rate))
	c.lo = int(math.Ceil(c.rate / cppsHigh))
	c.hi = min(int(c.rate/cppsLow), cppsFFT/2-2)
	return c
}

// Measure returns the smoothed cepstral peak prominence of x in dB, the mean
// over the voiced frames of the track f0 (Hz, frames centred on i·[Hop], 0
// where unvoiced); NaN if none of them lies with its window in x. x and f0 are
// not changed.
func (c *CPPS) Measure(x, f0 []float64) float64 {
	var sum float64
	var n int
	c.mean = floats.Sum(x) / float64(max(len(x), 1)) * floats.Sum(c.box)
	follows := false
	for i := 0; i < len(f0); i += cppsStep {
		if !(f0[i] > 0) || !c.cepstrum(x, float64(i)*Hop) {
			follows = false
			continue
		}
		v := c.prominence(follows)
		c.last, c.now = c.now, c.last
		follows = true
		if !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// cepstrum fills now with the power cepstrum of the frame centred on t seconds;
// ok is false if the frame reaches beyond x or is silent.
func (c *CPPS) cepstrum(x []float64, t float64) (ok bool) {
	span := (cppsFFT-1)*c.d + len(c.box)
	from := int(math.Round(t*c.sr)) - span/2
	if from < c.d || from+span > len(x) {
		return false
	}
	// pre-emphasis by the first difference of the decimated samples
	a := math.Exp(-2 * math.Pi * cppsPre / c.rate)
	before := floats.Dot(c.box, x[from-c.d:from-c.d+len(c.box)]) - c.mean
	for i := range c.y {
		at := from + i*c.d
		v := floats.Dot(c.box, x[at:at+len(c.box)]) - c.mean
		c.y[i], before = c.w[i]*(v-a*before), v
	}
	c.fft.Coefficients(c.coef, c.y)
	var top float64
	for k, v := range c.coef {
		p := real(v)*real(v) + imag(v)*imag(v)
		c.coef[k] = complex(p, 0)
		top = max(top, p)
	}
	if !(top > 0) || math.IsInf(top, 0) {
		return false
	}
	for k, v := range c.coef {
		c.coef[k] = complex(10*math.Log10(max(real(v), top*cppsFloor)), 0)
	}
	c.fft.Sequence(c.y, c.coef)
	for q := range c.now {
		c.now[q] = c.y[q] * c.y[q]
	}
	return true
}

// prominence is the height of the peak of the cepstrum, smoothed over time if
// it follows another one and over quefrency.
func (c *CPPS) prominence(follows bool) float64 {
	p := c.smooth
	copy(p, c.now)
	if follows {
		for q, v := range c.last {
			p[q] = 0.5 * (p[q] + v)
		}
	}
	// moving average of 2·half+1 bins, then dB
	half := int(math.Round(cppsSmooth * c.rate / 2))
	end := len(p) - half
	var run float64
	for q := c.line - half; q <= c.line+half; q++ {
		run += p[max(q, -q)]
	}
	db := c.y[:len(p)] // free by now
	for q := c.line; q < end; q++ {
		db[q] = 10 * math.Log10(run/float64(2*half+1))
		if q+1 < end {
			run += p[q+1+half] - p[max(q-half, half-q)]
			run = max(run, math.SmallestNonzeroFloat64)
		}
	}
	best := c.lo
	for q := c.lo; q <= min(c.hi, end-2); q++ {
		if db[q] > db[best] {
			best = q
		}
	}
	at, peak := float64(best), db[best]
	if a, b, d := db[best-1], db[best], db[best+1]; b > a && b >= d {
		u := 0.5 * (a - d) / (a - 2*b + d)
		at, peak = at+u, b-0.25*(a-d)*u
	}
	slope, offset := regression(db[c.line:end])
	return peak - (offset + slope*(at-float64(c.line)))
}

// regression is the least-squares line through y at 0, 1, 2, …
func regression(y []float64) (slope, offset float64) {
	n := float64(len(y))
	mx := (n - 1) / 2
	var my, xy, xx float64
	for _, v := range y {
		my += v / n
	}
	for i, v := range y {
		dx := float64(i) - mx
		xy += dx * (v - my)
		xx += dx * dx
	}
	slope = xy / xx
	return slope, my - slope*mx
}
