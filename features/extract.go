package features

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// Extract computes the features of schema voice/1. A feature that is
// undefined for the recording is NaN, never 0. The vector shares no memory
// with a.
//
// "Speech frames" are the frames with IsSpeech, "voiced frames" those with
// F0 > 0. A standard deviation is the sample's (divisor n − 1) and needs two
// values. A percentile interpolates linearly between order statistics. Values
// that are NaN or infinite are left out of every statistic.
//
//   - speech.*, articulation.*, pause.*, loudness.*: see timing
//   - f0.*, voiced.ratio: see pitch
//   - jitter.*, shimmer.*, cpps.db, quality.*: as [dsp.Analysis] has them
//   - hnr.*: mean and standard deviation over the voiced frames
//   - formant.*: median and standard deviation over the frames that have it
//   - vowel.space: see vowelSpace
//   - level.*: mean, standard deviation and 95th minus 5th percentile of the
//     frame levels over the speech frames
//   - spectral.centroid_hz, rolloff85_hz, flux, flatness: mean over the speech
//     frames
//   - spectral.slope_0_500, slope_500_1500, alpha_db, hammarberg_db: mean over
//     the voiced frames, as the "V" functionals of GeMAPS (Eyben et al. 2016)
//   - mfcc.*: mean and standard deviation over the speech frames, and the
//     standard deviation of the delta there; see [dsp.Deltas]
func Extract(a *dsp.Analysis) Vector {
	e := extraction{a: a, values: make([]float64, voiceSchema.Len()), x: make([]float64, 0, len(a.F0))}
	for i := range e.values {
		e.values[i] = math.NaN()
	}
	e.timing()
	e.loudness()
	e.pitch()
	e.voiceQuality()
	e.formants()
	e.level()
	e.spectrum()
	e.mfcc()
	e.set("quality.snr_db", a.Quality.SNR)
	e.set("quality.clipped_ratio", a.Quality.Clipped)
	e.set("quality.bandwidth_hz", a.Quality.Bandwidth)
	return Vector{Schema: voiceSchema, Values: e.values}
}

// extraction fills one vector.
type extraction struct {
	a      *dsp.Analysis
	values []float64
	x      []float64 // what the latest collect returned
}

// set stores a feature; an infinite value is undefined.
func (e *extraction) set(name string, v float64) {
	if !dsp.Finite(v) {
		v = math.NaN()
	}
	i := voiceSchema.Index(name)
	if i < 0 {
		panic("features: no feature " + name)
	}
	e.values[i] = v
}

// collect returns the finite values of get over the frames for which keep
// holds. They are valid until the next call.
func (e *extraction) collect(keep func(i int) bool, get func(i int) float64) []float64 {
	e.x = e.x[:0]
	for i := range e.a.F0 {
		if !keep(i) {
			continue
		}
		if v := get(i); dsp.Finite(v) {
			e.x = append(e.x, v)
		}
	}
	return e.x
}

func (e *extraction) voiced(i int) bool { return e.a.F0[i] > 0 }
func (e *extraction) speech(i int) bool { return e.a.IsSpeech[i] }

// voiceQuality copies the perturbation measures and summarises the HNR track.
func (e *extraction) voiceQuality() {
	j, s := e.a.Jitter, e.a.Shimmer
	e.set("jitter.local", j.Local)
	e.set("jitter.abs_s", j.Absolute)
	e.set("jitter.rap", j.RAP)
	e.set("jitter.ppq5", j.PPQ5)
	e.set("jitter.ddp", j.DDP)
	e.set("shimmer.local", s.Local)
	e.set("shimmer.local_db", s.LocalDB)
	e.set("shimmer.apq3", s.APQ3)
	e.set("shimmer.apq5", s.APQ5)
	e.set("shimmer.apq11", s.APQ11)
	hnr := e.collect(e.voiced, func(i int) float64 { return e.a.HNR[i] })
	e.set("hnr.mean_db", dsp.Mean(hnr))
	e.set("hnr.sd_db", dsp.SD(hnr))
	e.set("cpps.db", e.a.CPPS)
}

// level summarises the frame levels of speech. Digital silence (-Inf) is left
// out.
func (e *extraction) level() {
	l := e.collect(e.speech, func(i int) float64 { return e.a.Level[i] })
	e.set("level.mean_dbfs", dsp.Mean(l))
	e.set("level.sd_db", dsp.SD(l))
	e.set("level.range_db", dsp.PercentileInPlace(l, 95)-dsp.PercentileInPlace(l, 5))
}

// spectrum takes the means of the spectral measures.
func (e *extraction) spectrum() {
	s := e.a.Spectrum
	for _, f := range []struct {
		name string
		keep func(int) bool
		get  func(int) float64
	}{
		{"spectral.centroid_hz", e.speech, func(i int) float64 { return s[i].Centroid }},
		{"spectral.rolloff85_hz", e.speech, func(i int) float64 { return s[i].Rolloff85 }},
		{"spectral.flux", e.speech, func(i int) float64 { return s[i].Flux }},
		{"spectral.flatness", e.speech, func(i int) float64 { return s[i].Flatness }},
		{"spectral.slope_0_500", e.voiced, func(i int) float64 { return s[i].Slope500 }},
		{"spectral.slope_500_1500", e.voiced, func(i int) float64 { return s[i].Slope1500 }},
		{"spectral.alpha_db", e.voiced, func(i int) float64 { return s[i].Alpha }},
		{"spectral.hammarberg_db", e.voiced, func(i int) float64 { return s[i].Hammarberg }},
	} {
		e.set(f.name, dsp.Mean(e.collect(f.keep, f.get)))
	}
}

// deltaWindow is the half-width Θ of the regression in [dsp.Deltas]: the default of
// HTK's DELTAWINDOW.
const deltaWindow = 2

// mfccNames holds the names of the statistics of each coefficient, so that
// they are built once.
var mfccNames = func() (n [dsp.NumMFCC][3]string) {
	for k, f := range mfccFeatures() {
		n[k/3+1][k%3] = f[0]
	}
	return n
}()

// mfcc summarises the coefficients 1 to 12; c0 is left out: it is the level.
func (e *extraction) mfcc() {
	n := len(e.a.MFCC)
	both := make([]float64, 2*n)
	c, d := both[:n:n], both[n:]
	for k := 1; k < dsp.NumMFCC; k++ {
		for t := range c {
			c[t] = e.a.MFCC[t][k]
		}
		dsp.Deltas(d, c, deltaWindow)
		v := e.collect(e.speech, func(i int) float64 { return c[i] })
		e.set(mfccNames[k][0], dsp.Mean(v))
		e.set(mfccNames[k][1], dsp.SD(v))
		e.set(mfccNames[k][2], dsp.SD(e.collect(e.speech, func(i int) float64 { return d[i] })))
	}
}
