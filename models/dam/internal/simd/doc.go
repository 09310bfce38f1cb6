// Package simd does what the encoder does to each number between two matrix
// products: GELU, the exponentials of the softmax, and layer normalisation, in
// float32, with AVX-512, AVX2 or NEON where the processor has them and in pure Go
// where not. The ways differ by rounding. Functions that take a destination and
// a source accept the same slice for both.
package simd
