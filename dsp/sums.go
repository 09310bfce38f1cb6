package dsp

import "math"

// The passes over samples that find sums and extremes, and those that HNR and the floors
// of spectra need. As in vector.go, avx selects the assembly, which gives the same bits.

// moments returns Σ p[k] and Σ k·p[k], each in four sums that do not depend on one
// another.
func moments(p []float64, avx bool) (total, moment float64) {
	var s [8]float64 // of p, then of k·p
	k := len(p) &^ 3
	if avx && k > 0 {
		momentsAVX(&s, &p[0], k)
	} else {
		for j := 0; j < k; j += 4 {
			q, f := (*[4]float64)(p[j:j+4]), float64(j)
			s[0] += q[0]
			s[1] += q[1]
			s[2] += q[2]
			s[3] += q[3]
			s[4] += f * q[0]
			s[5] += (f + 1) * q[1]
			s[6] += (f + 2) * q[2]
			s[7] += (f + 3) * q[3]
		}
	}
	for ; k < len(p); k++ {
		s[0] += p[k]
		s[4] += float64(k) * p[k]
	}
	return (s[0] + s[1]) + (s[2] + s[3]), (s[4] + s[5]) + (s[6] + s[7])
}

// centralSums returns Σ d², Σ d³ and Σ d⁴ of d = x − mean, each in four sums that do not
// depend on one another.
func centralSums(x []float64, mean float64, avx bool) (d2, d3, d4 float64) {
	var s [12]float64 // of d², of d³ and of d⁴
	n := len(x) &^ 3
	if avx && n > 0 {
		centralSumsAVX(&s, &x[0], mean, n)
	} else {
		for j := 0; j < n; j += 4 {
			for i, v := range (*[4]float64)(x[j : j+4]) {
				d := v - mean
				q := d * d
				s[i] += q
				s[4+i] += q * d
				s[8+i] += q * q
			}
		}
	}
	for i, v := range x[n:] {
		d := v - mean
		q := d * d
		s[i] += q
		s[4+i] += q * d
		s[8+i] += q * q
	}
	return (s[0] + s[1]) + (s[2] + s[3]), (s[4] + s[5]) + (s[6] + s[7]), (s[8] + s[9]) + (s[10] + s[11])
}

// powers returns Σ (x − offset) and Σ (x − offset)², each in eight sums that do not
// depend on one another.
func powers(x []float64, offset float64, avx bool) (first, second float64) {
	var s [16]float64
	n := len(x) &^ 7
	if avx && n > 0 {
		powersAVX(&s, &x[0], offset, n)
	} else {
		for j := 0; j < n; j += 8 {
			for i, v := range (*[8]float64)(x[j : j+8]) {
				v -= offset
				s[i] += v
				s[8+i] += v * v
			}
		}
	}
	first = (s[0] + s[4]) + (s[1] + s[5]) + (s[2] + s[6]) + (s[3] + s[7])
	second = (s[8] + s[12]) + (s[9] + s[13]) + (s[10] + s[14]) + (s[11] + s[15])
	for _, v := range x[n:] {
		v -= offset
		first += v
		second += v * v
	}
	return first, second
}

// inside returns a number of samples at the beginning of x that are all between lo and
// hi: len(x), or at most seven fewer than there are.
func inside(x []float64, lo, hi float64, avx bool) int {
	i := 0
	if n := len(x) &^ 7; avx && n > 0 {
		if i = insideAVX(&x[0], lo, hi, n); i < n {
			return i
		}
	}
	for i < len(x) && x[i] > lo && x[i] < hi {
		i++
	}
	return i
}

// centre computes part − mean into x, its squares into q, and its product with w, which
// may be shorter, into y.
func centre(x, y, q, part, w []float64, mean float64, avx bool) {
	x, q, y, w = x[:len(part)], q[:len(part)], y[:len(w)], w[:min(len(w), len(part))]
	j := 0
	if n := len(w) &^ 3; avx && n > 0 {
		centreAVX(&x[0], &y[0], &q[0], &part[0], &w[0], mean, n)
		j = n
	}
	for ; j < len(w); j++ {
		x[j] = part[j] - mean
		q[j] = x[j] * x[j]
		y[j] = w[j] * x[j]
	}
	shift(x[j:], part[j:], mean, avx)
	product(q[j:], x[j:], x[j:], avx)
}

// order puts the smaller of lo[j] and hi[j] into lo[j] and the larger into hi[j]. hi is
// at least as long as lo. Neither holds a NaN; of two zeros of unlike signs either may
// be the smaller.
func order(lo, hi []float64, avx bool) {
	hi = hi[:len(lo)]
	j := 0
	if n := len(lo) &^ 3; avx && n > 0 {
		orderAVX(&lo[0], &hi[0], n)
		j = n
	}
	for ; j < len(lo); j++ {
		if hi[j] < lo[j] {
			lo[j], hi[j] = hi[j], lo[j]
		}
	}
}

// taper computes (x[j] − c)·w[j] into dst, which may be x. dst and w are at least as long
// as x.
func taper(dst, x, w []float64, c float64, avx bool) {
	dst, w = dst[:len(x)], w[:len(x)]
	j := 0
	if n := len(x) &^ 3; avx && n > 0 {
		taperAVX(&dst[0], &x[0], &w[0], c, n)
		j = n
	}
	for ; j < len(x); j++ {
		dst[j] = (x[j] - c) * w[j]
	}
}

// raise replaces what is less than floor by floor. NaN stays.
func raise(x []float64, floor float64, avx bool) {
	j := 0
	if n := len(x) &^ 3; avx && n > 0 {
		raiseAVX(&x[0], floor, n)
		j = n
	}
	for ; j < len(x); j++ {
		if x[j] < floor {
			x[j] = floor
		}
	}
}

const (
	allBits   = math.MaxUint64
	magnitude = allBits >> 1 // all bits but the sign
)

// highest is the largest of 0 and x[j] or, with the mask magnitude rather than allBits,
// of |x[j]|. NaN does not count.
func highest(x []float64, mask uint64, avx bool) float64 {
	m, j := 0.0, 0
	if n := len(x) &^ 7; avx && n > 0 {
		m, j = highestAVX(&x[0], mask, n), n
	}
	for ; j < len(x); j++ {
		if v := math.Float64frombits(math.Float64bits(x[j]) & mask); v > m {
			m = v
		}
	}
	return m
}

// widen sets dst[j] to the complex number x[j]. dst is at least as long as x.
func widen(dst []complex128, x []float64, avx bool) {
	dst = dst[:len(x)]
	j := 0
	if n := len(x) &^ 3; avx && n > 0 {
		widenAVX(&dst[0], &x[0], n)
		j = n
	}
	for ; j < len(x); j++ {
		dst[j] = complex(x[j], 0)
	}
}
