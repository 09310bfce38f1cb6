package dsp

import "math"

// hopSamples is the number of samples from one frame to the next; Hop is a
// whole number of samples at SampleRate.
const hopSamples = SampleRate / 100

// An Analyzer measures recordings. It owns all scratch memory and the [Analysis] it
// returns. That memory grows with the longest recording so far; a call that needs no
// more of it allocates nothing.
//
// Use [NewAnalyzer]: the zero value panics. An Analyzer is not safe for concurrent
// use.
type Analyzer struct {
	out      Analysis
	spectral *Spectral
	pitch    *Pitch
	pulses   *Pulses
	hnr      *HNR
	cpps     *CPPS
	formants *FormantTracker
	activity *activity
	smooth   []float64 // scratch of the bandwidth
	clean    []float64 // a copy of the samples with those replaced that are not analysed
}

// NewAnalyzer returns an Analyzer of mono samples at [SampleRate].
func NewAnalyzer() *Analyzer {
	return &Analyzer{
		spectral: NewSpectral(),
		pitch:    NewPitch(SampleRate, nil),
		pulses:   NewPulses(SampleRate),
		hnr:      NewHNR(SampleRate),
		cpps:     NewCPPS(SampleRate),
		formants: NewFormantTracker(),
		activity: newActivity(),
		smooth:   make([]float64, spectrumFrame/2+1),
	}
}

// maxSample is the largest magnitude that is analysed, 24 dB above full scale.
// Chosen: far above any recording or intermediate result, and small enough that
// sums of squares keep their precision.
const maxSample = 16

// FrameCount is the number of frames of every track of n samples at [SampleRate]:
// the frames centred on 0, Hop, 2·Hop, … up to the end of the last sample. It is 0
// for no samples.
func FrameCount(n int) int {
	if n <= 0 {
		return 0
	}
	return n/hopSamples + 1
}

// Analyze measures x, mono samples at [SampleRate], nominally in [-1, 1). x may be
// empty, silent or of any length; measures that it is too short for are NaN.
//
// The result belongs to the Analyzer and is valid until its next call. Every track
// has [FrameCount](len(x)) frames. x is not changed. A sample that is NaN or
// infinite counts as 0, and a sample beyond ±16 as ±16. An offset has no effect:
// every measure is of x less its mean.
func (a *Analyzer) Analyze(x []float64) *Analysis {
	out := &a.out
	out.Duration = float64(len(x)) / SampleRate
	out.resize(FrameCount(len(x)))
	if len(x) == 0 {
		return out
	}
	clean, e := sanitize(a.clean, x)
	if &clean[0] != &x[0] {
		a.clean = clean
	}
	x, offset := clean, e.mean
	a.spectral.Frames(x, offset, out)
	out.F0 = a.pitch.track(out.F0, x, offset)
	out.Pulses = a.pulses.Find(out.Pulses, x, out.F0)
	out.Jitter = MeasureJitter(out.Pulses)
	out.Shimmer = MeasureShimmer(out.Pulses, a.pulses.Amplitudes())
	out.HNR = a.hnr.Track(out.HNR, x, out.F0)
	out.CPPS = a.cpps.measure(x, out.F0, offset)
	a.formants.Track(out.Formants, x, offset, out.F0)
	a.activity.detect(x, offset, out)
	a.activity.syllables(out, a.spectral.sonorant)
	out.Quality.SNR = a.activity.snr(out.IsSpeech)
	out.Quality.Clipped = clipped(x, e)
	out.Quality.Bandwidth = bandwidth(a.spectral.longTerm, a.smooth, SampleRate)
	return out
}

// An extent holds the lowest, the highest and the mean sample.
type extent struct{ lo, hi, mean float64 }

// sanitize returns x and its extent. If samples of x are not finite or are beyond
// ±maxSample it returns a copy in which 0 or ±maxSample replaces them, in dst's
// memory if that is large enough. x must not be empty.
func sanitize(dst, x []float64) ([]float64, extent) {
	lo, hi := x[0], x[0]
	var s0, s1, s2, s3 float64
	y := x
	for len(y) >= 4 {
		a, b, c, d := y[0], y[1], y[2], y[3]
		s0 += a
		s1 += b
		s2 += c
		s3 += d
		if a > hi || b > hi || c > hi || d > hi {
			hi = max(hi, a, b, c, d)
		}
		if a < lo || b < lo || c < lo || d < lo {
			lo = min(lo, a, b, c, d)
		}
		y = y[4:]
	}
	for _, v := range y {
		s0 += v
		lo, hi = min(lo, v), max(hi, v)
	}
	mean := ((s0 + s1) + (s2 + s3)) / float64(len(x))
	if lo >= -maxSample && hi <= maxSample && !math.IsNaN(mean) {
		return x, extent{lo, hi, mean}
	}
	dst = sized(dst, len(x))
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			v = 0
		}
		dst[i] = min(max(v, -maxSample), maxSample)
	}
	return sanitize(nil, dst)
}

// resize gives every track n undefined frames and empties the lists. It allocates
// only if a track grows beyond its largest length so far.
func (out *Analysis) resize(n int) {
	nan := math.NaN()
	out.F0 = filled(out.F0, n, 0)
	out.Level = filled(out.Level, n, math.Inf(-1))
	out.Loudness = filled(out.Loudness, n, 0)
	out.HNR = filled(out.HNR, n, nan)
	out.Spectrum = filled(out.Spectrum, n, Spectrum{nan, nan, nan, nan, nan, nan, nan, nan})
	var c [NumMFCC]float64
	for i := range c {
		c[i] = nan
	}
	out.MFCC = filled(out.MFCC, n, c)
	out.Formants = filled(out.Formants, n, Formants{[3]float64{nan, nan, nan}, [3]float64{nan, nan, nan}})
	out.IsSpeech = filled(out.IsSpeech, n, false)
	out.Pulses = out.Pulses[:0]
	out.Speech = out.Speech[:0]
	out.Pauses = out.Pauses[:0]
	out.Syllables = out.Syllables[:0]
	out.Jitter = Jitter{nan, nan, nan, nan, nan}
	out.Shimmer = Shimmer{nan, nan, nan, nan, nan}
	out.CPPS = nan
	out.Quality = Quality{SNR: nan, Clipped: 0, Bandwidth: nan}
}

// filled returns s with length n and every element v, in s's memory if that
// is large enough.
func filled[T any](s []T, n int, v T) []T {
	if cap(s) < n {
		s = make([]T, n)
	}
	s = s[:n]
	for i := range s {
		s[i] = v
	}
	return s
}
