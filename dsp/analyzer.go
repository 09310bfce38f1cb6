package dsp

import "math"

// hopSamples is the number of samples from one frame to the next; Hop is a
// whole number of samples at SampleRate.
const hopSamples = SampleRate / 100

// An Analyzer measures recordings. It owns all scratch memory and the
// [Analysis] it returns, so that after the first call on a recording of some
// length a call on one no longer allocates nothing.
//
// The zero value is not ready: use [NewAnalyzer]. An Analyzer is not safe for
// concurrent use.
type Analyzer struct {
	out Analysis
}

// NewAnalyzer returns an Analyzer of mono samples at [SampleRate].
func NewAnalyzer() *Analyzer { return &Analyzer{} }

// FrameCount is the number of frames of every track of n samples: the frames
// centred on 0, Hop, 2·Hop, … up to the last sample's end; 0 for no samples.
func FrameCount(n int) int {
	if n <= 0 {
		return 0
	}
	return n/hopSamples + 1
}

// Analyze measures x, mono samples at [SampleRate], nominally in [-1, 1).
//
// The result belongs to the Analyzer and is valid until its next call. Every
// track has [FrameCount](len(x)) frames. x is not changed.
func (a *Analyzer) Analyze(x []float64) *Analysis {
	out := &a.out
	out.Duration = float64(len(x)) / SampleRate
	out.resize(FrameCount(len(x)))
	return out
}

// resize gives every track n frames, each undefined, and empties the lists.
// It allocates only when a track was never this long before.
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
