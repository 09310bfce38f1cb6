package egemaps

import (
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
)

// numMFCC is the number of cepstral coefficients of the set, from 1 on.
const numMFCC = 4

// A Measurer measures the set in one recording after another and keeps its memory
// from one to the next. It is not safe for concurrent use.
type Measurer struct {
	tracks    [trackCount][]float64
	periods   []period
	rate      int     // Hz, of mfcc, frame and flux
	offset    float64 // mean of the recording at that rate
	mfcc      *dsp.MFCC
	cepstrum  []float64
	frame     []float64
	flux      *flux
	harmonics *harmonics
	smoothed  []float64 // of the latest collect, before and after smoothing
	part      []float64 // what it returned
	sorted    []float64 // scratch of percentiles
	values    []float64
}

// NewMeasurer returns a Measurer.
func NewMeasurer() *Measurer {
	return &Measurer{cepstrum: make([]float64, numMFCC+1), harmonics: newHarmonics()}
}

// prepare prepares for a recording.
func (m *Measurer) prepare(in *features.Recording) {
	rate := in.NativeRate
	if m.rate != rate {
		m.rate = rate
		m.mfcc = dsp.NewMFCC(float64(rate), &dsp.MFCCOptions{
			Coefficients: numMFCC + 1, Low: 20, Frame: shortFrame, PreEmphasis: -1,
		})
		m.frame = make([]float64, m.mfcc.FrameLen())
		m.flux = newFlux(len(m.frame), rate)
	}
	m.flux.reset()
	m.offset = meanOfFinite(in.Native)
	m.periods = periodsOf(m.periods, in.Samples, in.Analysis.Pulses)
	for k := range m.tracks {
		m.tracks[k] = sized(m.tracks[k], len(in.Analysis.F0))
	}
}

// meanOfFinite is the mean of the finite values of x, 0 if there are none.
func meanOfFinite(x []float64) float64 {
	var s float64
	n := 0
	for _, v := range x {
		if dsp.Finite(v) {
			s, n = s+v, n+1
		}
	}
	return s / float64(max(n, 1))
}

// Measure computes the set of a recording that a [features.Measurer] has measured; it
// reads Analysis, Samples, Native and NativeRate. A functional that is undefined for the
// recording is NaN, never 0: those of voiced frames without voice, those of unvoiced
// frames in a sustained vowel. A sample that is NaN or infinite leaves the frames that
// hold it out. The vector shares no memory with in or the Measurer, and in is not
// changed.
func (m *Measurer) Measure(in *features.Recording) features.Vector {
	m.describe(in)
	m.values = make([]float64, 0, schema.Len())
	f0 := in.Analysis.F0
	voiced := func(i int) bool { return f0[i] > 0 }
	unvoiced := func(i int) bool { return !(f0[i] > 0) }

	m.distribution(trackF0)
	m.distribution(trackLoudness)
	for k := trackFlux; k < trackAlpha; k++ {
		m.moments(k, nil)
	}
	for _, k := range []int{trackAlpha, trackHammarberg, trackSlope500, trackSlope1500, trackFlux, trackMFCC, trackMFCC + 1, trackMFCC + 2, trackMFCC + 3} {
		m.moments(k, voiced)
	}
	for _, k := range []int{trackAlpha, trackHammarberg, trackSlope500, trackSlope1500, trackFlux} {
		mean, _ := meanVariation(m.collect(k, unvoiced))
		m.add(mean)
	}
	m.rhythm(in)
	return features.Vector{Schema: schema, Values: m.values}
}

// add appends functionals; an infinite one is undefined.
func (m *Measurer) add(values ...float64) {
	for _, v := range values {
		if !dsp.Finite(v) {
			v = math.NaN()
		}
		m.values = append(m.values, v)
	}
}

// collect returns the defined values of track k, smoothed, in the frames for which
// keep holds; nil keeps all. The track is not smoothed across the limits of keep.
// The result is valid until the next call.
func (m *Measurer) collect(k int, keep func(i int) bool) []float64 {
	m.smoothed = sized(m.smoothed, 2*len(m.tracks[k]))
	x, y := m.smoothed[:len(m.tracks[k])], m.smoothed[len(m.tracks[k]):]
	for i, v := range m.tracks[k] {
		if keep != nil && !keep(i) || !dsp.Finite(v) {
			v = math.NaN()
		}
		x[i] = v
	}
	smooth(y, x)
	m.part = defined(m.part, y)
	return m.part
}

// moments adds mean and coefficient of variation of a track.
func (m *Measurer) moments(k int, keep func(i int) bool) {
	m.add(meanVariation(m.collect(k, keep)))
}

// distribution adds the ten functionals of F0 and loudness.
func (m *Measurer) distribution(k int) {
	x := m.collect(k, nil)
	m.add(meanVariation(x))
	y := m.sort(x)
	p20, p50, p80 := dsp.PercentileSorted(y, 20), dsp.PercentileSorted(y, 50), dsp.PercentileSorted(y, 80)
	m.add(p20, p50, p80, p80-p20)
	m.add(slopes(x, m.extrema(x)))
}

// sort returns the values of x in ascending order; they are valid until the next call.
func (m *Measurer) sort(x []float64) []float64 {
	m.sorted = append(m.sorted[:0], x...)
	slices.Sort(m.sorted)
	return m.sorted
}

// extrema lists the extrema of x that stand out.
func (m *Measurer) extrema(x []float64) []turn {
	y := m.sort(x)
	return turns(x, prominence*(dsp.PercentileSorted(y, 95)-dsp.PercentileSorted(y, 5)))
}

// rhythm adds the temporal functionals and the sound level.
func (m *Measurer) rhythm(in *features.Recording) {
	a := in.Analysis
	x := m.collect(trackLoudness, nil)
	peaks := 0
	for _, e := range m.extrema(x) {
		if e.isTop && e.at > 0 && e.at < len(x)-1 {
			peaks++
		}
	}
	m.add(float64(peaks) / a.Duration)
	voiced := runs(a.F0, true)
	m.add(float64(len(voiced)) / a.Duration)
	m.add(meanSD(voiced))
	m.add(meanSD(runs(a.F0, false)))
	_, square, _, _ := dsp.CentralMoments(dsp.Bounded(nil, in.Native))
	m.add(10 * math.Log10(square)) // the equivalent continuous sound level in dBFS
}
