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

// residuals holds residualMeasures along a recording.
type residuals struct {
	lpc        *dsp.LPC
	window     []float64
	pad, frame []float64
	error      []float64 // the residual of a frame
	measures   table
	taps       table    // the coefficients of predictorTaps, then the skewness
	skew       float64  // of the residual of the latest frame
	active     activity // on says whether the frame was measured
}

func newResiduals() *residuals {
	window := dsp.PeriodicHann(lpcFrame)
	return &residuals{
		lpc: dsp.NewLPC(window, lpcOrder, lpcNoise), window: window,
		pad: make([]float64, lpcFrame), frame: make([]float64, lpcFrame), error: make([]float64, lpcFrame-lpcOrder),
	}
}

// measure measures the active frames of x, and gives their residual to e.
func (r *residuals) measure(x []float64, e *excitations) {
	n := frameCount(len(x), lpcHop, lpcFrame)
	r.measures.reset(len(residualMeasures), n)
	r.taps.reset(len(predictorTaps)+1, n)
	r.active.reset(n)
	e.begin(len(x))
	for t := range n {
		dsp.Multiply(r.frame, dsp.FrameAt(r.pad, x, t*lpcHop), r.window)
		r.active.power[t] = dsp.Dot(r.frame, r.frame)
	}
	r.active.decide()
	for t, on := range r.active.on {
		if !on {
			continue
		}
		if !r.lpc.Fit(dsp.FrameAt(r.pad, x, t*lpcHop)) {
			r.active.on[t] = false
			continue
		}
		for i, v := range r.measureFrame() {
			r.measures.tracks[i][t] = v
		}
		a := r.lpc.Coefficients()
		for i, k := range predictorTaps {
			r.taps.tracks[i][t] = -a[k]
		}
		r.taps.tracks[len(predictorTaps)][t] = r.skew
		e.add(x, t*lpcHop, a)
	}
}

// measureFrame returns residualMeasures of the frame that lpc was fitted to.
func (r *residuals) measureFrame() [4]float64 {
	e := r.lpc.Residual(r.error)
	_, m2, m3, m4 := dsp.CentralMoments(e)
	peak := dsp.Peak(e)
	dev := math.Sqrt(m2)
	r.skew = m3 / (m2 * dev)
	return [4]float64{
		math.Log(r.lpc.Power() / dsp.Dot(e, e)), math.Log(m4 / (m2 * m2)), math.Abs(m3) / (m2 * dev), math.Log(peak / dev),
	}
}

// residual fills lpc.*: mean and standard deviation over the active frames of
// what residualMeasures lists: the log prediction gain, and of the residual at
// unit variance the log fourth moment, the magnitude of the skewness and the
// log peak. The sign of the skewness is the polarity of the microphone.
func (v *vector) residual(r *residuals, f0 []float64) {
	lo, hi := v.frames(len(r.active.on), lpcHop, lpcFrame)
	on := r.active.on[lo:hi]
	v.from("lpc.gain_log.mean")
	for _, x := range r.measures.tracks {
		mean, _ := meanSD(v.where(x[lo:hi], on))
		v.put(mean)
	}
	for _, x := range r.measures.tracks {
		v.put(deviation(v.where(x[lo:hi], on)))
	}
	v.unvoiced = sized(v.unvoiced, hi-lo)
	for i := range v.unvoiced {
		v.unvoiced[i] = on[i] && !voicedAt(f0, (lo+i)*lpcHop+lpcFrame/2)
	}
	for _, i := range [...]int{kurtosisMeasure, peakMeasure} {
		v.put(v.enough(r.measures.tracks[i][lo:hi], v.unvoiced))
	}
}

// predictor fills lpc.skew_* and lpc.a*: of the skewness of the residual the
// magnitude of the mean, since its sign is the polarity of the microphone, and the
// standard deviation; of some coefficients of the predictor x[n] ≈ Σ a[k]·x[n−k]
// mean and standard deviation.
func (v *vector) predictor(r *residuals) {
	lo, hi := v.frames(len(r.active.on), lpcHop, lpcFrame)
	on := r.active.on[lo:hi]
	v.from("lpc.skew_mean_abs")
	mean, dev := v.enough(r.taps.tracks[len(predictorTaps)][lo:hi], on)
	v.put(math.Abs(mean), dev)
	for _, track := range r.taps.tracks[:len(predictorTaps)] {
		v.put(v.enough(track[lo:hi], on))
	}
}
