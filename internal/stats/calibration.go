package stats

import "math"

// Brier is the mean squared difference between probability and outcome (Brier
// 1950), 0 to 1; NaN without recordings.
func Brier(probability []float64, positive []bool) float64 {
	if len(probability) != len(positive) {
		panic("stats: probabilities and labels differ in length")
	}
	var s float64
	for i, p := range probability {
		d := p - float64(Indicator(positive[i]))
		s += d * d
	}
	return s / float64(len(positive)) // 0/0 is NaN
}

// A Bin is the recordings with a probability in [Low, High), or in [Low, High] for the
// last bin.
type Bin struct {
	Low, High   float64
	N           int     // number of recordings
	Probability float64 // mean; NaN if N is 0
	Positive    float64 // share; NaN if N is 0
}

// Reliability sorts the recordings into bins of equal width over 0 to 1. It panics if a
// probability is outside 0 to 1 or bins is less than 1.
func Reliability(probability []float64, positive []bool, bins int) []Bin {
	if len(probability) != len(positive) {
		panic("stats: probabilities and labels differ in length")
	}
	out := make([]Bin, bins)
	for i, p := range probability {
		b := &out[min(int(p*float64(bins)), bins-1)]
		b.N++
		b.Probability += p
		b.Positive += float64(Indicator(positive[i]))
	}
	for i := range out {
		out[i].Low, out[i].High = float64(i)/float64(bins), float64(i+1)/float64(bins)
		out[i].Probability /= float64(out[i].N) // 0/0 is NaN
		out[i].Positive /= float64(out[i].N)
	}
	return out
}

// ECE is the expected calibration error over bins of equal width: the mean
// over recordings of the difference between mean probability and share of
// positives in their bin (Naeini et al. 2015).
func ECE(probability []float64, positive []bool, bins int) float64 {
	var s float64
	for _, b := range Reliability(probability, positive, bins) {
		if b.N > 0 {
			s += float64(b.N) * math.Abs(b.Probability-b.Positive)
		}
	}
	return s / float64(len(positive)) // 0/0 is NaN
}
