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
//   - speech.*, articulation.*, pause.*: see timing; loudness.*: see rhythm
//   - f0.*, voiced.ratio: see pitch
//   - jitter.*, shimmer.*, cpps.db, quality.*: as [dsp.Analysis] has them
//   - hnr.*: mean and standard deviation over the voiced frames
//   - formant.*: median and standard deviation over the frames that have it
//   - vowel.space: see vowels.space
//   - level.*: mean, standard deviation and 95th minus 5th percentile of the
//     frame levels over the speech frames
//   - spectral.centroid_hz, rolloff85_hz, flux, flatness: mean over the speech
//     frames
//   - spectral.slope_0_500, slope_500_1500, alpha_db, hammarberg_db: mean over
//     the voiced frames, as the "V" functionals of GeMAPS (Eyben et al. 2016)
//   - mfcc.*: mean and standard deviation over the speech frames, and the
//     standard deviation of the delta there (HTK's regression over two frames on either
//     side)
func Extract(a *dsp.Analysis) Vector {
	var e extraction
	e.begin(a)
	var f dsp.Frame
	for i := range a.F0 {
		f = dsp.Frame{Level: a.Level[i], Loudness: a.Loudness[i], Spectrum: a.Spectrum[i], MFCC: a.MFCC[i]}
		e.frame(i, &f)
		e.harmonics(i, a.HNR[i])
		e.resonances(i, &a.Formants[i])
	}
	return e.vector()
}

// An extraction fills one vector: begin, then of each frame in order frame, harmonics and
// resonances, then vector.
type extraction struct {
	a      *dsp.Analysis
	values []float64
	x      []float64 // what the latest collect returned, in the memory of level

	level    []float64    // of the speech frames, until levels
	loudness []float64    // of all frames
	formant  [3][]float64 // F1 to F3 of the frames that have it
	vowels   vowels
	hnr      moments
	spectral [len(spectralMeans)]moments
	cepstrum [dsp.NumMFCC]moments
	delta    [dsp.NumMFCC]moments
	ring     [deltaRing][dsp.NumMFCC]float64 // cepstra of the latest frames
	deltas   int                             // frames whose deltas are taken
}

// begin starts with a, whose F0, IsSpeech, Speech and Pauses are known.
func (e *extraction) begin(a *dsp.Analysis) {
	*e = extraction{a: a, values: make([]float64, voiceSchema.Len()), level: e.level, loudness: e.loudness, formant: e.formant}
	for i := range e.values {
		e.values[i] = math.NaN()
	}
	e.loudness = emptied(e.loudness, len(a.F0))
	voiced := 0
	for i := range a.F0 {
		if e.voiced(i) {
			voiced++
		}
	}
	for k := range e.formant {
		e.formant[k] = emptied(e.formant[k], voiced)
	}
	e.level = emptied(e.level, len(a.F0))
}

// vector returns the features. It needs the rest of the analysis.
func (e *extraction) vector() Vector {
	e.levels()
	e.timing()
	e.rhythm()
	e.pitch()
	e.voiceQuality()
	e.formants()
	e.spectrum()
	e.mfcc()
	q := e.a.Quality
	e.set("quality.snr_db", q.SNR)
	e.set("quality.clipped_ratio", q.Clipped)
	e.set("quality.bandwidth_hz", q.Bandwidth)
	return Vector{Schema: voiceSchema, Values: e.values}
}

// release lets memory go that a long recording needed, so that a worker does not keep it.
func (e *extraction) release() {
	e.a = nil
	if cap(e.level) > keptFrames {
		e.x, e.level, e.loudness, e.formant = nil, nil, nil, [3][]float64{}
	}
}

// keptFrames is the length in frames, five minutes, up to which memory is kept for the
// next recording. Chosen: 5 MB.
const keptFrames = 5 * 60 * framesPerSecond

// emptied returns x without values and with room for n, in its memory if that is large
// enough. Unlike slices.Grow it does not touch memory that is not used.
func emptied(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, 0, n)
	}
	return x[:0]
}

// moments takes the mean and the standard deviation of finite values, by Welford's
// running moments. The zero value is ready for use.
type moments struct{ n, sum, mean, m2 float64 }

func (m *moments) add(v float64) {
	if !dsp.Finite(v) {
		return
	}
	m.n++
	m.sum += v
	d := v - m.mean
	m.mean += d / m.n
	m.m2 += d * (v - m.mean)
}

// average is NaN of no values.
func (m *moments) average() float64 { return m.sum / m.n }

// sd is the sample standard deviation, NaN for fewer than two values.
func (m *moments) sd() float64 {
	if m.n < 2 {
		return math.NaN()
	}
	return math.Sqrt(m.m2 / (m.n - 1))
}

// wants returns whether a feature depends on the spectrum or the cepstrum of frame i: on
// those of the voiced and the speech frames, of the frame before for the flux, and of the
// deltaWindow frames on either side for the deltas.
func (e *extraction) wants(i int) bool {
	for k := max(i-deltaWindow, 0); k <= min(i+deltaWindow, len(e.a.F0)-1); k++ {
		if e.speech(k) || e.voiced(k) {
			return true
		}
	}
	return false
}

