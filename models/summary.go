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
	return percentileSorted(slices.Sorted(slices.Values(x)), p)
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
