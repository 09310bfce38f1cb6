// Package evaluate has the figures of scores that only the laboratory reports:
// equal error rate, AUC within groups, detection cost, decisions with an
// indeterminate band, ordered classes and the choice of thresholds. The others are
// in package stats.
//
// A score is higher the more it speaks for the positive class. Every function
// wants scores and labels of one length and panics otherwise; none changes
// its arguments. A figure that is not defined, because one class is empty or
// a score is NaN, is NaN.
package evaluate

import (
	"maps"
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/internal/stats"
)

// EER is the equal error rate and its threshold: at the operating point where
// the shares of missed positives and of false alarms are closest, the first
// such from the top, their mean.
func EER(scores []float64, positive []bool) (rate, threshold float64) {
	rate, threshold = math.NaN(), math.NaN()
	closest := math.Inf(1)
	for _, p := range stats.ROC(scores, positive) {
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
	for _, g := range slices.Sorted(maps.Keys(byGroup)) {
		s, y := stats.Pick(scores, positive, byGroup[g])
		p, n, ok := stats.CountClasses(s, y)
		if !ok {
			continue
		}
		w := float64(p) * float64(n)
		sum += w * stats.AUC(s, y)
		pairs += w
	}
	return sum / pairs // 0/0 is NaN
}

// EEROf returns the equal error rate as a Statistic.
func EEROf(scores []float64, positive []bool) stats.Statistic {
	return func(index []int) float64 {
		rate, _ := EER(stats.Pick(scores, positive, index))
		return rate
	}
}

// WithinAUCOf returns the AUC within groups as a Statistic.
func WithinAUCOf(scores []float64, positive []bool, group []string) stats.Statistic {
	return func(index []int) float64 {
		s, y := stats.Pick(scores, positive, index)
		g := make([]string, len(index))
		for k, i := range index {
			g[k] = group[i]
		}
		return WithinAUC(s, y, g)
	}
}
