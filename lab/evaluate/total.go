package evaluate

import "math"

// Totals measures predictions of a score, such as the sum of a questionnaire.
type Totals struct {
	N    int
	RMSE float64 // root of the mean squared error
	MAE  float64 // mean absolute error
	CCC  float64 // concordance correlation (Lin 1989); 0 if only one varies, or neither and they differ; NaN if they are one constant
}

// NewTotals compares predictions with the truth. It panics if the lengths
// differ; without any, every figure is NaN.
func NewTotals(truth, predicted []float64) Totals {
	if len(truth) != len(predicted) {
		panic("evaluate: truth and prediction differ in length")
	}
	n := float64(len(truth))
	var square, absolute, mt, mp float64
	for i, t := range truth {
		d := predicted[i] - t
		square += d * d
		absolute += math.Abs(d)
		mt += t
		mp += predicted[i]
	}
	mt, mp = mt/n, mp/n
	var vt, vp, both float64
	for i, t := range truth {
		vt += (t - mt) * (t - mt)
		vp += (predicted[i] - mp) * (predicted[i] - mp)
		both += (t - mt) * (predicted[i] - mp)
	}
	return Totals{N: len(truth), RMSE: math.Sqrt(square / n), MAE: absolute / n, CCC: 2 * both / (vt + vp + n*(mt-mp)*(mt-mp))}
}
