// Package simd holds the steps of the encoder between two matrix products: GELU,
// the exponentials of the softmax, and layer normalisation, in float32. They use
// AVX-512, AVX2 or NEON where the processor has them, and pure Go elsewhere; the
// results differ by rounding. Functions that take a destination and a source
// accept the same slice for both.
package simd
