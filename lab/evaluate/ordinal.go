package evaluate

import "math"

// Classes measures predictions of ordered classes.
type Classes struct {
	Confusion [][]int // [true][predicted]
	N         int
	Accuracy  float64
	MAE       float64 // mean absolute difference of the class numbers
	MacroF1   float64 // mean over the classes that occur in truth or prediction
	Kappa     float64 // quadratic weighted kappa (Cohen 1968); NaN if truth and prediction are one class
}

// NewClasses compares predicted with true classes, which are numbered from 0 to
// k − 1. It panics if the lengths differ or a number is outside. Without
// recordings every figure is NaN.
func NewClasses(truth, predicted []int, k int) Classes {
	if len(truth) != len(predicted) {
		panic("evaluate: truth and prediction differ in length")
	}
	c := Classes{N: len(truth), Confusion: make([][]int, k)}
	for i := range c.Confusion {
		c.Confusion[i] = make([]int, k)
	}
	rows, cols := make([]float64, k), make([]float64, k)
	n := float64(len(truth))
	var hits, distance float64
	for i, t := range truth {
		p := predicted[i]
		c.Confusion[t][p]++
		rows[t]++
		cols[p]++
		distance += math.Abs(float64(t - p))
		if t == p {
			hits++
		}
	}
	c.Accuracy, c.MAE = hits/n, distance/n // 0/0 is NaN
	var f1, seen, observed, expected float64
	for a := range k {
		if rows[a]+cols[a] > 0 {
			seen++
			f1 += 2 * float64(c.Confusion[a][a]) / (rows[a] + cols[a])
		}
		for b := range k {
			w := float64((a - b) * (a - b))
			observed += w * float64(c.Confusion[a][b])
			expected += w * rows[a] * cols[b] / n
		}
	}
	c.MacroF1, c.Kappa = f1/seen, 1-observed/expected
	return c
}
