package models

import "math"

// The loops over the support vectors of a [Kernel], which are signed bytes. Numbers that are
// multiplied by bytes are fixed, with a unit that is a power of two, and split into two parts
// of 16 bits:
//
//	x = (high·2¹⁵ + low)·unit,  |high|, |low| ≤ 2¹⁴,
//
// so that the sums of products are exact in 32 bits as long as they are of fewer than 2¹⁰
// products, and the same everywhere. The rounding is up to 2⁻²⁹ of the largest number. With
// avx2 the loops run in assembly; avx2 must be false without hasAVX2.
const (
	fixedBits = 29  // of the largest magnitude
	fixedPart = 15  // bits by which high is shifted
	fixedSums = 512 // products in a sum of 32 bits
)

// fixedUnit is the unit of numbers of at most the given magnitude.
func fixedUnit(largest float64) float64 {
	_, exponent := math.Frexp(largest)
	return math.Ldexp(1, max(exponent, -900)-fixedBits)
}

// fixed returns the parts of x, given 1/unit.
func fixed(x, inverse float64) (high, low int16) {
	v := int32(math.RoundToEven(x * inverse))
	h := (v + 1<<(fixedPart-1)) >> fixedPart
	return int16(h), int16(v - h<<fixedPart)
}

// products returns Σ x[i]·v[i], in units of x, and Σ v[i]².
func products(high, low []int16, v []byte, avx2 bool) (dot, square int64) {
	for len(v) > 0 {
		n := min(len(v), fixedSums)
		var sums [4]int32
		if avx2 && n >= 16 {
			productsAVX2(&sums, &high[0], &low[0], &v[0], n)
		} else {
			for i, b := range v[:n] {
				s := int32(int8(b))
				sums[0] += int32(high[i]) * s
				sums[1] += int32(low[i]) * s
				sums[2] += s * s
			}
		}
		dot += int64(sums[0])<<fixedPart + int64(sums[1])
		square += int64(sums[2])
		high, low, v = high[n:], low[n:], v[n:]
	}
	return dot, square
}

// weigh adds to each sum a[i] and b[i], times the weights whose upper parts, and then whose
// lower ones, are w.
func weigh(high, low []int32, a, b []byte, w *[4]int16, avx2 bool) {
	n := len(a)
	high, low, b = high[:n], low[:n], b[:n]
	if avx2 && n >= 16 {
		weighAVX2(&high[0], &low[0], &a[0], &b[0], w, n)
		return
	}
	for i := range high {
		s, t := int32(int8(a[i])), int32(int8(b[i]))
		high[i] += int32(w[0])*s + int32(w[1])*t
		low[i] += int32(w[2])*s + int32(w[3])*t
	}
}
