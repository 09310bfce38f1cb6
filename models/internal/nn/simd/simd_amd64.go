package simd

import (
	"math"

	"golang.org/x/sys/cpu"
)

// level is the kind of registers in use.
type level uint8

const (
	scalar level = iota
	avx2
	avx512
)

var use = highest()

func highest() level {
	switch {
	case !cpu.X86.HasAVX2 || !cpu.X86.HasFMA:
		return scalar
	case !cpu.X86.HasAVX512F:
		return avx2
	}
	return avx512
}

// vectorLength returns the number of leading numbers of x that fill whole
// registers; 0 if none are in use.
func vectorLength(x []float32) int {
	switch use {
	case avx512:
		return len(x) &^ 15
	case avx2:
		return len(x) &^ 7
	}
	return 0
}

func vectorGELU(x []float32) {
	if use == avx512 {
		geluAVX512(&x[0], len(x), &exp2Table[0], &geluTable[0])
	} else {
		geluAVX2(&x[0], len(x), &exp2Table[0], &geluTable[0])
	}
}

// vectorExpSum does the work of expSumGo: the first n > 0 numbers, and the rest
// in a register of their own.
func vectorExpSum(x []float32, n int, top float32) float32 {
	sum := expSum(x[:n], top)
	if rest := x[n:]; len(rest) > 0 {
		var last [16]float32
		for i := copy(last[:], rest); i < len(last); i++ {
			last[i] = float32(math.Inf(-1))
		}
		// Each missing number adds less than 1e-37.
		sum += expSum(last[:], top)
		copy(rest, last[:])
	}
	return sum
}

func expSum(x []float32, top float32) float32 {
	if use == avx512 {
		return expSumAVX512(&x[0], len(x), top, &exp2Table[0])
	}
	return expSumAVX2(&x[0], len(x), top, &exp2Table[0])
}

func vectorMaximum(x []float32) float32 {
	if use == avx512 {
		return maximumAVX512(&x[0], len(x))
	}
	return maximumAVX2(&x[0], len(x))
}

func vectorSum(x []float32) float32 {
	if use == avx512 {
		return sumAVX512(&x[0], len(x))
	}
	return sumAVX2(&x[0], len(x))
}

func vectorSquares(x []float32, c float32) float32 {
	if use == avx512 {
		return squaresAVX512(&x[0], len(x), c)
	}
	return squaresAVX2(&x[0], len(x), c)
}

func vectorNormalize(dst, x, w, b []float32, mean, scale float32) {
	if use == avx512 {
		normalizeAVX512(&dst[0], &x[0], &w[0], &b[0], len(dst), mean, scale)
	} else {
		normalizeAVX2(&dst[0], &x[0], &w[0], &b[0], len(dst), mean, scale)
	}
}

func vectorScale(x []float32, f float32) {
	if use == avx512 {
		scaleAVX512(&x[0], len(x), f)
	} else {
		scaleAVX2(&x[0], len(x), f)
	}
}

// The loops of vector_amd64.h. n is a multiple of the length of a register, at
// least one.

//go:noescape
func geluAVX2(x *float32, n int, exp2, gelu *[16]float32)

//go:noescape
func geluAVX512(x *float32, n int, exp2, gelu *[16]float32)

//go:noescape
func expSumAVX2(x *float32, n int, max float32, exp2 *[16]float32) float32

//go:noescape
func expSumAVX512(x *float32, n int, max float32, exp2 *[16]float32) float32

//go:noescape
func maximumAVX2(x *float32, n int) float32

//go:noescape
func maximumAVX512(x *float32, n int) float32

//go:noescape
func sumAVX2(x *float32, n int) float32

//go:noescape
func sumAVX512(x *float32, n int) float32

//go:noescape
func squaresAVX2(x *float32, n int, c float32) float32

//go:noescape
func squaresAVX512(x *float32, n int, c float32) float32

//go:noescape
func normalizeAVX2(dst, x, w, b *float32, n int, mean, scale float32)

//go:noescape
func normalizeAVX512(dst, x, w, b *float32, n int, mean, scale float32)

//go:noescape
func scaleAVX2(x *float32, n int, f float32)

//go:noescape
func scaleAVX512(x *float32, n int, f float32)
