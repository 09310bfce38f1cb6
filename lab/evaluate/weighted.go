package evaluate

import (
	"cmp"
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/internal/stats"
)

// WeightedAUC is the area under the ROC curve where row i counts as weight[i] rows,
// as for the sources of a sample of unequal sizes. Weights are at least 0.
func WeightedAUC(scores []float64, positive []bool, weight []float64) float64 {
	var below, area float64 // weight of the negatives below the current score
	var total [2]float64
	for ties := range tiesAscending(scores, positive, weight) {
		area += ties[1] * (below + ties[0]/2)
		below += ties[0]
		total[0] += ties[0]
		total[1] += ties[1]
	}
	return area / (total[0] * total[1]) // 0/0 is NaN
}

// WeightedEER is the equal error rate with weights as in [WeightedAUC]: the mean
// of both shares of errors at the threshold where they are closest.
func WeightedEER(scores []float64, positive []bool, weight []float64) float64 {
	var total, below [2]float64
	for ties := range tiesAscending(scores, positive, weight) {
		total[0] += ties[0]
		total[1] += ties[1]
	}
	rate, closest := math.NaN(), math.Inf(1)
	look := func() {
		miss, alarm := below[1]/total[1], 1-below[0]/total[0]
		if d := math.Abs(miss - alarm); d < closest {
			closest, rate = d, (miss+alarm)/2
		}
	}
	look()
	for ties := range tiesAscending(scores, positive, weight) {
		below[0] += ties[0]
		below[1] += ties[1]
		look()
	}
	return rate
}

// tiesAscending yields, for each score that occurs, from the lowest on, the weight
// of the negatives and of the positives that have it: nothing if a score is NaN.
func tiesAscending(scores []float64, positive []bool, weight []float64) func(yield func([2]float64) bool) {
	if len(scores) != len(positive) || len(scores) != len(weight) {
		panic("evaluate: scores, labels and weights differ in length")
	}
	return func(yield func([2]float64) bool) {
		if slices.ContainsFunc(scores, math.IsNaN) {
			return
		}
		order := stats.Indices(len(scores))
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(scores[i], scores[j]) })
		for k := 0; k < len(order); {
			var ties [2]float64
			at := scores[order[k]]
			for ; k < len(order) && scores[order[k]] == at; k++ {
				ties[stats.Indicator(positive[order[k]])] += weight[order[k]]
			}
			if !yield(ties) {
				return
			}
		}
	}
}

// WeightedECE is the expected calibration error of probabilities over equally wide
// bins, with weights as in [WeightedAUC]: the mean distance between the mean
// probability of a bin and its share of positives (Naeini, Cooper and Hauskrecht,
// AAAI 2015).
func WeightedECE(probability []float64, positive []bool, weight []float64, bins int) float64 {
	stats.CountClasses(probability, positive) // for its check of lengths
	p, y := make([]float64, bins), make([]float64, bins)
	var total float64
	for i, v := range probability {
		if math.IsNaN(v) {
			return math.NaN()
		}
		b := min(max(int(v*float64(bins)), 0), bins-1)
		p[b] += weight[i] * v
		if positive[i] {
			y[b] += weight[i]
		}
		total += weight[i]
	}
	var sum float64
	for b := range p {
		sum += math.Abs(p[b] - y[b])
	}
	return sum / total
}
