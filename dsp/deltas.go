package dsp

// Deltas computes the rate of change of the track c per frame into dst and
// returns it; a nil dst is allocated. It is the regression of HTK (Young et al.,
// The HTK Book, version 3.4, eq. 5.16)
//
//	d[t] = Σθ θ·(c[t+θ] − c[t−θ]) / 2·Σθ θ²,  θ = 1 … reach,
//
// with the first and the last value of c repeated beyond its ends. HTK's default
// reach (DELTAWINDOW) is 2. A NaN or infinite value makes the deltas within reach
// of it undefined (NaN or infinite). Deltas panics if reach is less than 1 or dst
// has another length; dst must not be c, which is not changed.
func Deltas(dst, c []float64, reach int) []float64 {
	if dst == nil {
		dst = make([]float64, len(c))
	}
	if reach < 1 || len(dst) != len(c) {
		panic("dsp: deltas of an impossible reach or into a slice of the wrong length")
	}
	var den float64
	for th := 1; th <= reach; th++ {
		den += float64(2 * th * th)
	}
	last := len(c) - 1
	for t := range c {
		var num float64
		for th := 1; th <= reach; th++ {
			num += float64(th) * (c[min(t+th, last)] - c[max(t-th, 0)])
		}
		dst[t] = num / den
	}
	return dst
}