// frame takes the measures of frame i.
func (e *extraction) frame(i int, f *dsp.Frame) {
	e.loudness = append(e.loudness, f.Loudness)
	if e.speech(i) && dsp.Finite(f.Level) {
		e.level = append(e.level, f.Level)
	}
	for k, m := range &spectralMeans {
		if m.voiced && e.voiced(i) || !m.voiced && e.speech(i) {
			e.spectral[k].add(m.get(&f.Spectrum))
		}
	}
	if e.speech(i) {
		for k := 1; k < dsp.NumMFCC; k++ {
			e.cepstrum[k].add(f.MFCC[k])
		}
	}
	e.ring[i%deltaRing] = f.MFCC
	last := len(e.a.F0) - 1
	for ; e.deltas+deltaWindow <= i || i == last && e.deltas <= last; e.deltas++ {
		if e.speech(e.deltas) {
			e.addDeltas(e.deltas, last)
		}
	}
}

// addDeltas takes the deltas of frame t of a recording whose last frame is given, by the
// regression of HTK (Young et al., The HTK Book, version 3.4, eq. 5.16),
//
//	d[t] = Σθ θ·(c[t+θ] − c[t−θ]) / 2·Σθ θ²,  θ = 1 … deltaWindow,
//
// with the first and the last value of c repeated beyond its ends.
func (e *extraction) addDeltas(t, last int) {
	const den = 2 * (1*1 + 2*2)
	p1, m1 := &e.ring[min(t+1, last)%deltaRing], &e.ring[max(t-1, 0)%deltaRing]
	p2, m2 := &e.ring[min(t+2, last)%deltaRing], &e.ring[max(t-2, 0)%deltaRing]
	for k := 1; k < dsp.NumMFCC; k++ {
		e.delta[k].add(((p1[k] - m1[k]) + 2*(p2[k]-m2[k])) / den)
	}
}

// harmonics takes the harmonics-to-noise ratio of frame i.
func (e *extraction) harmonics(i int, db float64) {
	if e.voiced(i) {
		e.hnr.add(db)
	}
}

// resonances takes the formants of a frame.
func (e *extraction) resonances(_ int, f *dsp.Formants) {
	for k, v := range f.F {
		if dsp.Finite(v) {
			e.formant[k] = append(e.formant[k], v)
		}
	}
	e.vowels.add(f)
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
	e.set("hnr.mean_db", e.hnr.average())
	e.set("hnr.sd_db", e.hnr.sd())
	e.set("cpps.db", e.a.CPPS)
}

// levels summarises the frame levels of speech. Digital silence (-Inf) is left
// out.
func (e *extraction) levels() {
	l := e.level
	e.set("level.mean_dbfs", dsp.Mean(l))
	e.set("level.sd_db", dsp.SD(l))
	e.set("level.range_db", dsp.PercentileInPlace(l, 95)-dsp.PercentileInPlace(l, 5))
	e.x = l // is scratch from now on
}

// spectralMeans are the spectral measures whose means are features, over the voiced or
// the speech frames.
var spectralMeans = [...]struct {
	name   string
	voiced bool
	get    func(*dsp.Spectrum) float64
}{
	{"spectral.centroid_hz", false, func(s *dsp.Spectrum) float64 { return s.Centroid }},
	{"spectral.rolloff85_hz", false, func(s *dsp.Spectrum) float64 { return s.Rolloff85 }},
	{"spectral.flux", false, func(s *dsp.Spectrum) float64 { return s.Flux }},
	{"spectral.flatness", false, func(s *dsp.Spectrum) float64 { return s.Flatness }},
	{"spectral.slope_0_500", true, func(s *dsp.Spectrum) float64 { return s.Slope500 }},
	{"spectral.slope_500_1500", true, func(s *dsp.Spectrum) float64 { return s.Slope1500 }},
	{"spectral.alpha_db", true, func(s *dsp.Spectrum) float64 { return s.Alpha }},
	{"spectral.hammarberg_db", true, func(s *dsp.Spectrum) float64 { return s.Hammarberg }},
}

// spectrum takes the means of the spectral measures.
func (e *extraction) spectrum() {
	for k := range spectralMeans {
		e.set(spectralMeans[k].name, e.spectral[k].average())
	}
}

// deltaWindow is the half-width of the regression in addDeltas: the default of
// HTK's DELTAWINDOW. deltaRing is how many frames it spans.
const (
	deltaWindow = 2
	deltaRing   = 2*deltaWindow + 1
)

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
	for k := 1; k < dsp.NumMFCC; k++ {
		e.set(mfccNames[k][0], e.cepstrum[k].average())
		e.set(mfccNames[k][1], e.cepstrum[k].sd())
		e.set(mfccNames[k][2], e.delta[k].sd())
	}
}
