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
	now, old []float64 // a period and the one before it, filtered
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
	at := near // where the residual is 0
	if top := dsp.Peak(e.residual[near-slack : near+slack+1]); top > 0 {
		for at = near - slack; math.Abs(e.residual[at]) < top; {
			at++
		}
	}
	part := e.residual[at-reach : at+reach+1]
	before, after := part[:reach], part[reach+1:]
	core := part[max(reach-pulseCore, 0):min(reach+pulseCore+1, len(part))]
	all, peak := dsp.Dot(part, part), e.residual[at]*e.residual[at]
	if !(all > 0) {
		return
	}
	e.now = sized(e.now, len(part))
	squares := dsp.Multiply(e.now, part, part)
	fourth := dsp.Dot(squares, squares)
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

// succession compares the part of pulse i with that of the pulse before: as they
// are, below 1.4 kHz and above, and the level of the peaks.
func (e *excitations) succession(i int, part, last []float64) {
	reach := len(part) / 2
	t := e.tracks.tracks[pulseSuccess:]
	t[0][i] = cosine(part, last)
	for k, taps := range [...]*[5]float64{&lowTaps, &highTaps} {
		e.now, e.old = filtered(e.now, part, taps), filtered(e.old, last, taps)
		t[1+k][i] = cosine(e.now, e.old)
	}
	t[3][i] = 2 * math.Abs(math.Log(math.Abs(part[reach]/last[reach])))
}

// cosine is Σ xy / √(Σ x² · Σ y²).
func cosine(x, y []float64) float64 {
	return dsp.Dot(x, y) / math.Sqrt(dsp.Dot(x, x)*dsp.Dot(y, y))
}

// The filters of five samples whose output is below 1.4 kHz, and the rest.
var (
	lowTaps  = [...]float64{0.2, 0.2, 0.2, 0.2, 0.2}
	highTaps = [...]float64{-0.2, -0.2, 0.8, -0.2, -0.2}
)

// filtered is x, of at least five samples, through a filter centred on each, with zeros
// beyond the ends.
func filtered(dst, x []float64, taps *[5]float64) []float64 {
	n := len(x)
	dst = sized(dst, n)
	dsp.Correlate(dst[2:n-2], taps[:], x)
	for _, k := range [...]int{0, 1, n - 2, n - 1} {
		dst[k] = 0
		for j, w := range taps {
			if i := k + j - 2; i >= 0 && i < n {
				dst[k] += w * x[i]
			}
		}
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
