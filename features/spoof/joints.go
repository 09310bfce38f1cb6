package spoof

import (
	"math"
	"math/bits"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	repeatFrame  = 192 // samples, 12 ms: three words of 64; 6 to 16 ms are no better
	repeatHop    = 128 // samples, 8 ms: two words
	repeatFrom   = 64  // samples, 4 ms: the first lag at which something may repeat
	repeatTo     = 400 // samples, 25 ms: programs repeat 10 to 25 ms
	repeatWords  = repeatFrame / 64
	repeatReach  = repeatTo/64 + repeatWords // words at a shift that are compared
	leastRepeats = 12                        // frames that a statistic needs

	lineBand   = 6    // the first of envelopeBands that is summed, 3 kHz: above, voices are noise
	lineFrames = 2048 // of the spectrum of the envelopes, 4.1 s; more are parts of it
	leastLine  = 400  // frames, 0.8 s
	leastSound = 100  // of them that are active
	lineSlow   = 12   // frames, 24 ms: a mean over so many before and behind is taken off
	lineAround = 60   // bins, 15 Hz: a line stands over the median of so many below and above
	lineStride = 16   // bins
	lineLimit  = 3    // times the median deviation: where deviations are cut off
)

// lineBands are the edges in Hz of the rates at which segments may be joined. Below, speech
// itself is.
var lineBands = [...]float64{30, 55, 110}

// joints finds what is left where pitch or tempo was changed by joining segments of the
// recording. In unvoiced sounds nothing repeats, but what a program repeats to make a
// recording longer; and joints at equal distances are a line in the spectrum of the
// envelopes.
type joints struct {
	active activity  // of frames of repeatFrame
	sign   []uint64  // bit i%64 of word i/64 says that sample i of the residual is negative
	repeat []float64 // of each frame, NaN but in unvoiced sounds
	fft    *dsp.FFT

	sum, track, order []float64 // scratch
	block             []float64 // of lineFrames
	power, bins       []float64 // of its spectrum
}

func newJoints() *joints {
	const n = lineFrames/2 + 1
	return &joints{fft: dsp.NewFFT(lineFrames), block: make([]float64, lineFrames), power: make([]float64, n), bins: make([]float64, n)}
}

// measure measures x, whose residual and F0 are given.
func (j *joints) measure(x, residual, f0 []float64) {
	n := frameCount(len(x), repeatHop, repeatFrame)
	j.active.reset(n)
	j.repeat = sized(j.repeat, n)
	for t := range n {
		frame := x[t*repeatHop : min(t*repeatHop+repeatFrame, len(x))]
		j.active.power[t] = dsp.Dot(frame, frame)
	}
	j.active.decide()
	j.signs(residual)
	for t, on := range j.active.on {
		j.repeat[t] = math.NaN()
		at := t * repeatHop
		if on && at+repeatTo+repeatFrame <= len(x) && !voicedAt(f0, at) && !voicedAt(f0, at+repeatFrame/2) && !voicedAt(f0, at+repeatFrame) {
			j.repeat[t] = j.alike(t)
		}
	}
}

// signs sets sign, with words behind the end for what is shifted in.
func (j *joints) signs(residual []float64) {
	j.sign = sized(j.sign, len(residual)/64+repeatReach+1)
	for w := range j.sign {
		var word uint64
		part := residual[min(64*w, len(residual)):min(64*w+64, len(residual))]
		for _, r := range part {
			word = word>>1 | math.Float64bits(r)&(1<<63)
		}
		j.sign[w] = word >> (64 - len(part))
	}
}

// alike is how like frame t is to the most alike of those repeatFrom to repeatTo samples
// later: Fisher's z of the correlation that two normal processes have whose signs agree as
// often, sin(π/2·(2p − 1)) (Van Vleck and Middleton 1966, The spectrum of clipped noise).
func (j *joints) alike(t int) float64 {
	signs := (*[repeatReach + 1]uint64)(j.sign[t*repeatHop/64:])
	least := repeatFrame // signs that differ
	for shift := range 64 {
		var moved [repeatReach]uint64 // the signs from shift on
		for k := range moved {
			moved[k] = signs[k]>>shift | signs[k+1]<<(64-shift) // a shift by 64 is 0
		}
		for k := repeatFrom / 64; 64*k+shift < repeatTo; k++ {
			differ := bits.OnesCount64(signs[0]^moved[k]) + bits.OnesCount64(signs[1]^moved[k+1]) + bits.OnesCount64(signs[2]^moved[k+2])
			least = min(least, differ)
		}
	}
	r := math.Sin(math.Pi / 2 * (1 - 2*float64(least)/repeatFrame))
	return math.Atanh(min(r, 0.995))
}

