// Package dsp measures a voice: it turns mono samples into frames and frames
// into pitch, glottal pulses, perturbation, formants, spectrum and timing.
//
// # Conventions
//
// Samples are float64 in [-1, 1), mono, at [SampleRate] unless a function says
// otherwise. Times are seconds from the first sample, frequencies are hertz,
// levels are dB relative to full scale, where the RMS of a full-scale square
// wave is 0 dB. Frame i of every track is centred on the time i·[Hop].
// A measure that is undefined is NaN, never 0; the one exception is F0, where
// 0 means unvoiced.
//
// How accurate the measures are on signals whose truth is known stands in
// README.md, which internal/proof/accuracy prints.
//
// The package does no I/O, reads no clock and starts no goroutine. Equal input
// gives equal output, bit for bit, on one architecture.
package dsp
