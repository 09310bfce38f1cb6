package dsp

import "math"

const (
	// lowpassTop is the attenuation of the Gaussian at the pitch ceiling; it
	// makes fc = 800/√(−2·ln 0.03) = 302 Hz.
	lowpassTop = 0.03
	// firstRate and lastRate are the rates in Hz aimed at by the two stages.
	// Above 1.2 kHz the Gaussian leaves less than −68 dB, above half of
	// lastRate less than −90 dB.
	firstRate, lastRate = 5512.5, 2756.25
	// lowpassTails is the length of the Gaussian's response on each side in
	// standard deviations; what is cut off is below −130 dB.
	lowpassTails = 5.5
)

// A lowpass filters with a Gaussian exp(−½(f/fc)²) and decimates. The first
// stage is a threefold moving average over d1 samples, whose zeros are at the
// frequencies that the decimation folds. The second stage, at the lower rate, is
// the Gaussian divided by the response of the first. Together they are the Gaussian.
type lowpass struct {
	sr     float64
	d1, d2 int
	box    []float64 // 3·d1 − 2 taps
	gauss  []float64 // odd number of taps, at sr/d1
	offset float64   // time in samples of x of the first output
	stage  []float64 // block of the first stage's output
	out    []float64 // block of the second stage's output, and scratch as long
	n      int       // samples of the output
	mean   float64   // that is subtracted
	y      []float64 // the samples of the output that are in memory,
	first  int       // from this one on
	peak   float64   // largest magnitude so far
	exact  bool      // whether no samples are computed before they are needed

	box4      []float64    // boxes(4), for d1 = 8
	fast      []float64    // scratch of inner: samples at a higher rate
	taps      [2][]float64 // where d2 is 2: those of gauss at even and at odd places,
	even, odd []float64    // and the samples of a block there
}

// lowpassBlock is the number of first-stage samples that are computed and kept at
// a time. Chosen to fit a first-level cache.
const lowpassBlock = 1024

func newLowpass(sr, ceiling float64) *lowpass {
	l := &lowpass{sr: sr}
	l.d1 = max(1, int(math.Round(sr/firstRate)))
	mid := sr / float64(l.d1)
	l.d2 = max(1, int(math.Round(mid/lastRate)))
	l.box, l.box4 = boxes(l.d1), boxes(4)
	fc := ceiling / math.Sqrt(-2*math.Log(lowpassTop))
	half := int(math.Ceil(lowpassTails * mid / (2 * math.Pi * fc)))
	l.gauss = make([]float64, 2*half+1)
	// h[k] = ∫ G(f)/B(f)·cos(2πfk/mid) df over −mid/2 … mid/2, by the
	// trapezoidal rule; the integrand is negligible at the ends.
	const steps = 512
	for i := 0; i < steps; i++ {
		f := (float64(i)/steps - 0.5) * mid
		b := 1.0
		if u := math.Pi * f / sr; u != 0 && l.d1 > 1 {
			b = math.Sin(u*float64(l.d1)) / (float64(l.d1) * math.Sin(u))
		}
		g := math.Exp(-0.5*f*f/(fc*fc)) / (b * b * b) / steps
		for k := range l.gauss {
			l.gauss[k] += g * math.Cos(2*math.Pi*f*float64(k-half)/mid)
		}
	}
	// Output j is centred on first-stage sample j·d2, whose own centre is
	// input sample j·d1·d2 + offset.
	l.offset = float64((len(l.box)-1)%2) / 2
	l.stage = make([]float64, lowpassBlock+2*half)
	l.out = make([]float64, 2*lowpassBlock)
	if l.d2 == 2 {
		l.even, l.odd = make([]float64, len(l.stage)/2+1), make([]float64, len(l.stage)/2+1)
		for k, g := range l.gauss {
			l.taps[k%2] = append(l.taps[k%2], g)
		}
	}
	return l
}

// boxes is the response of three moving averages over d samples.
func boxes(d int) []float64 {
	h := []float64{1}
	for range 3 {
		next := make([]float64, len(h)+d-1)
		for i, v := range h {
			for j := range d {
				next[i+j] += v / float64(d)
			}
		}
		h = next
	}
	return h
}

// rate is the rate of the output in Hz.
func (l *lowpass) rate() float64 { return l.sr / float64(l.d1*l.d2) }

