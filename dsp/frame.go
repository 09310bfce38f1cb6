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

// FrameAt returns the len(pad) samples of x from sample start on: a part of x where it has
// them all, and otherwise pad, filled by [CopyFrame]. x is not changed.
func FrameAt(pad, x []float64, start int) []float64 {
	if start >= 0 && start+len(pad) <= len(x) {
		return x[start : start+len(pad)]
	}
	return CopyFrame(pad, x, start)
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

// emphasize computes (x[j] − a·x[j−1] − c)·w[j] into dst, with x[0] for x[−1]. dst and w
// are at least as long as x, which is not empty.
func emphasize(dst, x, w []float64, a, c float64, avx bool) {
	dst, w = dst[:len(x)], w[:len(x)]
	dst[0] = (x[0] - a*x[0] - c) * w[0]
	j := 1
	if n := (len(x) - 1) &^ 3; avx && n > 0 {
		emphasizeAVX(&dst[1], &x[1], &w[1], a, c, n)
		j += n
	}
	for ; j < len(x); j++ {
		dst[j] = (x[j] - a*x[j-1] - c) * w[j]
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
