package dsp

// PeakLag returns the lag of the largest of r[lo] … r[hi−1], the first of equal
// ones, and that lag refined by the parabola through it and its neighbours, by
// at most one. Where these three have no maximum, as at an end of a slope, exact
// is the lag. It panics unless 1 ≤ lo < hi < len(r). r is not changed.
func PeakLag(r []float64, lo, hi int) (lag int, exact float64) {
	if lo < 1 || lo >= hi || hi >= len(r) {
		panic("dsp: peak at impossible lags")
	}
	lag = lo
	for k := lo; k < hi; k++ {
		if r[k] > r[lag] {
			lag = k
		}
	}
	exact = float64(lag)
	a, b, c := r[lag-1], r[lag], r[lag+1]
	if curve := a - 2*b + c; curve < 0 {
		exact += min(max(0.5*(a-c)/curve, -1), 1)
	}
	return lag, exact
}
