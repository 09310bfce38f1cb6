package dsp

// CopyFrame copies the len(dst) samples of x from sample start on into dst and
// returns dst. Where x has no samples, before its first and after its last,
// dst is 0. Any start is allowed.
func CopyFrame(dst, x []float64, start int) []float64 {
	lo, hi := overlap(len(dst), len(x), start)
	clear(dst[:lo])
	copy(dst[lo:hi], x[min(max(start, 0), len(x)):])
	clear(dst[hi:])
	return dst
}

// overlap returns the part lo ≤ j < hi of a frame of n samples from sample
// start on that lies within a signal of length samples.
func overlap(n, length, start int) (lo, hi int) {
	lo = min(max(-start, 0), n)
	hi = min(max(length-start, lo), n)
	return lo, hi
}