// start begins to filter a signal of so many samples, less mean. It is taken as mean
// outside.
func (l *lowpass) start(samples int, mean float64) {
	l.n = (samples-1)/(l.d1*l.d2) + 1
	l.mean, l.peak = mean, 0
	l.y, l.first = l.y[:0], 0
}

// part returns the samples lo to hi−1 of x low-passed and decimated. Sample j is centred
// on the sample j·d1·d2 + offset of x. Neither lo nor hi may be less than in the call
// before. The result is valid until the next call.
func (l *lowpass) part(x *signal, lo, hi int) []float64 {
	if hi > l.first+len(l.y) {
		drop := min(lo-l.first, len(l.y))
		l.y = l.y[:copy(l.y, l.y[drop:])]
		l.first += drop
		l.fetch(x, hi)
	}
	return l.y[lo-l.first : hi-l.first]
}

// fetch computes the samples before hi, or some more if not exact.
func (l *lowpass) fetch(x *signal, hi int) {
	half := len(l.gauss) / 2
	per := lowpassBlock / l.d2 // samples of one block
	for j := l.first + len(l.y); j < hi; j += per {
		m := min(per, l.n-j)
		if l.exact {
			m = min(m, hi-j)
		}
		block := l.stage[:(m-1)*l.d2+2*half+1]
		l.average(block, x, j*l.d2-half)
		out := l.out[:m]
		l.smooth(out, block)
		l.peak = max(l.peak, highest(out, magnitude, hasAVX))
		l.y = append(l.y, out...)
	}
}

// reach is how many samples of the input the samples before hi depend on.
func (l *lowpass) reach(hi int) int {
	return ((hi-1)*l.d2+len(l.gauss)/2)*l.d1 + len(l.box) - (len(l.box)-1)/2
}

// smooth filters block with the Gaussian and takes every d2-th sample.
func (l *lowpass) smooth(dst, block []float64) {
	if l.d2 != 2 {
		for i := range dst {
			dst[i] = dotProduct(l.gauss, block[i*l.d2:], hasAVX)
		}
		return
	}
	even, odd := l.even[:len(block)/2+1], l.odd[:len(block)/2]
	split(even, odd, block, hasAVX)
	even[len(odd)] = block[len(block)-1] // the number of samples is odd
	rest := l.out[lowpassBlock:][:len(dst)]
	correlate(dst, l.taps[0], even, hasAVX)
	correlate(rest, l.taps[1], odd, hasAVX)
	accumulate(dst, rest, hasAVX)
}

// average computes the first stage's samples first, first+1, … into dst.
func (l *lowpass) average(dst []float64, x *signal, first int) {
	back := (len(l.box) - 1) / 2
	start := first*l.d1 - back // of the samples that are read
	lo, hi := overlap((len(dst)-1)*l.d1+len(l.box), x.n, start)
	y := x.part(start+lo, start+hi)
	// the outputs from … to−1 read only samples of the recording
	from, to := min((lo+l.d1-1)/l.d1, len(dst)), 0
	if n := len(y) + lo - len(l.box); n >= 0 {
		to = min(n/l.d1+1, len(dst))
	}
	if from < to {
		l.inner(dst[from:to], y[from*l.d1-lo:])
	}
	for i := range dst {
		if i >= from && i < to {
			continue
		}
		var s float64
		for k, b := range l.box {
			if j := i*l.d1 - lo + k; j >= 0 && j < len(y) {
				s += b * (y[j] - l.mean)
			}
		}
		dst[i] = s
	}
}

// inner computes Σ box[k]·x[d1·i+k] − mean. At 44.1 kHz the moving average of eight
// samples is one of four samples at a quarter of the rate, which [reduce] has a fast way
// for, and then one of two of these.
func (l *lowpass) inner(dst, x []float64) {
	if l.d1 < 4 { // faster than one dot product for each
		l.fast = sized(l.fast, (len(dst)-1)*l.d1+1)
		correlate(l.fast, l.box, x, hasAVX)
		for i := range dst {
			dst[i] = l.fast[i*l.d1] - l.mean
		}
		return
	}
	if l.d1 != 8 {
		reduce(dst, x, l.box, l.d1, l.mean, hasAVX)
		return
	}
	l.fast = sized(l.fast, 2*len(dst)+2)
	reduce(l.fast, x, l.box4, 4, l.mean, hasAVX)
	for i := range dst {
		q := (*[4]float64)(l.fast[2*i:])
		dst[i] = 0.125*(q[0]+q[3]) + 0.375*(q[1]+q[2])
	}
}
