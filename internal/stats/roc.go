package stats

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// CountClasses returns the numbers p of positives and n of negatives. Ok is false if a
// class is empty. If a score is NaN, ok is false and both counts are 0.
func CountClasses(scores []float64, positive []bool) (p, n int, ok bool) {
	if len(scores) != len(positive) {
		panic("stats: scores and labels differ in length")
	}
	for i, s := range scores {
		if math.IsNaN(s) {
			return 0, 0, false
		}
		if positive[i] {
			p++
		} else {
			n++
		}
	}
	return p, n, p > 0 && n > 0
}

// Descending returns the indices of the scores, the highest score first. The order of
// equal scores is unspecified, but the same in each call.
func Descending(scores []float64) []int {
	order := Indices(len(scores))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}

// A Point is an operating point: scores of at least Threshold count as positive.
type Point struct {
	Threshold     float64 // +Inf if no score counts as positive
	FalsePositive float64 // share of the negatives that count as positive
	TruePositive  float64 // share of the positives that count as positive
}

// ROC returns the operating points in ascending order of positives, from none to all.
// Equal scores share a point. The result is nil if a class is empty or a score is NaN.
func ROC(scores []float64, positive []bool) []Point {
	p, n, ok := CountClasses(scores, positive)
	if !ok {
		return nil
	}
	order := Descending(scores)
	curve := []Point{{Threshold: math.Inf(1)}}
	var tp, fp int
	for k, i := range order {
		if positive[i] {
			tp++
		} else {
			fp++
		}
		if k+1 < len(order) && scores[order[k+1]] == scores[i] {
			continue
		}
		curve = append(curve, Point{scores[i], float64(fp) / float64(n), float64(tp) / float64(p)})
	}
	return curve
}

// AUC returns the area under the ROC curve: the probability that a random positive scores
// higher than a random negative, where a tie counts as one half (Mann and Whitney 1947).
func AUC(scores []float64, positive []bool) float64 {
	curve := ROC(scores, positive)
	if curve == nil {
		return math.NaN()
	}
	var area float64
	for k := 1; k < len(curve); k++ {
		a, b := curve[k-1], curve[k]
		area += (b.FalsePositive - a.FalsePositive) * (a.TruePositive + b.TruePositive) / 2
	}
	return area
}

// WithinAUC is the AUC over the pairs of a positive and a negative of one group, such as
// the recordings of one source, or what one model scored: what differs between groups
// cannot help or hurt there. Each group that has both classes counts by its number of pairs.
// It is NaN if no group has.
func WithinAUC[G cmp.Ordered](scores []float64, positive []bool, group []G) float64 {
	if len(group) != len(scores) {
		panic("stats: scores and groups differ in length")
	}
	byGroup := map[G][]int{}
	for i, g := range group {
		byGroup[g] = append(byGroup[g], i)
	}
	var sum, pairs float64
	for _, g := range slices.Sorted(maps.Keys(byGroup)) {
		s, y := Pick(scores, positive, byGroup[g])
		p, n, ok := CountClasses(s, y)
		if !ok {
			continue
		}
		w := float64(p) * float64(n)
		sum += w * AUC(s, y)
		pairs += w
	}
	return sum / pairs // 0/0 is NaN
}

// Pick returns the scores and labels with the given indices, as copies.
func Pick(scores []float64, positive []bool, index []int) ([]float64, []bool) {
	s, y := make([]float64, len(index)), make([]bool, len(index))
	for k, i := range index {
		s[k], y[k] = scores[i], positive[i]
	}
	return s, y
}
