package evaluate

import (
	"math"

	"github.com/voicescreen/voicescreen/internal/stats"
)

// z95 is the 97.5th percentile of the normal distribution.
const z95 = 1.959963984540054

// A Share is a count of a number of recordings, with its 95 % interval.
type Share struct {
	K, N      int
	Value     float64 // K/N, NaN if N is 0
	Low, High float64
}

// NewShare returns k of n with the score interval of Wilson (1927, "Probable
// inference, the law of succession, and statistical inference"), which holds
// its level for small n and shares near 0 and 1.
func NewShare(k, n int) Share {
	s := Share{K: k, N: n, Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if n == 0 {
		return s
	}
	p, m, z2 := float64(k)/float64(n), float64(n), z95*z95
	mid := (p + z2/(2*m)) / (1 + z2/m)
	half := z95 / (1 + z2/m) * math.Sqrt(p*(1-p)/m+z2/(4*m*m))
	s.Value, s.Low, s.High = p, max(mid-half, 0), min(mid+half, 1)
	return s
}

// Decisions counts how decisions meet the labels.
type Decisions struct {
	Sensitivity Share // decided positives that are called positive
	Specificity Share // decided negatives that are called negative
	PPV         Share // of those called positive
	NPV         Share // of those called negative
	Undecided   Share // of all
}

// Band measures a rule with two thresholds: a score below low is negative,
// above high positive, and between them, the bounds included, undecided. Low
// may equal high; then only a score of just that is undecided. For a single
// threshold t, at and above which a score is positive, see [Single]. Scores
// that are NaN are undecided.
func Band(scores []float64, positive []bool, low, high float64) Decisions {
	return decisions(scores, positive, func(s float64) int {
		switch {
		case s < low:
			return -1
		case s > high:
			return 1
		}
		return 0
	})
}

// Single measures a rule with one threshold: a score of t or more is positive.
func Single(scores []float64, positive []bool, t float64) Decisions {
	return decisions(scores, positive, func(s float64) int {
		switch {
		case s < t:
			return -1
		case s >= t:
			return 1
		}
		return 0
	})
}

func decisions(scores []float64, positive []bool, rule func(float64) int) Decisions {
	stats.CountClasses(scores, positive) // for its check of lengths
	var tp, fn, tn, fp, none int
	for i, s := range scores {
		switch call := rule(s); {
		case call == 0:
			none++
		case call > 0 && positive[i]:
			tp++
		case call > 0:
			fp++
		case positive[i]:
			fn++
		default:
			tn++
		}
	}
	return Decisions{
		Sensitivity: NewShare(tp, tp+fn), Specificity: NewShare(tn, tn+fp),
		PPV: NewShare(tp, tp+fp), NPV: NewShare(tn, tn+fn), Undecided: NewShare(none, len(scores)),
	}
}