// joints fills joint.*: median and 90th percentile of how alike unvoiced sounds are to what
// follows, their difference, and the highest lines of the envelopes above 3 kHz.
func (v *vector) joints(j *joints, e *envelopes) {
	lo, hi := v.frames(len(j.repeat), repeatHop, repeatFrame)
	v.from("joint.repeat_median")
	if x := v.measured(j.repeat[lo:hi]); len(x) >= leastRepeats {
		p90 := dsp.PercentileInPlace(x, 90)
		median := dsp.PercentileInPlace(x, 50)
		v.put(median, p90, p90-median)
	}
	v.from("joint.line1_log")
	lo, hi = v.frames(len(e.voiced), envelopeHop, envelopeFrame)
	if j.lines(e, lo, hi) {
		const width = float64(rateHz) / envelopeHop / lineFrames
		for b := range len(lineBands) - 1 {
			v.put(math.Log(j.highest(int(lineBands[b]/width), int(lineBands[b+1]/width))))
		}
	}
}

// lines sets power to the power spectrum of the deviations of the envelopes from lo to hi
// from their running means, and reports whether there are enough of them. Those of all
// bands are summed: joints come in all at once.
func (j *joints) lines(e *envelopes, lo, hi int) bool {
	n := hi - lo
	if n < leastLine {
		return false
	}
	j.sum = sized(j.sum, n)
	clear(j.sum)
	for _, track := range e.bands.tracks[lineBand:] {
		dsp.Add(j.sum, track[lo:hi])
	}
	if !j.deviations(e.active.on[lo:hi]) {
		return false
	}
	clear(j.power)
	for from := 0; from == 0 || n-from >= leastLine; from += lineFrames {
		part := j.track[from:min(from+lineFrames, n)]
		clear(j.block[copy(j.block, part):])
		j.fade(len(part))
		dsp.Add(j.power, j.fft.Power(j.bins, j.block))
	}
	return true
}

// highest is the highest of the bins of power from lo to hi, over the median of those
// around it. One median serves lineStride bins.
func (j *joints) highest(lo, hi int) float64 {
	var top float64
	for k := lo; k < hi; k += lineStride {
		middle := k + lineStride/2
		j.order = append(j.order[:0], j.power[middle-lineAround:middle+lineAround+1]...)
		top = max(top, slices.Max(j.power[k:min(k+lineStride, hi)])/dsp.PercentileInPlace(j.order, 50))
	}
	return top
}

// fade multiplies the first n values of block by a Hann window.
func (j *joints) fade(n int) {
	for i := range j.block[:n] {
		j.block[i] *= 0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/float64(n))
	}
}

// deviations sets track to the deviations of sum, in the frames that are on, from its
// running mean, in units of their limit and within it; elsewhere to 0. It reports whether
// there are enough frames that deviate.
func (j *joints) deviations(on []bool) bool {
	y := j.sum
	j.track, j.order = sized(j.track, len(y)), j.order[:0]
	var sum float64
	from, to := 0, 0 // of the mean
	for t := range y {
		for ; to < min(t+lineSlow+1, len(y)); to++ {
			sum += y[to]
		}
		for ; from < t-lineSlow; from++ {
			sum -= y[from]
		}
		j.track[t] = 0
		if on[t] {
			j.track[t] = y[t] - sum/float64(to-from)
			j.order = append(j.order, math.Abs(j.track[t]))
		}
	}
	if len(j.order) < leastSound {
		return false
	}
	limit := lineLimit * dsp.PercentileInPlace(j.order, 50)
	for t, d := range j.track {
		j.track[t] = min(max(d/limit, -1), 1)
	}
	return limit > 0
}
