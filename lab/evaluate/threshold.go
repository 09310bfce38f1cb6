package evaluate

import (
	"fmt"
	"math"

	"github.com/voicescreen/voicescreen/internal/stats"
)

// BandWithin chooses the two thresholds of [Band] that leave at most the share
// budget of the recordings undecided and make the mean of sensitivity and
// specificity among the others largest; of equals the narrowest, then the
// lowest band. Thresholds lie half-way between scores. With a budget of 0, or
// where no band does better than a single threshold, low is high.
//
// It is an error if a class is empty, a score is not a number, or budget is not
// from 0 to below 1. The time grows with the number of scores times those in
// the budget.
func BandWithin(scores []float64, positive []bool, budget float64) (low, high float64, err error) {
	if !(budget >= 0 && budget < 1) {
		return 0, 0, fmt.Errorf("evaluate: budget is %v, want 0 to below 1", budget)
	}
	g, err := newGrid(scores, positive)
	if err != nil {
		return 0, 0, err
	}
	// 0.29·100 is a little less than 29: what rounding takes away is given back.
	most := int(math.Floor(budget*float64(len(scores)) + 1e-9))
	best, bi, bj := -1.0, 0, 0
	for i := range g.cut {
		for j := i; j < len(g.cut); j++ {
			undecided := g.below[1][j] + g.below[0][j] - g.below[1][i] - g.below[0][i]
			if undecided > most {
				break
			}
			called := g.total(1) - g.below[1][j] // positives above high
			missed := g.below[1][i]
			right := g.below[0][i] // negatives below low
			alarms := g.total(0) - g.below[0][j]
			if called+missed == 0 || right+alarms == 0 {
				continue
			}
			v := (share(called, called+missed) + share(right, right+alarms)) / 2
			if v > best+epsilon || v > best-epsilon && j-i < bj-bi {
				best, bi, bj = max(v, best), i, j
			}
		}
	}
	return g.cut[bi], g.cut[bj], nil
}

// epsilon is below the smallest difference between two values of a mean of two
// shares of up to a million recordings.
const epsilon = 1e-12

// ForSensitivity returns the highest threshold below which there is at most the
// share 1 − sensitivity of the positives.
func ForSensitivity(scores []float64, positive []bool, sensitivity float64) (float64, error) {
	g, err := newGrid(scores, positive)
	if err != nil {
		return 0, err
	}
	if !(sensitivity > 0 && sensitivity <= 1) {
		return 0, fmt.Errorf("evaluate: sensitivity is %v, want above 0 to 1", sensitivity)
	}
	for i := len(g.cut) - 1; ; i-- { // the first cut has nothing below it
		if share(g.total(1)-g.below[1][i], g.total(1)) >= sensitivity {
			return g.cut[i], nil
		}
	}
}

// ForSpecificity returns the lowest threshold from which on there is at most the
// share 1 − specificity of the negatives.
func ForSpecificity(scores []float64, positive []bool, specificity float64) (float64, error) {
	g, err := newGrid(scores, positive)
	if err != nil {
		return 0, err
	}
	if !(specificity > 0 && specificity <= 1) {
		return 0, fmt.Errorf("evaluate: specificity is %v, want above 0 to 1", specificity)
	}
	for i := 0; ; i++ { // the last cut has nothing above it
		if share(g.below[0][i], g.total(0)) >= specificity {
			return g.cut[i], nil
		}
	}
}

func share(k, n int) float64 { return float64(k) / float64(n) }

// grid holds every place where a threshold can lie.
type grid struct {
	cut   []float64 // ascending, below all scores to above all
	below [2][]int  // negatives and positives below each cut
}

func (g *grid) total(class int) int { return g.below[class][len(g.cut)-1] }

func newGrid(scores []float64, positive []bool) (*grid, error) {
	p, n, ok := stats.CountClasses(scores, positive)
	if !ok && p+n == len(scores) {
		return nil, fmt.Errorf("evaluate: %d positives and %d negatives, want both", p, n)
	}
	if !ok {
		return nil, fmt.Errorf("evaluate: a score is not a number")
	}
	order := stats.Descending(scores)
	g := &grid{}
	var below [2]int
	previous := math.Inf(-1)
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		if s := scores[i]; s != previous {
			g.add(between(previous, s), below)
			previous = s
		}
		below[stats.Indicator(positive[i])]++
	}
	g.add(math.Nextafter(previous, math.Inf(1)), below)
	return g, nil
}

func (g *grid) add(cut float64, below [2]int) {
	g.cut = append(g.cut, cut)
	for c := range below {
		g.below[c] = append(g.below[c], below[c])
	}
}

// between is a threshold that parts a from b, a < b: b counts as above it.
func between(a, b float64) float64 {
	if m := a + (b-a)/2; m > a && !math.IsInf(a, 0) {
		return m
	}
	return b
}

// Objective is what ordinal thresholds are chosen by.
type Objective uint8

const (
	LeastError   Objective = iota + 1 // least mean absolute error of the class numbers
	BestMacroF1                       // largest mean F1 of the classes
	BestAccuracy                      // largest share of right classes
)

var objectiveNames = []string{"mae", "macro-f1", "accuracy"}

func (o Objective) String() string {
	if o == 0 || int(o) > len(objectiveNames) {
		return fmt.Sprintf("Objective(%d)", uint8(o))
	}
	return objectiveNames[o-1]
}

// UnmarshalText reads "mae", "macro-f1" or "accuracy".
func (o *Objective) UnmarshalText(b []byte) error {
	for i, name := range objectiveNames {
		if string(b) == name {
			*o = Objective(i + 1)
			return nil
		}
	}
	return fmt.Errorf("evaluate: unknown objective %q, want mae, macro-f1 or accuracy", b)
}
