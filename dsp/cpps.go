package dsp

import "math"

const (
	cppsRate    = 11025.0 // Hz aimed at: 5 kHz of spectrum (Maryn and Weenink 2015)
	cppsFFT     = 1024    // samples, 93 ms: about 50 ms of effective window, three periods of 60 Hz
	cppsStep    = 4       // frames of the track from one cepstrum to the next, 40 ms
	cppsSmooth  = 0.0005  // s of quefrency over which the cepstrum is averaged (10 samples of 20 kHz in Hillenbrand and Houde)
	cppsLow     = 60.0    // Hz and
	cppsHigh    = 330.0   // Hz: range of the peak (Maryn and Weenink 2015)
	cppsLineLow = 0.001   // s, shortest quefrency of the regression line (Maryn and Weenink 2015)
	cppsPre     = 50.0    // Hz, pre-emphasis from here on (Maryn and Weenink 2015)
	cppsFloor   = 1e-12   // least power of a bin, relative to the strongest: −120 dB; chosen, below 16 bits
)

// CPPS measures the smoothed cepstral peak prominence: the height in dB of the
// cepstral peak between 1/330 and 1/60 s over a regression line through the
// cepstrum. The measure is that of J. Hillenbrand and R. A. Houde, "Acoustic
// correlates of breathy vocal quality", J. Speech Hear. Res. 39 (1996), 311–321,
// with the constants of Y. Maryn and D. Weenink, "Objective dysphonia measures in
// the program Praat: smoothed cepstral peak prominence and acoustic voice quality
// index", J. Voice 29 (2015), 35–43.
//
// It differs from theirs for speed, so that the scale differs too:
//
//   - The cepstra are 40 ms apart, not 2 ms.
//   - Only voiced frames have cepstra.
//   - Smoothing in time is over two cepstra.
//   - The line ends at the longest quefrency of the 93 ms window, 46 ms.
//
// A CPPS owns its scratch memory, allocates nothing after [NewCPPS], and is not
// safe for concurrent use.
type CPPS struct {
	sr, rate     float64
	d            int
	box          []float64
	mean         float64   // of the recording, after the box
	part         []float64 // the decimated samples of a frame and the one before
	start, end   int       // samples of the recording at which part begins and ends; equal if part is empty
	fft          *FFT
	w, y         []float64
	coef         []complex128
	power        []float64
	last, now    []float64 // power cepstra of the natural logarithm; the unit cancels
	smooth       []float64
	lo, hi, line int
	ones         []float64 // as many as bins are averaged, an odd number

	next    int     // frame that is measured next
	follows bool    // whether the latest one has a cepstrum
	sum     float64 // of the prominences, and their number
	count   int
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
	c.part = make([]float64, cppsFFT+1)
	c.coef = make([]complex128, cppsFFT/2+1)
	c.power = make([]float64, cppsFFT/2+1)
	c.last = make([]float64, cppsFFT/2)
	c.now = make([]float64, cppsFFT/2)
	c.smooth = make([]float64, cppsFFT/2)
	c.line = int(math.Ceil(cppsLineLow * c.rate))
	c.ones = make([]float64, 2*int(math.Round(cppsSmooth*c.rate/2))+1)
	for i := range c.ones {
		c.ones[i] = 1
	}
	c.lo = int(math.Ceil(c.rate / cppsHigh))
	c.hi = min(int(c.rate/cppsLow), cppsFFT/2-2)
	return c
}

// Measure returns the smoothed cepstral peak prominence of x in dB: the mean over
// every fourth frame of the track f0 (Hz, frames centred on i·[Hop], 0 where
// unvoiced) that is voiced. It is NaN without a voiced frame whose window is wholly
// in x. x and f0 are not changed.
func (c *CPPS) Measure(x, f0 []float64) float64 {
	return c.measure(x, f0, total(x, hasAVX)/float64(max(len(x), 1)))
}

// measure is Measure for an x whose mean is known.
func (c *CPPS) measure(x, f0 []float64, mean float64) float64 {
	all := whole(x)
	c.begin(mean)
	c.frames(&all, f0, len(f0))
	return c.result()
}

