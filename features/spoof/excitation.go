package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	pulseSlack  = 0.3 // of a period: how far the peak of the residual may be from the pulse
	pulseLeast  = 20  // samples of a period, 800 Hz
	pulseMost   = 240 // samples of a period, 67 Hz
	pulseNear   = 1.6 // periods: a pulse further back is not the one before; chosen
	leastPulses = 10  // pulses that a statistic needs; chosen
)

// excitations holds measures of the residual of linear prediction at each glottal
// pulse. The residual of a voice is near to the flow of air through the glottis;
// vocoders replace it.
type excitations struct {
	residual []float64 // of the recording
	taps     []float64 // of the predictor, reversed
	peak     []int     // the sample of the peak at each pulse, −1 if it was not measured
	sign     []float64 // of each peak, NaN if it was not measured
	step     []float64 // |ln| of the power of each peak over that before, NaN if it was not measured
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

// measure measures the residual at the pulses, given in seconds.
func (e *excitations) measure(pulses []float64) {
	n := len(pulses)
	e.peak, e.sign, e.step = sized(e.peak, n), sized(e.sign, n), sized(e.step, n)
	for i := range pulses {
		e.peak[i], e.sign[i], e.step[i] = -1, math.NaN(), math.NaN()
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
	slack := int(pulseSlack * period)
	if near-slack < 0 || near+slack >= len(e.residual) {
		return
	}
	top := dsp.Peak(e.residual[near-slack : near+slack+1])
	if !(top > 0) { // no active frame
		return
	}
	at := near - slack
	for math.Abs(e.residual[at]) < top {
		at++
	}
	e.peak[i], e.sign[i] = at, math.Copysign(1, e.residual[at])
	if i > 0 && e.peak[i-1] >= 0 && float64(at-e.peak[i-1]) <= pulseNear*period {
		e.step[i] = 2 * math.Abs(math.Log(math.Abs(e.residual[at]/e.residual[e.peak[i-1]])))
	}
}

// excitation fills pulse.*. The sign of a peak is the polarity of the microphone:
// of it only counts how far all peaks agree.
func (v *vector) excitation(e *excitations, pulses []float64) {
	a, b := v.pulses(pulses)
	v.from("pulse.polarity")
	if sign := v.measured(e.sign[a:b]); len(sign) >= leastPulses {
		v.put(math.Abs(dsp.Mean(sign)))
	} else {
		v.next++
	}
	if step := v.measured(e.step[a:b]); len(step) >= leastPulses {
		v.put(math.Log(dsp.Mean(step)), math.Log(dsp.PercentileInPlace(step, 50)))
	}
}

// measured returns the values of a track that are not NaN. They are valid until the next
// call.
func (v *vector) measured(track []float64) []float64 {
	v.picked = v.picked[:0]
	for _, value := range track {
		if !math.IsNaN(value) {
			v.picked = append(v.picked, value)
		}
	}
	return v.picked
}
