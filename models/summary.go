package models

import (
	"math"
	"slices"
)

// mean is the arithmetic mean of x, NaN if x is empty.
func mean(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	var s float64
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}

// sd is the sample standard deviation of x (divisor n − 1), NaN for fewer
// than two values.
func sd(x []float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	m := mean(x)
	var s float64
	for _, v := range x {
		s += (v - m) * (v - m)
	}
	return math.Sqrt(s / float64(len(x)-1))
}

// percentile is the p-th percentile of x, 0 ≤ p ≤ 100, by linear
// interpolation between the order statistics: definition 7 of Hyndman and Fan
// (1996), "Sample quantiles in statistical packages". It is NaN if x is empty.
// x keeps its order.
func percentile(x []float64, p float64) float64 {
	return percentileOf(slices.Clone(x), p)
}

// percentileOf is percentile of x, whose order it changes: it puts only the two
// order statistics that are needed in their places.
func percentileOf(x []float64, p float64) float64 {
	if slices.ContainsFunc(x, math.IsNaN) {
		slices.Sort(x) // NaN first
		return percentileSorted(x, p)
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
	return percentileSorted(x, p)
}

// selectRounds bounds the partitions of selectNth, after which it sorts what is
// left: chosen, four times what a million values need on average.
const selectRounds = 80

// selectNth reorders x so that x[n] is as if x were sorted, nothing before it
// is greater and nothing after it less; x has no NaN (C. A. R. Hoare, "Algorithm 65: Find",
// Comm. ACM 4, 1961, with the median of three as the pivot).
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

// percentileSorted is percentile for ascending x.
func percentileSorted(x []float64, p float64) float64 {
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

// slope is the least-squares slope of y against its index, NaN for fewer than
// two values.
func slope(y []float64) float64 {
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

// finite says that x is neither NaN nor infinite.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
