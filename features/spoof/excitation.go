package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	pulseReach   = 0.5 // of a period: how far a pulse's part of the residual goes to either side
	pulseSlack   = 0.3 // of a period: how far the peak of the residual may be from the pulse
	pulseCore    = 8   // samples to either side of the peak, 0.5 ms, that are its core; chosen
	pulseLeast   = 20  // samples of a period, 800 Hz
	pulseMost    = 240 // samples of a period, 67 Hz
	pulseNear    = 1.6 // periods: a pulse further back is not the one before; chosen
	leastPulses  = 10  // pulses that a statistic needs; chosen
	pulseTracks  = 9
	pulsePolar   = 4 // the track of the sign of the peak
	pulseSuccess = 5 // the first track that needs the pulse before
	pulseStep    = 8 // the track of the steps of the peak
)

// excitations holds measures of the residual of linear prediction round each
// glottal pulse. The residual of a voice is near to the flow of air through the
// glottis; vocoders replace it.
type excitations struct {
	residual []float64 // of the recording
	taps     []float64 // of the predictor, reversed
	tracks   table     // see excitationFeatures; NaN where not measured
	peak     []int     // the sample of the peak of each pulse, −1 if it was not measured
	low, old []float64 // a period and the one before it, smoothed
}

// begin makes room for the residual of n samples, all 0.
func (e *excitations) begin(n int) {
	e.residual = sized(e.residual, n)
	clear(e.residual)
}

// add puts the residual of x by the predictor 1, a[1], … in place, over the hop in
// the middle of the frame that begins at start.
func (e *excitations) add(x []float64, start int, a []float64) {
	from, to := start+(lpcFrame-lpcHop)/2, min(start+(lpcFrame+lpcHop)/2, len(x))
	if start == 0 {
		from = lpcOrder
	}
	if from >= to {
		return
	}
	e.taps = sized(e.taps, len(a))
	for k, v := range a {
		e.taps[lpcOrder-k] = v
	}
	dsp.Correlate(e.residual[from:to], e.taps, x[from-lpcOrder:to])
}

// measure measures the residual round the pulses, given in seconds.
func (e *excitations) measure(pulses []float64) {
	n := len(pulses)
	e.tracks.reset(pulseTracks, n)
	for i := range e.tracks.values {
		e.tracks.values[i] = math.NaN()
	}
	e.peak = sized(e.peak, n)
	for i := range pulses {
		e.peak[i] = -1
		if period := periodAt(pulses, i); period > pulseLeast && period < pulseMost {
			e.pulse(i, int(pulses[i]*rateHz+0.5), period)
		}
	}
}

// periodAt is the time in samples from pulse i to the next, or where that is not a
// period, from the one before.
func periodAt(pulses []float64, i int) float64 {
	var period float64
	if i+1 < len(pulses) {
		period = (pulses[i+1] - pulses[i]) * rateHz
	}
	if i > 0 && !(period > pulseLeast && period < pulseMost) {
		period = (pulses[i] - pulses[i-1]) * rateHz
	}
	return period
}

// pulse measures pulse i, near a sample.
func (e *excitations) pulse(i, near int, period float64) {
	slack, reach := int(pulseSlack*period), int(pulseReach*period)
	if near-slack-reach < 0 || near+slack+reach >= len(e.residual) {
		return
	}
	at := near
	for k := near - slack; k <= near+slack; k++ {
		if math.Abs(e.residual[k]) > math.Abs(e.residual[at]) {
			at = k
		}
	}
	part := e.residual[at-reach : at+reach+1]
	before, after := part[:reach], part[reach+1:]
	core := part[max(reach-pulseCore, 0):min(reach+pulseCore+1, len(part))]
	all, peak := dsp.Dot(part, part), e.residual[at]*e.residual[at]
	if !(all > 0) {
		return
	}
	fourth := fourthPower(part)
	e.peak[i] = at
	b, a := dsp.Dot(before, before), dsp.Dot(after, after)
	for k, v := range [...]float64{
		math.Log(peak / all), dsp.Dot(core, core) / all, (a - b) / (a + b),
		math.Log(fourth * float64(len(part)) / (all * all)), math.Copysign(1, e.residual[at]),
	} {
		e.tracks.tracks[k][i] = v
	}
	if i > 0 && e.peak[i-1] >= reach && float64(at-e.peak[i-1]) <= pulseNear*period {
		e.succession(i, part, e.residual[e.peak[i-1]-reach:e.peak[i-1]+reach+1])
	}
}

// fourthPower is Σ x⁴, in four sums that do not depend on one another.
func fourthPower(x []float64) float64 {
	var s [4]float64
	for ; len(x) >= 4; x = x[4:] {
		for i, v := range (*[4]float64)(x) {
			v *= v
			s[i] += v * v
		}
	}
	for i, v := range x {
		v *= v
		s[i] += v * v
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// succession compares the part of pulse i with that of the pulse before: as they
// are, below 1.4 kHz and above, and the level of the peaks.
func (e *excitations) succession(i int, part, last []float64) {
	reach := len(part) / 2
	e.low, e.old = smooth(e.low, part), smooth(e.old, last)
	t := e.tracks.tracks[pulseSuccess:]
	t[0][i], t[1][i] = cosine(part, last), cosine(e.low, e.old)
	for k := range e.low {
		e.low[k], e.old[k] = part[k]-e.low[k], last[k]-e.old[k]
	}
	t[2][i] = cosine(e.low, e.old)
	t[3][i] = 2 * math.Abs(math.Log(math.Abs(part[reach]/last[reach])))
}

// cosine is Σ xy / √(Σ x² · Σ y²).
func cosine(x, y []float64) float64 {
	return dsp.Dot(x, y) / math.Sqrt(dsp.Dot(x, x)*dsp.Dot(y, y))
}

// smooth is the mean of x over five samples, with zeros beyond the ends: a low pass
// at 1.4 kHz.
func smooth(dst, x []float64) []float64 {
	n := len(x)
	dst = sized(dst, n)
	for k := range min(n, 2) {
		dst[k] = dsp.Sum(x[:min(k+3, n)]) / 5
		dst[n-1-k] = dsp.Sum(x[max(n-3-k, 0):]) / 5
	}
	for k := 2; k+2 < n; k++ {
		v := (*[5]float64)(x[k-2:])
		dst[k] = (v[0] + v[1] + v[2] + v[3] + v[4]) / 5
	}
	return dst
}

// excitation fills pulse.*. The sign of a peak is the polarity of the microphone:
// of it only counts how far all peaks agree.
func (v *vector) excitation(e *excitations, pulses []float64) {
	v.from("pulse.peak_log.mean")
	for k, track := range e.tracks.tracks {
		v.steps = v.steps[:0]
		for i, value := range track {
			if at := pulses[i] * rateHz; at >= float64(v.lo) && at < float64(v.hi) && !math.IsNaN(value) {
				v.steps = append(v.steps, value)
			}
		}
		a, b := math.NaN(), math.NaN()
		switch few := len(v.steps) < leastPulses; {
		case few:
		case k == pulseStep:
			a, b = math.Log(dsp.Mean(v.steps)), math.Log(dsp.PercentileInPlace(v.steps, 50))
		default:
			a, b = meanSD(v.steps)
		}
		if k == pulsePolar {
			v.put(math.Abs(a))
		} else {
			v.put(a, b)
		}
	}
}
