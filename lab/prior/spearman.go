package prior

import (
	"cmp"
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/internal/stats"
)

// spearman is the correlation of the ranks of the pairs without NaN, 0 if
// there are fewer than three or one side is constant.
func spearman(a, b []float64) float64 {
	var x, y []float64
	for i := range a {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			x, y = append(x, a[i]), append(y, b[i])
		}
	}
	if len(x) < 3 {
		return 0
	}
	rx, ry := ranks(x), ranks(y)
	var sxy, sxx, syy float64
	m := float64(len(x)-1) / 2 // mean of the ranks from 0 on
	for i := range rx {
		sxy += (rx[i] - m) * (ry[i] - m)
		sxx += (rx[i] - m) * (rx[i] - m)
		syy += (ry[i] - m) * (ry[i] - m)
	}
	if sxx == 0 || syy == 0 {
		return 0
	}
	return sxy / math.Sqrt(sxx*syy)
}

// ranks returns the ranks from 0 on; equal values share their mean rank.
func ranks(x []float64) []float64 {
	order := stats.Indices(len(x))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	r := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			r[order[k]] = float64(i+j-1) / 2
		}
		i = j
	}
	return r
}
