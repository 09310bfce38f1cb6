package dsp

import "math"

// CopyFrame copies the len(dst) samples of x from sample start on into dst and
// returns dst. dst is 0 before the first and after the last sample of x. start may
// be any number, also negative. dst must not overlap x, which is not changed.
func CopyFrame(dst, x []float64, start int) []float64 {
	lo, hi := overlap(len(dst), len(x), start)
	clear(dst[:lo])
	copy(dst[lo:hi], x[min(max(start, 0), len(x)):])
	clear(dst[hi:])
	return dst
}

// overlap returns the part lo ≤ j < hi of a frame of n samples from sample start on
// that is within a signal of length samples.
func overlap(n, length, start int) (lo, hi int) {
	lo = min(max(-start, 0), n)
	hi = min(max(length-start, lo), n)
	return lo, hi
}

// The loops over a frame, in four sums that do not depend on one another. With avx
// they run in assembly, which gives the same bits; avx must be false without hasAVX.

// emphasize computes (x[j] − a·x[j−1])·w[j] into dst, with (1 − a)·x[0]·w[0]
// first. dst and w are at least as long as x, which is not empty.
func emphasize(dst, x, w []float64, a float64, avx bool) {
	dst, w = dst[:len(x)], w[:len(x)]
	dst[0] = (x[0] - a*x[0]) * w[0]
	j := 1
	if n := (len(x) - 1) &^ 3; avx && n > 0 {
		emphasizeAVX(&dst[1], &x[1], &w[1], a, n)
		j += n
	}
	for ; j < len(x); j++ {
		dst[j] = (x[j] - a*x[j-1]) * w[j]
	}
}

// multiplySum multiplies y by w, as long and a multiple of 4 points, and
// returns Σ y.
func multiplySum(y, w []float64, avx bool) float64 {
	if avx && len(y) >= 4 {
		return multiplySumAVX(&y[0], &w[:len(y)][0], len(y)&^3)
	}
	var a, b, c, d float64
	for j := 0; j+4 <= len(y); j += 4 {
		p, q := (*[4]float64)(y[j:j+4]), (*[4]float64)(w[j:j+4])
		p[0], p[1], p[2], p[3] = p[0]*q[0], p[1]*q[1], p[2]*q[2], p[3]*q[3]
		a += p[0]
		b += p[1]
		c += p[2]
		d += p[3]
	}
	return a + b + c + d
}

// subtract takes c·w off y, as long and a multiple of 4 points.
func subtract(y, w []float64, c float64, avx bool) {
	if avx && len(y) >= 4 {
		subtractAVX(&y[0], &w[:len(y)][0], c, len(y)&^3)
		return
	}
	for j, v := range w[:len(y)] {
		y[j] -= c * v
	}
}

// distance replaces before by a = √p·scale, as long, and returns the sum of
// the squares of the changes.
func distance(before, p []float64, scale float64, avx bool) float64 {
	before = before[:len(p)]
	var sum float64
	k := 0
	if n := len(p) &^ 3; avx && n > 0 {
		sum = fluxAVX(&p[0], &before[0], scale, n)
		k = n
	} else {
		var s [4]float64
		for ; k < n; k += 4 {
			for i := range s {
				v := math.Sqrt(p[k+i]) * scale
				d := v - before[k+i]
				s[i] += d * d
				before[k+i] = v
			}
		}
		sum = s[0] + s[1] + s[2] + s[3]
	}
	for ; k < len(p); k++ {
		v := math.Sqrt(p[k]) * scale
		sum += (v - before[k]) * (v - before[k])
		before[k] = v
	}
	return sum
}
