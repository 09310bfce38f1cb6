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
	taps       table    // the coefficients of predictorTaps
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
	r.taps.reset(len(predictorTaps), n)
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
		e.add(x, t*lpcHop, a)
	}
}

// measureFrame returns residualMeasures of the frame that lpc was fitted to.
func (r *residuals) measureFrame() [4]float64 {
	e := r.lpc.Residual(r.error)
	_, m2, m3, m4 := dsp.CentralMoments(e)
	peak := dsp.Peak(e)
	dev := math.Sqrt(m2)
	return [4]float64{
		math.Log(r.lpc.Power() / dsp.Dot(e, e)), math.Log(m4 / (m2 * m2)), math.Abs(m3) / (m2 * dev), math.Log(peak / dev),
	}
}

// residual fills lpc.unvoiced.*, mean and standard deviation of two of residualMeasures
// over the unvoiced frames, and lpc.voiced.*, skewness and log fourth moment of all of them
// over the voiced ones.
func (v *vector) residual(r *residuals, f0 []float64) {
	lo, hi := v.frames(len(r.active.on), lpcHop, lpcFrame)
	v.choose(r, f0, lo, hi, false)
	v.from("lpc.unvoiced.kurtosis_log.mean")
	for _, i := range [...]int{kurtosisMeasure, peakMeasure} {
		v.put(v.enough(r.measures.tracks[i][lo:hi], v.chosen))
	}
	v.choose(r, f0, lo, hi, true)
	for _, track := range r.measures.tracks {
		x := v.where(track[lo:hi], v.chosen)
		if len(x) < leastPairs {
			v.put(math.NaN(), math.NaN())
			continue
		}
		_, m2, m3, m4 := dsp.CentralMoments(x)
		v.put(m3/(m2*math.Sqrt(m2)), math.Log(m4/(m2*m2)))
	}
}

// choose sets v.chosen to which of the frames lo to before hi are active and voiced, or
// active and not.
func (v *vector) choose(r *residuals, f0 []float64, lo, hi int, voiced bool) {
	v.chosen = sized(v.chosen, hi-lo)
	for i := range v.chosen {
		v.chosen[i] = r.active.on[lo+i] && voicedAt(f0, (lo+i)*lpcHop+lpcFrame/2) == voiced
	}
}

// predictor fills lpc.a*: of some coefficients of the predictor x[n] ≈ Σ a[k]·x[n−k]
// mean and standard deviation.
func (v *vector) predictor(r *residuals) {
	lo, hi := v.frames(len(r.active.on), lpcHop, lpcFrame)
	on := r.active.on[lo:hi]
	v.from("lpc.a1.mean")
	for _, track := range r.taps.tracks {
		v.put(v.enough(track[lo:hi], on))
	}
}
