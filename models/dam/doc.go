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
// All numbers are float32, as in the published model, unless an option below is set. The order of a sum depends
// neither on the number of goroutines nor on the load, so the same chunk gives the
// same bits on the same processor. Outputs of the encoders are within 1e-6 of
// those of PyTorch 1.13, relative to the largest, on weights from a seed.
//
// A chunk takes 690 GFLOP; matrix products are 99.9 % of that. On one core of a
// Zen 5 at 4.2 GHz it takes 3.2 s with AVX-512 (PyTorch 1.13 with oneDNN: 9.3 s in
// the same run), and on two cores 1.66 s (7.4 s). With AVX2 alone it takes 6.2 s
// of processor time, measured on a machine under other load (2026-11-20;
// testdata/README.md has the commands).
//
// [Options.BFloat16] rounds both factors of a layer's products to eight bits of
// precision and sums in float32, as AVX512_BF16 does: 2.0 s, 1.05 s on two cores,
// and half the memory for weights. On weights from a seed, scores change by 0.002.
// The default is off, because the change on the published weights is unknown.
//
// [Options.Int8] rounds both factors of these products, but for those of the first
// convolution, to integers of eight bits, with a scale for each output and each frame. What
// frames have in common, their mean, is multiplied apart and more exactly. On one core of a
// Zen 4 a chunk took 3.4 s of processor time in place of 7.4 s (bfloat16: 4.6 s), in the
// same run on a machine under much other load, 2026-11-23. On weights from a seed, scores
// change by 0.003. [ConvertInt8] writes a file of these integers, which [Open] maps.
//
// Attention is always float32. It computes 48 queries of a head with all keys at
// a time, so the scores of a whole head are never in memory.
package dam
