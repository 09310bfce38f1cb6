// Package evaluate measures how well scores tell two classes apart, with
// intervals: equal error rate, area under the ROC curve, calibration, and
// bootstraps by recording and by cluster.
//
// A score is higher the more it speaks for the positive class. Every function
// wants scores and labels of one length and panics otherwise; none changes
// its arguments. A figure that is not defined, because one class is empty or
// a score is NaN, is NaN.
package evaluate

import (
	"cmp"
	"math"
	"slices"
)

// usable says that every score is a number and counts the classes.
func usable(scores []float64, positive []bool) (p, n int, ok bool) {
	if len(scores) != len(positive) {
		panic("evaluate: scores and labels differ in length")
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

// descending returns the indices of the scores, the highest first.
func descending(scores []float64) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}

// A Point is an operating point: a score of Threshold or more counts as
// positive.
type Point struct {
	Threshold     float64 // +Inf at the point where nothing is positive
	FalsePositive float64 // share of the negatives that count as positive
	TruePositive  float64 // share of the positives that count as positive
}

// ROC returns every operating point, from nothing positive to everything
// positive. Equal scores change class together. It is nil if undefined.
func ROC(scores []float64, positive []bool) []Point {
	p, n, ok := usable(scores, positive)
	if !ok {
		return nil
	}
	order := descending(scores)
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

// AUC is the area under the ROC curve: the probability that a random positive
// scores higher than a random negative, ties counting half (Mann and Whitney
// 1947).
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

// EER is the equal error rate and its threshold: at the operating point where
// the shares of missed positives and of false alarms are closest, the first
// such from the top, their mean.
func EER(scores []float64, positive []bool) (rate, threshold float64) {
	rate, threshold = math.NaN(), math.NaN()
	closest := math.Inf(1)
	for _, p := range ROC(scores, positive) {
		miss := 1 - p.TruePositive
		if d := math.Abs(miss - p.FalsePositive); d < closest {
			closest, rate, threshold = d, (miss+p.FalsePositive)/2, p.Threshold
		}
	}
	return rate, threshold
}

// WithinAUC is the AUC over the pairs of a positive and a negative of one
// group, such as the recordings of one source: what the recording chains
// differ in between groups cannot help there. Each group that has both classes
// counts by its number of pairs. It is NaN if no group has.
func WithinAUC(scores []float64, positive []bool, group []string) float64 {
	if len(group) != len(scores) {
		panic("evaluate: scores and groups differ in length")
	}
	byGroup := map[string][]int{}
	for i, g := range group {
		byGroup[g] = append(byGroup[g], i)
	}
	var sum, pairs float64
	for _, g := range sortedKeys(byGroup) {
		s, y := pick(scores, positive, byGroup[g])
		p, n, ok := usable(s, y)
		if !ok {
			continue
		}
		w := float64(p) * float64(n)
		sum += w * AUC(s, y)
		pairs += w
	}
	return sum / pairs // 0/0 is NaN
}

func pick(scores []float64, positive []bool, index []int) ([]float64, []bool) {
	s, y := make([]float64, len(index)), make([]bool, len(index))
	for k, i := range index {
		s[k], y[k] = scores[i], positive[i]
	}
	return s, y
}

func sortedKeys(m map[string][]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
