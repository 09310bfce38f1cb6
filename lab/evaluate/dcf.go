package evaluate

import (
	"math"

	"github.com/voicescreen/voicescreen/internal/stats"
)

// Cost is what the two errors cost and how often positives come.
type Cost struct {
	Prior      float64 // share of positives, 0 < Prior < 1
	Miss       float64 // cost of a positive that counts as negative
	FalseAlarm float64 // cost of a negative that counts as positive
}

// SpoofingCost is the operating point of ASVspoof 5 (Wang et al. 2024, "ASVspoof
// 5: crowdsourced speech data, deepfakes, and adversarial attacks at scale",
// section 4): fakes are one in twenty, and one that passes costs ten times
// what a genuine voice costs that is refused.
var SpoofingCost = Cost{Prior: 0.05, Miss: 10, FalseAlarm: 1}

// MinDCF is the normalised minimum of the detection cost function over all
// operating points (Martin and Przybocki 2000):
//
//	min over t of (Miss·Prior·P_miss(t) + FalseAlarm·(1 − Prior)·P_fa(t)) / D
//
// where D is the cost of the better of the two decisions that do not listen.
// 0 is perfect, 1 no better than not listening.
func MinDCF(scores []float64, positive []bool, c Cost) float64 {
	miss, alarm := c.Miss*c.Prior, c.FalseAlarm*(1-c.Prior)
	least := math.NaN()
	for _, p := range stats.ROC(scores, positive) {
		d := miss*(1-p.TruePositive) + alarm*p.FalsePositive
		if !(d >= least) { // also where least is NaN
			least = d
		}
	}
	return least / min(miss, alarm)
}

// MinDCFOf returns MinDCF as a Statistic.
func MinDCFOf(scores []float64, positive []bool, c Cost) stats.Statistic {
	return func(index []int) float64 {
		s, y := stats.Pick(scores, positive, index)
		return MinDCF(s, y, c)
	}
}
