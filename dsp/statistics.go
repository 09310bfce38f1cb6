package dsp

import (
	"math"
	"slices"
)

// Mean is the arithmetic mean Σ x[i] / n, summed in the order of the index.
// It is NaN if x is empty or holds a NaN.
func Mean(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	return sum(x) / float64(len(x))
}

// sum is Σ x[i] in the order of the index. total is faster and rounds otherwise.
func sum(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v
	}
	return s
}

// SD is the sample standard deviation √(Σ (x[i] − mean)² / (n − 1)), by two
// passes over x. It is NaN for fewer than two values and if x holds a NaN.
func SD(x []float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	m := Mean(x)
	var s float64
	for _, v := range x {
		s += (v - m) * (v - m)
	}
	return math.Sqrt(s / float64(len(x)-1))
}

// CentralMoments returns the mean of x and its second to fourth moments about
// the mean, mₖ = Σ (x[i] − mean)ᵏ / n, with the divisor n. The skewness of x is
// m3 / m2^1.5 and its kurtosis m4 / m2². All are NaN if x is empty or holds a
// NaN. The sums are interleaved, as that of [Sum] is.
func CentralMoments(x []float64) (mean, m2, m3, m4 float64) {
	n := float64(len(x))
	mean = total(x, hasAVX) / n // 0/0 is NaN
	m2, m3, m4 = centralSums(x, mean, hasAVX)
	return mean, m2 / n, m3 / n, m4 / n
}

// Slope is the slope per index of the least-squares line through y,
//
//	Σ (i − c)·y[i] / Σ (i − c)²,  c = (n − 1)/2.
//
// It is NaN for fewer than two values and if y holds a NaN.
func Slope(y []float64) float64 {
	if len(y) < 2 {
		return math.NaN()
	}
	centre := float64(len(y)-1) / 2
	var num, den float64
	for i, v := range y {
		d := float64(i) - centre
		num += d * v
		den += d * d
	}
	return num / den
}

// Percentile is the p-th percentile of x, 0 ≤ p ≤ 100, by linear interpolation
// between the order statistics: definition 7 of R. J. Hyndman and Y. Fan,
// "Sample quantiles in statistical packages", The American Statistician 50
// (1996), 361–365. NaN counts as less than every number. The result is NaN if x
// is empty. x is not changed: Percentile works on a copy. To avoid the copy use
// [PercentileInPlace].
func Percentile(x []float64, p float64) float64 {
	return PercentileInPlace(slices.Clone(x), p)
}

// PercentileInPlace is [Percentile] without a copy: it changes the order of x
// and allocates nothing. It takes a time proportional to len(x) on average.
func PercentileInPlace(x []float64, p float64) float64 {
	if slices.ContainsFunc(x, math.IsNaN) {
		slices.Sort(x) // NaN first
		return PercentileSorted(x, p)
	}
	if len(x) > 0 {
		i := int(float64(len(x)-1) * p / 100)
		selectNth(x, i)
		if rest := x[i+1:]; len(rest) > 0 {
			least := 0
			for j, v := range rest {
				if v < rest[least] {
					least = j
				}
			}
			rest[0], rest[least] = rest[least], rest[0]
		}
	}
	return PercentileSorted(x, p)
}

// PercentileSorted is [Percentile] for an ascending x, which is not changed. It
// takes a constant time and allocates nothing.
func PercentileSorted(x []float64, p float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	h := float64(len(x)-1) * p / 100
	i := int(h)
	if i+1 >= len(x) {
		return x[len(x)-1]
	}
	return x[i] + (h-float64(i))*(x[i+1]-x[i])
}

// selectRounds bounds the partitions of selectNth, which then sorts the rest:
// chosen, four times what a million values need on average.
const selectRounds = 80

// selectNth reorders x, which holds no NaN: x[n] gets the value that sorting
// would put there, nothing before it is greater and nothing after it is less
// (C. A. R. Hoare, "Algorithm 65: Find", Comm. ACM 4, 1961, with the median of
// three as the pivot).
func selectNth(x []float64, n int) {
	lo, hi := 0, len(x)-1
	for range selectRounds {
		if hi-lo < 16 {
			break
		}
		a, b, c := x[lo], x[lo+(hi-lo)/2], x[hi]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := lo, hi
		for i <= j {
			for i < hi && x[i] < pivot {
				i++
			}
			for j > lo && x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			hi = j
		case n >= i:
			lo = i
		default:
			return
		}
	}
	slices.Sort(x[lo : hi+1])
}

// Finite says that x is neither NaN nor infinite.
func Finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
