// Package signals makes test signals whose truth is known by construction:
// tones, harmonic complexes with an exact F0 trajectory, jittered and shimmered
// pulse trains and vowels, periodic signals in a known amount of noise,
// Klatt vowels and sequences of voiced, unvoiced and silent parts.
//
// Samples are float64, mono, at the rate sr in Hz given to each function.
// Durations and times are in seconds. Random signals take a seed: equal seeds give equal
// signals. The functions are safe for concurrent use.
package signals
