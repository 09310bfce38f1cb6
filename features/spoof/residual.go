package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	lpcOrder = 18  // two more than the rate in kHz: four formants a voice has below 8 kHz twice over
	lpcFrame = 480 // samples, 30 ms
	lpcHop   = 240
	// lpcNoise is the white-noise correction: r[0] is raised by 33 dB less.
	lpcNoise = 1.0005

	kurtosisMeasure, peakMeasure = 1, 3 // of residualMeasures
)

// residual fills lpc.*: mean and standard deviation over the active frames of
// what residualMeasures lists: the log prediction gain, and of the residual at
// unit variance the log fourth moment, the magnitude of the skewness and the
// log peak. The sign of the skewness is the polarity of the microphone.
func (v *vector) residual(r *residuals, f0 []float64) {
	lo, hi := v.frames(len(r.on), lpcHop, lpcFrame)
	v.from("lpc.gain_log.mean")
	for _, x := range r.tracks {
		v.put(dsp.Mean(where(x[lo:hi], r.on[lo:hi])))
	}
	for _, x := range r.tracks {
		v.put(dsp.SD(where(x[lo:hi], r.on[lo:hi])))
	}
	unvoiced := make([]bool, hi-lo)
	for i := range unvoiced {
		unvoiced[i] = r.on[lo+i] && !voicedAt(f0, (lo+i)*lpcHop+lpcFrame/2)
	}
	for _, i := range []int{kurtosisMeasure, peakMeasure} {
		v.put(enough(r.tracks[i][lo:hi], unvoiced))
	}
}

// residuals holds residualMeasures along a recording.
type residuals struct {
	tracks [][]float64
	on     []bool // whether the frame was measured
}

// newResiduals measures the active frames of x.
func newResiduals(x []float64) *residuals {
	window := dsp.PeriodicHann(lpcFrame)
	n := frameCount(x, lpcHop, lpcFrame)
	padded := make([]float64, lpcFrame+lpcOrder) // zeros follow the frame
	frame, res := padded[:lpcFrame], make([]float64, lpcFrame-lpcOrder)
	power := make([]float64, n)
	for t := range power {
		windowed(frame, x, t*lpcHop, window)
		power[t] = dsp.Dot(frame, frame)
	}
	out := &residuals{tracks: newTracks(len(residualMeasures), n), on: active(power)}
	var r [lpcOrder + 1]float64
	for t := range n {
		if !out.on[t] {
			continue
		}
		windowed(padded, x, t*lpcHop, window)
		dsp.Correlate(r[:], frame, padded)
		r[0] *= lpcNoise
		a, ok := levinson(r)
		if !ok {
			out.on[t] = false
			continue
		}
		for i, v := range residualOf(res, frame, a, power[t]) {
			out.tracks[i][t] = v
		}
	}
	return out
}

// levinson solves for the predictor x[n] ≈ Σ a[k]·x[n−1−k] of the
// autocorrelation r by the Levinson-Durbin recursion (Makhoul 1975). It is not
// ok if r is not that of a signal with power.
func levinson(r [lpcOrder + 1]float64) (a [lpcOrder]float64, ok bool) {
	e := r[0]
	for i := range lpcOrder {
		if !(e > 0) {
			return a, false
		}
		k := r[i+1]
		for j := range i {
			k -= a[j] * r[i-j]
		}
		k /= e
		next := a
		next[i] = k
		for j := range i {
			next[j] = a[j] - k*a[i-1-j]
		}
		a = next
		e *= 1 - k*k
	}
	return a, true
}

// residualOf measures the residual of one windowed frame, for which res is
// scratch.
func residualOf(res, frame []float64, a [lpcOrder]float64, power float64) [4]float64 {
	var taps [lpcOrder + 1]float64 // by ascending time
	taps[lpcOrder] = 1
	for k, c := range a {
		taps[lpcOrder-1-k] = -c
	}
	dsp.Correlate(res, taps[:], frame)
	var s2, s3, s4, peak float64
	m := dsp.Mean(res)
	for _, e := range res {
		d := e - m
		s2 += d * d
		s3 += d * d * d
		s4 += d * d * d * d
		peak = max(peak, math.Abs(e))
	}
	n := float64(len(res))
	dev := math.Sqrt(s2 / n)
	return [4]float64{math.Log(power / dsp.Dot(res, res)), math.Log(s4 / n / (dev * dev * dev * dev)), math.Abs(s3) / n / (dev * dev * dev), math.Log(peak / dev)}
}
