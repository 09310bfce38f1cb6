package evaluate

import (
	"fmt"
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/internal/stats"
)

// Cuts chooses k − 1 ascending thresholds between k ordered classes, numbered
// from 0: a score belongs to class c if it is at least the c-th threshold,
// counted from 1, and below the next. Of all placings it returns one that is
// best by the objective on these recordings, by dynamic programming over the
// ordered scores: each objective is a sum over the classes of a gain that
// depends only on which run of the scores the class is given,
//
//	F(c, j) = max over i ≤ j of F(c − 1, i) + gain(c, i, j)
//
// For the mean absolute error and the accuracy the gain of a run is a
// difference of prefix sums, and the time grows with k·n; for macro F1,
//
//	gain(c, i, j) = 2·|class c in the run| / (|run| + |class c|)
//
// with k·n². A class may be given no score: then two thresholds are equal.
//
// It is an error if a class number is outside, a score is not a number, a
// class does not occur, or k < 2.
func Cuts(scores []float64, truth []int, k int, by Objective) ([]float64, error) {
	r, err := newRuns(scores, truth, k)
	if err != nil {
		return nil, err
	}
	var gain func(c, i, j int) float64
	switch by {
	case LeastError, BestAccuracy:
		sums := r.prefix(k, by)
		gain = func(c, i, j int) float64 { return sums[c][j] - sums[c][i] }
	case BestMacroF1:
		gain = func(c, i, j int) float64 {
			hits := r.count[c][j] - r.count[c][i]
			return 2 * float64(hits) / float64(r.size[j]-r.size[i]+r.count[c][r.m])
		}
	default:
		return nil, fmt.Errorf("evaluate: %v is no objective", by)
	}
	if by == BestMacroF1 {
		return r.cuts(k, gain, r.scan), nil
	}
	return r.cuts(k, gain, r.sweep), nil
}

// runs is recordings ordered by score, those of one score together.
type runs struct {
	m     int       // distinct scores
	value []float64 // ascending, length m
	size  []int     // recordings below value[i]; length m + 1
	count [][]int   // the same of each class
}

func newRuns(scores []float64, truth []int, k int) (*runs, error) {
	if len(scores) != len(truth) {
		panic("evaluate: scores and classes differ in length")
	}
	if k < 2 {
		return nil, fmt.Errorf("evaluate: %d classes, want 2 or more", k)
	}
	r := &runs{count: make([][]int, k)}
	sum := make([]int, k)
	order := stats.Descending(scores)
	slices.Reverse(order)
	for n, i := range order {
		if math.IsNaN(scores[i]) {
			return nil, fmt.Errorf("evaluate: score %d is not a number", i)
		}
		if truth[i] < 0 || truth[i] >= k {
			return nil, fmt.Errorf("evaluate: class %d is %d, want 0 to %d", i, truth[i], k-1)
		}
		if r.m == 0 || scores[i] != r.value[r.m-1] {
			r.m++
			r.value = append(r.value, scores[i])
			r.size = append(r.size, n)
			for c := range sum {
				r.count[c] = append(r.count[c], sum[c])
			}
		}
		sum[truth[i]]++
	}
	r.size = append(r.size, len(scores))
	for c := range sum {
		if sum[c] == 0 {
			return nil, fmt.Errorf("evaluate: no recording is of class %d", c)
		}
		r.count[c] = append(r.count[c], sum[c])
	}
	return r, nil
}

// prefix returns for each class c what is gained by calling the first j
// distinct scores c.
func (r *runs) prefix(k int, by Objective) [][]float64 {
	sums := make([][]float64, k)
	for c := range sums {
		sums[c] = make([]float64, r.m+1)
		for j := 1; j <= r.m; j++ {
			g := 0.0
			for t := range k {
				n := float64(r.count[t][j] - r.count[t][j-1])
				switch {
				case by == LeastError:
					g -= n * math.Abs(float64(t-c))
				case t == c:
					g += n
				}
			}
			sums[c][j] = sums[c][j-1] + g
		}
	}
	return sums
}

// A step fills best[j] with the largest former[i] + gain(i, j) over i ≤ j, and
// from[j] with that i.
type step func(former []float64, gain func(i, j int) float64, best []float64, from []int)

// scan tries every i.
func (r *runs) scan(former []float64, gain func(i, j int) float64, best []float64, from []int) {
	for j := range best {
		best[j] = math.Inf(-1)
		for i := range j + 1 {
			if v := former[i] + gain(i, j); v > best[j] {
				best[j], from[j] = v, i
			}
		}
	}
}

// sweep is scan for a gain that is a difference of prefix sums: the i that is
// best for j is best for j + 1 too, or j + 1 is.
func (r *runs) sweep(former []float64, gain func(i, j int) float64, best []float64, from []int) {
	i := 0
	for j := range best {
		if former[j] > former[i]+gain(i, j) {
			i = j
		}
		best[j], from[j] = former[i]+gain(i, j), i
	}
}

func (r *runs) cuts(k int, gain func(c, i, j int) float64, next step) []float64 {
	former := make([]float64, r.m+1)
	for j := range former {
		former[j] = gain(0, 0, j)
	}
	from := make([][]int, k)
	for c := 1; c < k; c++ {
		best := make([]float64, r.m+1)
		from[c] = make([]int, r.m+1)
		next(former, func(i, j int) float64 { return gain(c, i, j) }, best, from[c])
		former = best
	}
	cuts := make([]float64, k-1)
	j := r.m
	for c := k - 1; c > 0; c-- {
		j = from[c][j]
		cuts[c-1] = r.cut(j)
	}
	return cuts
}

// cut is a threshold with j distinct scores below it.
func (r *runs) cut(j int) float64 {
	switch j {
	case 0:
		return r.value[0]
	case r.m:
		return math.Nextafter(r.value[r.m-1], math.Inf(1))
	}
	return between(r.value[j-1], r.value[j])
}
