package evaluate

import (
	"cmp"
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/internal/stats"
	"gonum.org/v1/gonum/stat/distuv"
)

// A DeLong is the comparison of two areas under the ROC curve on the same recordings.
type DeLong struct {
	A, B       float64 // the areas under the curve, 0 to 1
	Difference float64 // A − B
	SE         float64 // the standard error of Difference
	Low, High  float64 // the normal interval of Difference
	Z          float64 // Difference / SE
	P          float64 // of no difference, two-sided, 0 to 1
}

// NewDeLong compares the AUC of the scores a with that of the scores b of the same
// recordings, by the method of DeLong, DeLong and Clarke-Pearson (Biometrics 44,
// 1988). The interval contains the share level, 0 to 1. Recordings count as
// independent: several recordings of one person make SE too small. With four a person,
// 120 of 150 simulated intervals of 95 % held the truth, and 138 of a bootstrap of people.
//
// With m positives X and n negatives Y, and ψ = 1 where a positive scores higher
// than a negative, ½ at a tie and 0 otherwise, the placement values are
//
//	V10(Xi) = Σj ψ(Xi, Yj) / n    V01(Yj) = Σi ψ(Xi, Yj) / m
//
// and the variance of the difference of the areas is that of V10a − V10b over m,
// plus that of V01a − V01b over n, each with the divisor of a sample (their equations
// 5 to 7). The placement values are computed from midranks (Sun and Xu, IEEE Signal
// Processing Letters 21, 2014), in O(N log N).
//
// All fields are NaN if a class is empty or a score is NaN. SE and what depends on it
// are NaN if a class has one recording. Z, P, Low and High are NaN if SE is 0, as
// where both scores give the same order.
func NewDeLong(a, b []float64, positive []bool, level float64) DeLong {
	nan := math.NaN()
	d := DeLong{nan, nan, nan, nan, nan, nan, nan, nan}
	if _, _, ok := stats.CountClasses(a, positive); !ok {
		return d
	}
	if _, _, ok := stats.CountClasses(b, positive); !ok {
		return d
	}
	v10a, v01a := placements(a, positive)
	v10b, v01b := placements(b, positive)
	d.A, _ = meanVariance(v10a)
	d.B, _ = meanVariance(v10b)
	d.Difference = d.A - d.B
	for i := range v10a {
		v10a[i] -= v10b[i]
	}
	for j := range v01a {
		v01a[j] -= v01b[j]
	}
	_, s10 := meanVariance(v10a)
	_, s01 := meanVariance(v01a)
	variance := s10/float64(len(v10a)) + s01/float64(len(v01a))
	if variance < leastVariance {
		d.SE = 0
		return d
	}
	d.SE = math.Sqrt(variance)
	half := distuv.UnitNormal.Quantile((1+level)/2) * d.SE
	d.Low, d.High = d.Difference-half, d.Difference+half
	d.Z = d.Difference / d.SE
	d.P = 2 * distuv.UnitNormal.CDF(-math.Abs(d.Z))
	return d
}

// leastVariance is between the rounding error of a variance of 0, about 1e-32, and
// the least variance of a million recordings, about 1e-19: one placement value
// changes by 1/2n.
const leastVariance = 1e-24

// placements returns the placement values of the positives and of the negatives, each
// in the order of the recordings. Both classes have a recording, and no score is NaN.
//
// With the midranks T of all scores and those within a class, Σj ψ(Xi, Yj) is
// T(Xi) − TX(Xi), and Σi ψ(Xi, Yj) is m − (T(Yj) − TY(Yj)).
func placements(scores []float64, positive []bool) (v10, v01 []float64) {
	var x, y []float64
	for i, s := range scores {
		if positive[i] {
			x = append(x, s)
		} else {
			y = append(y, s)
		}
	}
	all, tx, ty := midranks(scores), midranks(x), midranks(y)
	m, n := float64(len(x)), float64(len(y))
	v10, v01 = make([]float64, 0, len(x)), make([]float64, 0, len(y))
	for i, t := range all {
		if positive[i] {
			v10 = append(v10, (t-tx[len(v10)])/n)
		} else {
			v01 = append(v01, 1-(t-ty[len(v01)])/m)
		}
	}
	return v10, v01
}

// midranks returns the rank of each value, from 1 in ascending order. Equal values
// share the mean of their ranks.
func midranks(x []float64) []float64 {
	order := stats.Indices(len(x))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	ranks := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			ranks[k] = float64(i+1+j) / 2 // the mean of i + 1 to j
		}
		i = j
	}
	return ranks
}

// meanVariance returns the mean and the sample variance, which is NaN for one value.
func meanVariance(x []float64) (mean, variance float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / float64(len(x)-1) // 0/0 is NaN
}
