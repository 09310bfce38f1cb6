// Package dsp measures a voice: it computes pitch, glottal pulses, perturbation,
// formants, spectrum and timing from the frames of mono samples.
//
// [Analyzer] measures a whole recording. Each measure is also there alone: [Pitch],
// [Pulses], [MeasureJitter], [MeasureShimmer], [HNR], [CPPS], [FormantTracker],
// [Spectral], [MFCC]. Below them are the primitives that other packages share: [FFT],
// [Resampler], [LPC] and [Levinson], windows, sums and statistics. Package
// lanes has spectra, cepstra and autocorrelations of four frames at once.
//
// # Conventions
//
// Samples are float64 in [-1, 1), mono, at [SampleRate] unless a function states
// another rate. Times are seconds from the first sample, frequencies are hertz,
// levels are dB relative to full scale, where the RMS of a full-scale square
// wave is 0 dB. Frame i of every track is centred on the time i·[Hop].
// A measure that is undefined is NaN, never 0; the one exception is F0, where
// 0 means unvoiced.
//
// A type that measures owns its scratch memory and is not safe for concurrent use.
// It keeps nothing of a recording from one call to the next. Its methods write into
// a slice of the caller's, dst; a nil dst is allocated.
//
// # Accuracy and sources
//
// README.md shows the accuracy on signals whose truth is known, as
// internal/proof/accuracy prints it. testdata holds recordings with the values of
// other programs. The comment of each measure names its paper, or the manual page of
// the program whose definition it has. A constant with the word "chosen" has no
// source but the reason beside it.
//
// The package does no I/O, reads no clock and starts no goroutine. Equal input
// gives equal output, bit for bit, on one architecture.
package dsp
