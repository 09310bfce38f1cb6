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

// levelFeatures is how many features the level expected beforehand counts as where the
// level is fitted to features. Chosen: of 21 features that go together, the voices
// decide.
const levelFeatures = 3

// fit returns the level of several features, empirical Bayes: both variances as the
// differences x of all features and groups, measured with the given variances, show
// them, and l as levelFeatures more features. The mean of a feature's difference is
// that expected of it.
//
// The variance between groups is by the method of moments (DerSimonian and Laird 1986,
// equation 8), summed over features: with weights w = 1/variance, Q = Σ w·(x − x̄)² has
// the mean G − 1 + own²·(Σw − Σw²/Σw) over G groups. That of what they share is the mean
// of (x̄ − expected)² less the variance of x̄. Neither is taken below 0.
func (l level) fit(x, variance [][]float64, expected []float64) level {
	var between, weight, groups float64
	for j := range x {
		mean, sum, square, q, n := pooled(x[j], variance[j], 0)
		if n < 2 || math.IsNaN(mean) {
			continue
		}
		between, weight, groups = between+q-(n-1), weight+sum-square/sum, groups+1
	}
	out := l
	if groups > 0 {
		own := max(between/weight, 0)
		out.own = math.Sqrt((levelFeatures*l.own*l.own + groups*own) / (levelFeatures + groups))
	}
	var shared, features float64
	for j := range x {
		if mean, sum, _, _, n := pooled(x[j], variance[j], out.own*out.own); n > 0 {
			shared += (mean-expected[j])*(mean-expected[j]) - 1/sum
			features++
		}
	}
	out.common = math.Sqrt((levelFeatures*l.common*l.common + max(shared, 0)) / (levelFeatures + features))
	return out
}

// pooled returns the mean of the groups of a feature that have data, weighted by w =
// 1/(variance + own), the sums of w and of w², Q = Σ w·(x − mean)², and the number of
// these groups.
func pooled(x, variance []float64, own float64) (mean, sum, square, q, n float64) {
	for g := range x {
		if w := 1 / (variance[g] + own); w > 0 {
			mean, sum, square, n = mean+w*x[g], sum+w, square+w*w, n+1
		}
	}
	mean /= sum
	for g := range x {
		if w := 1 / (variance[g] + own); w > 0 {
			q += w * (x[g] - mean) * (x[g] - mean)
		}
	}
	return mean, sum, square, q, n
}
