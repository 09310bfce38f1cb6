// Package dam runs the Depression–Anxiety Model 3.1 (Kintsugi Health, 2025,
// Apache-2.0) in pure Go: two encoders of the shape of Whisper-small.en over
// chunks of 30 s, and a small head that turns their means into a depression
// and an anxiety score.
//
// # Weights
//
// [NewNetwork] asks a function for one tensor after the other, by the names and
// shapes that [Shape.Tensors] lists, and packs each for its multiplication before
// it asks for the next. The packed weights, 0.71 GB at full size, are in memory
// once, beside one tensor of the file.
//
// # Arithmetic
//
// All is float32, as in the published model. Sums are made in an order that
// depends neither on the number of goroutines nor on what else runs, so the
// same chunk gives the same bits on the same processor. Outputs of the encoders
// are within 1e-6 of those of PyTorch 1.13, relative to the largest, on weights
// from a seed.
//
// A chunk is 690 GFLOP, of which matrix products are all but a thousandth. On
// one core of a Zen 5 at 4.2 GHz they take 3.2 s with AVX-512, where PyTorch 1.13
// with oneDNN takes 9.3 s in the same run, and on two cores 1.66 s where it takes
// 7.4 s; with AVX2 alone 6.2 s of processor time, measured on a machine shared
// with others (2026-11-20; testdata/README.md has the commands).
//
// [Options.BFloat16] rounds both factors of a layer's products to eight bits of
// precision and sums in float32, as AVX512_BF16 does it: 2.0 s, 1.05 s on two cores, and half the
// memory for weights. Scores moved by 0.002 with the same weights. It is off
// unless asked for, because what it does to the published weights could not be
// measured.
//
// Attention is always float32. It takes 48 queries of a head at a time through
// all keys, and never holds the scores of a head, let alone of all.
package dam
