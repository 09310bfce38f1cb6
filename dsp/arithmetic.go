package dsp

import "math"

// The loops over samples that other packages share. Where the processor has AVX
// they handle four numbers at a time.

// Log computes the natural logarithms of x into dst and returns it; a nil dst is
// allocated, and dst may be x. Every x must be finite and at least 2⁻¹⁰²²: the
// result of any other is undefined. The error is below one unit in the last place,
// with and without assembly. The algorithm is that of FreeBSD's e_log.c (Sun
// Microsystems, 1993). It panics if dst has another length.
func Log(dst, x []float64) []float64 {
	if dst == nil {
		dst = make([]float64, len(x))
	}
	if len(dst) != len(x) {
		panic("dsp: logarithms have the wrong length")
	}
	logs(dst, x, hasAVX2)
	return dst
}

// Multiply computes x[i]·y[i] into dst and returns it; a nil dst is allocated, and
// dst may be x or y. It panics if the lengths differ.
func Multiply(dst, x, y []float64) []float64 {
	if dst == nil {
		dst = make([]float64, len(x))
	}
	if len(dst) != len(x) || len(y) != len(x) {
		panic("dsp: factors have the wrong length")
	}
	product(dst, x, y, hasAVX)
	return dst
}

// Add adds x to dst, x[i] to dst[i], and returns dst. It panics if the lengths differ.
func Add(dst, x []float64) []float64 {
	if len(dst) != len(x) {
		panic("dsp: terms have the wrong length")
	}
	accumulate(dst, x, hasAVX)
	return dst
}

// AddConstant adds c to every x[i], in place, and returns x.
func AddConstant(x []float64, c float64) []float64 {
	shift(x, x, -c, hasAVX)
	return x
}

// Order puts the smaller of lo[i] and hi[i] into lo[i] and the larger into hi[i]. No
// number may be NaN. It panics if the lengths differ.
func Order(lo, hi []float64) {
	if len(lo) != len(hi) {
		panic("dsp: numbers to order have different lengths")
	}
	order(lo, hi, hasAVX)
}

// Sum is Σ x[i], in eight interleaved sums: 0 of no numbers. [Mean] sums in the order of
// the index, which takes longer and rounds otherwise.
func Sum(x []float64) float64 { return total(x, hasAVX) }

// Peak is the largest |x[i]|: 0 of no numbers. NaN does not count.
func Peak(x []float64) float64 { return highest(x, magnitude, hasAVX) }

// Dot is Σ x[i]·y[i], in eight interleaved sums: 0 of no numbers. It panics if
// the lengths differ. It allocates nothing and changes neither slice.
func Dot(x, y []float64) float64 {
	if len(x) != len(y) {
		panic("dsp: dot product of different lengths")
	}
	return dotProduct(x, y, hasAVX)
}

// Logistic is 1/(1 + exp(−x)), the probability whose log odds are x. Its relative
// error is a few units in the last place at both ends: Logistic(−700) is 1e-304
// and not 0. It is 0 of −Inf, 1 of +Inf and NaN of NaN.
func Logistic(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// LogAdd is ln(exp(a) + exp(b)), without overflow, of a and b of which at most one is
// infinite.
func LogAdd(a, b float64) float64 { return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b))) }

// Correlate computes dst[k] = Σ_j a[j]·b[j+k] for every k of dst and returns dst; it
// is 0 if a is empty. dst must not overlap a or b, which are not changed. Correlate
// panics if b is too short: if it has fewer than len(a) + len(dst) − 1 samples.
func Correlate(dst, a, b []float64) []float64 {
	if len(dst) == 0 {
		return dst
	}
	if len(b) < len(a)+len(dst)-1 {
		panic("dsp: correlation reaches beyond the samples")
	}
	if len(a) == 0 {
		clear(dst)
		return dst
	}
	correlate(dst, a, b, hasAVX)
	return dst
}
