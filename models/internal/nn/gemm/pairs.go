package gemm

import "math"

// A pair is two bfloat16 in the 32 bits of a float32, the first in the lower half;
// the value of that float32 has no meaning. A bfloat16 is the upper half of a
// float32, with 8 bits of precision.

// Pair writes x to dst as pairs, rounded to the nearest, ties to even; 0 completes
// the last pair of an odd number. It panics unless dst has ⌈len(x)/2⌉ numbers. dst
// may be the beginning of x.
func Pair(dst, x []float32) {
	if len(dst) != (len(x)+1)/2 {
		panic("gemm: pairs of another length")
	}
	n := pairVector(dst, x)
	for i := n; i < len(dst); i++ {
		var second uint32
		if 2*i+1 < len(x) {
			second = round(x[2*i+1])
		}
		dst[i] = math.Float32frombits(round(x[2*i])>>16 | second&0xFFFF0000)
	}
}

// round returns the bfloat16 nearest to x in the upper half of the bits; the lower
// half has no meaning. NaN stays NaN.
func round(x float32) uint32 {
	b := math.Float32bits(x)
	if x != x {
		return b | 1<<22
	}
	return b + 0x7FFF + b>>16&1
}

// first and second return the numbers of a pair.
func first(p float32) float32  { return math.Float32frombits(math.Float32bits(p) << 16) }
func second(p float32) float32 { return math.Float32frombits(math.Float32bits(p) & 0xFFFF0000) }

// FastPairs reports whether this processor multiplies pairs faster than float32.
func FastPairs() bool { return bestPairs != GoPairs }

// PackPairs makes b the matrix of PackTransposed as pairs of rows, with half the
// numbers. The rows of A are then pairs too, rows/2 numbers rounded up, and each
// factor has 8 bits of precision. It overwrites x.
func (b *Matrix) PackPairs(x []float32, rows, cols, stride int) {
	checkArray("pack", x, cols, rows, stride)
	for c := range cols {
		row := x[c*stride:][:rows]
		Pair(row[:(rows+1)/2], row)
	}
	b.PackTransposed(x, (rows+1)/2, cols, stride)
	b.form = pairsForm
}

// tilePairsGo does the work of tileGo on k pairs.
func tilePairsGo(k int, a []float32, lda int, b, c []float32, ldc int, bias []float32, add bool) {
	var sum [goRows * panel]float32
	for i := range goRows {
		s := sum[i*panel:][:panel]
		for l, x := range a[i*lda:][:k] {
			x0, x1 := first(x), second(x)
			for j, y := range b[l*panel:][:panel] {
				s[j] += x1 * second(y)
				s[j] += x0 * first(y)
			}
		}
	}
	putGo(&sum, c, ldc, bias, add)
}
