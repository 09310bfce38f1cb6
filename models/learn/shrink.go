package learn

import "math"

// A level is what is known beforehand about the differences of several groups from
// one value: all groups share a difference with the standard deviation common, and
// each has one of its own with the standard deviation own. For n people of a group
// alone and unit variance, it counts as 1/(common² + own²) people.
type level struct {
	common, own float64
}

// shrink returns the posterior mean of the difference of each group, given what was
// measured of it with a variance of its own. A group whose variance is +Inf has no
// data and gets what the others share. With
//
//	x_g = δ + ε_g + error_g,  δ ~ N(mean, common²),  ε_g ~ N(0, own²),
//
// these are the best linear predictions (Robinson 1991, equation 1.2):
//
//	δ̂ = mean + Σ (x_g − mean)/V_g / (1/common² + Σ 1/V_g),  V_g = own² + variance_g,
//	x̂_g = δ̂ + own²/V_g·(x_g − δ̂).
func (l level) shrink(x, variance []float64, mean float64) []float64 {
	above, below := 0.0, 1/(l.common*l.common)
	for g := range x {
		if v := l.own*l.own + variance[g]; !math.IsInf(v, 1) {
			above += (x[g] - mean) / v
			below += 1 / v
		}
	}
	shared := mean + above/below
	out := make([]float64, len(x))
	for g := range x {
		out[g] = shared
		if v := l.own*l.own + variance[g]; !math.IsInf(v, 1) {
			out[g] += l.own * l.own / v * (x[g] - shared)
		}
	}
	return out
}
