// Package evaluate has the figures of scores that only the laboratory reports:
// equal error rate, detection cost, decisions with an indeterminate band, ordered classes and the choice of thresholds. The others are
// in package stats.
//
// A score is higher the more it speaks for the positive class. Every function
// wants scores and labels of one length and panics otherwise; none changes
// its arguments. A figure that is not defined, because one class is empty or
// a score is NaN, is NaN.
package evaluate

import (
	"math"

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

// EEROf returns the equal error rate as a Statistic.
func EEROf(scores []float64, positive []bool) stats.Statistic {
	return func(index []int) float64 {
		rate, _ := EER(stats.Pick(scores, positive, index))
		return rate
	}
}