// begin starts the measure of a recording whose mean is known.
func (c *CPPS) begin(mean float64) {
	c.mean = mean * total(c.box, hasAVX)
	c.start, c.end = 0, 0
	c.next, c.follows = 0, false
	c.sum, c.count = 0, 0
}

// frames measures the frames before limit, which ascends from call to call.
func (c *CPPS) frames(x *signal, f0 []float64, limit int) {
	for ; c.next < limit; c.next += cppsStep {
		if !(f0[c.next] > 0) || !c.cepstrum(x, float64(c.next)*Hop) {
			c.follows = false
			continue
		}
		v := c.prominence(c.follows)
		c.last, c.now = c.now, c.last
		c.follows = true
		if !math.IsNaN(v) {
			c.sum += v
			c.count++
		}
	}
}

// result is the mean over the frames so far.
func (c *CPPS) result() float64 {
	if c.count == 0 {
		return math.NaN()
	}
	return c.sum / float64(c.count)
}

// cepstrum fills now with the power cepstrum of the frame centred on t seconds. ok
// is false if the frame reaches beyond x or is silent.
func (c *CPPS) cepstrum(x *signal, t float64) (ok bool) {
	span := (cppsFFT-1)*c.d + len(c.box)
	from := int(math.Round(t*c.sr)) - span/2
	if from < c.d || from+span > x.n {
		return false
	}
	c.decimate(x, from-c.d)
	// pre-emphasis by the first difference of the decimated samples
	a := math.Exp(-2 * math.Pi * cppsPre / c.rate)
	emphasize(c.y, c.part[1:], c.w, a, 0, hasAVX)
	c.y[0] = c.w[0] * (c.part[1] - a*c.part[0])
	p := c.fft.Power(c.power, c.y)
	top := highest(p, allBits, hasAVX)
	if !(top > 0) || math.IsInf(top, 0) {
		return false
	}
	floor := max(top*cppsFloor, leastNormal)
	raise(p, floor, hasAVX)
	logs(p, p, hasAVX2)
	widen(c.coef, p, hasAVX)
	c.fft.Sequence(c.y, c.coef)
	product(c.now, c.y[:len(c.now)], c.y, hasAVX)
	return true
}

// decimate fills part with the decimated samples from the sample from of x on. It
// keeps those that it shares with the previous frame.
func (c *CPPS) decimate(x *signal, from int) {
	kept := 0
	if from >= c.start && from < c.end && (from-c.start)%c.d == 0 {
		kept = copy(c.part, c.part[(from-c.start)/c.d:])
	}
	next := from + kept*c.d
	reduce(c.part[kept:], x.part(next, from+(len(c.part)-1)*c.d+len(c.box)), c.box, c.d, c.mean, hasAVX)
	c.start, c.end = from, from+len(c.part)*c.d
}

// prominence is the height in dB of the peak of the cepstrum, smoothed over
// quefrency and, if follows, over time with the previous one.
func (c *CPPS) prominence(follows bool) float64 {
	p := c.smooth
	copy(p, c.now)
	if follows { // the sum is as good as the mean: only ratios count
		accumulate(p, c.last, hasAVX)
	}
	// moving average of the bins within half, but for the factor, then dB
	half := len(c.ones) / 2
	end := len(p) - half
	mean := c.y[:len(p)] // c.y is scratch again
	correlate(mean[c.line:end], c.ones, p[c.line-half:], hasAVX)
	raise(mean[c.line:end], leastNormal, hasAVX)
	best := c.lo
	for q := c.lo; q <= min(c.hi, end-2); q++ {
		if mean[q] > mean[best] {
			best = q
		}
	}
	db := func(q int) float64 { return 10 * math.Log10(mean[q]) }
	at, peak := float64(best), db(best)
	if a, b, d := db(best-1), peak, db(best+1); b > a && b >= d {
		u := 0.5 * (a - d) / (a - 2*b + d)
		at, peak = at+u, b-0.25*(a-d)*u
	}
	part := mean[c.line:end]
	logs(part, part, hasAVX2)
	n := float64(len(part))
	sum, moment := moments(part, hasAVX)
	centre := (n - 1) / 2
	slope := (moment - centre*sum) / (n * (n*n - 1) / 12)
	line := sum/n + slope*(at-float64(c.line)-centre)
	return peak - line*(10/math.Ln10)
}
