package simd

import "math"

// level is the kind of registers in use.
type level uint8

const (
	scalar level = iota
	neon
)

var use = highest()

func highest() level { return neon }

// vectorLength returns the number of leading numbers of x that fill whole
// registers; 0 if none are in use.
func vectorLength(x []float32) int {
	if use == neon {
		return len(x) &^ 3
	}
	return 0
}

func vectorGELU(x []float32) { geluNEON(&x[0], len(x), &exp2Table[0], &geluTable[0]) }

// vectorExpSum does the work of expSumGo: the first n > 0 numbers, and the rest
// in a register of their own.
func vectorExpSum(x []float32, n int, top float32) float32 {
	var sum [4]float32
	expSumNEON(&x[0], n, top, &exp2Table[0], &sum)
	total := sum[0] + sum[1] + sum[2] + sum[3]
	if rest := x[n:]; len(rest) > 0 {
		low := float32(math.Inf(-1))
		last := [4]float32{low, low, low, low}
		copy(last[:], rest)
		expSumNEON(&last[0], 4, top, &exp2Table[0], &sum)
		total += sum[0] + sum[1] + sum[2] + sum[3]
		copy(rest, last[:])
	}
	return total
}

func vectorMaximum(x []float32) float32 {
	var top [4]float32
	maximumNEON(&x[0], len(x), &top)
	return max(top[0], top[1], top[2], top[3])
}

func vectorSum(x []float32) float32 {
	var sum [4]float32
	sumNEON(&x[0], len(x), &sum)
	return sum[0] + sum[1] + sum[2] + sum[3]
}

func vectorSquares(x []float32, c float32) float32 {
	var sum [4]float32
	squaresNEON(&x[0], len(x), c, &sum)
	return sum[0] + sum[1] + sum[2] + sum[3]
}

func vectorNormalize(dst, x, w, b []float32, mean, scale float32) {
	normalizeNEON(&dst[0], &x[0], &w[0], &b[0], len(dst), mean, scale)
}

func vectorScale(x []float32, f float32) { scaleNEON(&x[0], len(x), f) }

// The loops of vector_arm64.s. n is a multiple of 4, at least 4.

//go:noescape
func geluNEON(x *float32, n int, exp2, gelu *[16]float32)

//go:noescape
func expSumNEON(x *float32, n int, max float32, exp2 *[16]float32, sum *[4]float32)

//go:noescape
func maximumNEON(x *float32, n int, top *[4]float32)

//go:noescape
func sumNEON(x *float32, n int, sum *[4]float32)

//go:noescape
func squaresNEON(x *float32, n int, c float32, sum *[4]float32)

//go:noescape
func normalizeNEON(dst, x, w, b *float32, n int, mean, scale float32)

//go:noescape
func scaleNEON(x *float32, n int, f float32)
