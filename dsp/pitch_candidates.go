package dsp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	windowPeriods  = 3    // length of the window in longest periods (Boersma 1993, section 3)
	maxCandidates  = 15   // voiced candidates of a frame (the method's published setting)
	windowPhases   = 8    // window positions between two samples, so that frames are centred to 0.03 ms
	leastWindow    = 0.02 // least share of the window's power that must lie in x; chosen
	leastSelfRatio = 0.05 // least autocorrelation of the window at a lag that is used; chosen
)

// A correlogram computes the pitch candidates of frames.
type correlogram struct {
	rate    float64
	opts    PitchOptions
	fft     *FFT
	windows [windowPhases][]float64 // Hann windows centred half+phase/windowPhases into half*2+2 samples
	self    []float64               // autocorrelation of the whole window, normalised, at the lags 0 … maxLag+pad
	edge    []float64               // likewise of a window cut by an end of x
	half    int
	minLag  int
	maxLag  int
	interp  *interpolator

	low    *lowpass // the signal, and its start in time
	offset float64
	whole  float64 // power of the whole window

	frameBuf []float64
	power    []float64    // its power spectrum,
	coef     []complex128 // the same for the inverse transform
	near     []float64    // half a longest period on both sides of a frame's centre
	r        []float64    // lags −pad … maxLag+pad
}

func newCorrelogram(rate float64, o PitchOptions) *correlogram {
	c := &correlogram{rate: rate, opts: o}
	width := windowPeriods / o.Floor * rate
	c.half = int(math.Ceil(width / 2))
	c.minLag = max(1, int(rate/o.Ceiling))
	c.maxLag = int(math.Ceil(rate / o.Floor))
	n := powerOfTwo(2*c.half + 2 + c.maxLag + interpPad)
	c.fft = NewFFT(n)
	c.frameBuf = make([]float64, n)
	c.power = make([]float64, n/2+1)
	c.coef = make([]complex128, n/2+1)
	c.near = make([]float64, 2*int(0.5*rate/o.Floor)+1)
	c.r = make([]float64, c.maxLag+2*interpPad+3)
	c.self = make([]float64, c.maxLag+interpPad+1)
	c.edge = make([]float64, c.maxLag+interpPad+1)
	for p := range c.windows {
		w := make([]float64, 2*c.half+2)
		for i := range w {
			if d := (float64(i-c.half) - float64(p)/windowPhases) / width; math.Abs(d) < 0.5 {
				w[i] = 0.5 + 0.5*math.Cos(2*math.Pi*d)
			}
		}
		c.windows[p] = w
	}
	copy(c.frameBuf, c.windows[0])
	c.correlate()
	c.whole = c.frameBuf[0]
	c.normalisedSelf(c.self)
	c.interp = newInterpolator()
	return c
}

// normalisedSelf copies the autocorrelation of the window in frameBuf to dst,
// divided by its value at lag 0.
func (c *correlogram) normalisedSelf(dst []float64) {
	for k := range dst {
		dst[k] = c.frameBuf[k] / c.frameBuf[0]
	}
}

// correlate replaces frameBuf by its autocorrelation (Wiener–Khinchin).
func (c *correlogram) correlate() {
	c.fft.Power(c.power, c.frameBuf)
	widen(c.coef, c.power, hasAVX)
	c.fft.Sequence(c.frameBuf, c.coef)
}

// start takes the low-passed signal, whose sample 0 is centred offset samples (of its
// own) after the beginning of the recording.
func (c *correlogram) start(low *lowpass) {
	c.low, c.offset = low, low.offset/float64(low.d1*low.d2)
}

// limit is the sample of the low-passed signal after the last one of the frame centred on
// t seconds.
func (c *correlogram) limit(t float64) int { return int(math.Floor(t*c.rate-c.offset)) + c.half + 2 }

// window fills frameBuf with the windowed frame centred on t seconds, less its
// weighted mean, and returns its largest magnitude within half a longest period of
// t and the autocorrelation of the window. ok is false if less than leastWindow of
// the window's power lies in the recording.
func (c *correlogram) window(t float64, x *signal) (local float64, self []float64, ok bool) {
	at := t*c.rate - c.offset
	i0 := math.Floor(at)
	w := c.windows[int((at-i0)*windowPhases)]
	from := int(i0) - c.half
	lo, hi := max(0, -from), min(len(w), c.low.n-from)
	if lo >= hi {
		return 0, nil, false
	}
	self = c.self
	if lo > 0 || hi < len(w) {
		c.fill(w, lo, hi)
		c.correlate()
		if c.frameBuf[0] < leastWindow*c.whole {
			return 0, nil, false
		}
		c.normalisedSelf(c.edge)
		self = c.edge
	}
	c.fill(w, lo, hi)
	y, frame := c.low.part(x, from+lo, from+hi), c.frameBuf[lo:hi]
	mean := floats.Dot(y, frame) / floats.Sum(frame)
	near := len(c.near) / 2
	if from, to := max(lo, c.half-near), min(hi, c.half+near+1); from < to {
		shift(c.near, y[from-lo:to-lo], mean, hasAVX)
		local = highest(c.near[:to-from], magnitude, hasAVX)
	}
	taper(frame, y, frame, mean, hasAVX)
	return local, self, true
}

// fill sets frameBuf to the samples lo … hi−1 of the window w, 0 elsewhere.
func (c *correlogram) fill(w []float64, lo, hi int) {
	clear(c.frameBuf[:lo])
	copy(c.frameBuf[lo:], w[lo:hi])
	clear(c.frameBuf[hi:])
}

// leastPower is the least energy of a frame whose correlations are normalised.
// Chosen: far below anything audible, far above the underflow of products of two
// energies.
const leastPower = 1e-100

// frame adds the candidates of the frame centred on t seconds to path.
func (c *correlogram) frame(t float64, x *signal, path *pitchPath) {
	path.begin()
	local, self, ok := c.window(t, x)
	if !ok {
		return
	}
	c.correlate()
	if !(c.frameBuf[0] > leastPower) {
		return
	}
	// Boersma, eq. 9: r_x(τ) ≈ r_xw(τ)/r_w(τ)
	top := c.maxLag
	for k := 0; k <= c.maxLag+interpPad; k++ {
		if self[k] < leastSelfRatio {
			top = min(top, k-interpPad-1)
			c.r[interpPad+k] = 0
			continue
		}
		c.r[interpPad+k] = c.frameBuf[k] / (c.frameBuf[0] * self[k])
	}
	for k := 1; k <= interpPad; k++ {
		c.r[interpPad-k] = c.r[interpPad+k]
	}
	path.measured(local)
	c.peaks(top, path)
}

// peaks adds the maxima of r up to the lag top.
func (c *correlogram) peaks(top int, path *pitchPath) {
	r := c.r
	for k := max(c.minLag, 1); k <= top; k++ {
		a, b, d := r[interpPad+k-1], r[interpPad+k], r[interpPad+k+1]
		// Boersma: maxima of less than half the voicing threshold are not candidates
		if !(b > a && b >= d) || b < 0.5*c.opts.VoicingThreshold {
			continue
		}
		tau, v := c.interp.peak(c.r, interpPad+k)
		tau -= interpPad
		f := c.rate / tau
		if f < c.opts.Floor || f > c.opts.Ceiling {
			continue
		}
		if v > 1 {
			v = 1 / v // Boersma: what exceeds 1 is reflected
		}
		octave := math.Log2(f / c.opts.Floor)
		path.candidate(f, octave, v+c.opts.OctaveCost*octave)
	}
}
