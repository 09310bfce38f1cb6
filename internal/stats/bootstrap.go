package stats

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
)

// A Statistic is computed from the recordings with the given indices. An index may
// occur several times.
type Statistic func(index []int) float64

// Interval is a percentile bootstrap interval (Efron 1979).
type Interval struct{ Low, High float64 }

// Resamples is the usual number of bootstrap resamples. With 1,000 the error of the
// 2.5 % bound is about a tenth of the interval.
const Resamples = 1000

// Bootstrap returns the central interval that contains the share level, 0 to 1, of the
// values of a statistic over resamples of the recordings. Resamples are drawn with
// replacement within each class. Resamples whose statistic is NaN are left out. Equal
// seeds give equal intervals.
func Bootstrap(positive []bool, level float64, resamples int, seed uint64, stat Statistic) Interval {
	clusters := make([][]int, len(positive))
	for i := range positive {
		clusters[i] = []int{i}
	}
	return bootstrap(positive, clusters, level, resamples, seed, stat)
}

// BootstrapClusters is Bootstrap with resamples of whole clusters, such as the recordings
// of one system from one source. Recordings of one cluster resemble each other, so that
// resamples of recordings would give too narrow an interval. A cluster belongs to the
// class of its first recording.
func BootstrapClusters(positive []bool, cluster []string, level float64, resamples int, seed uint64, stat Statistic) Interval {
	if len(cluster) != len(positive) {
		panic("stats: clusters and labels differ in length")
	}
	index := map[string][]int{}
	for i, c := range cluster {
		index[c] = append(index[c], i)
	}
	clusters := make([][]int, 0, len(index))
	for _, c := range slices.Sorted(maps.Keys(index)) {
		clusters = append(clusters, index[c])
	}
	return bootstrap(positive, clusters, level, resamples, seed, stat)
}

func bootstrap(positive []bool, clusters [][]int, level float64, resamples int, seed uint64, stat Statistic) Interval {
	var classes [2][][]int
	for _, c := range clusters {
		k := Indicator(positive[c[0]])
		classes[k] = append(classes[k], c)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	var values []float64
	var index []int
	for range resamples {
		index = index[:0]
		for _, class := range classes {
			for range class {
				index = append(index, class[rng.IntN(len(class))]...)
			}
		}
		if v := stat(index); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return Interval{dsp.PercentileSorted(values, 50*(1-level)), dsp.PercentileSorted(values, 50*(1+level))}
}

// AUCOf returns the AUC as a Statistic, which is not safe for concurrent use. It is NaN
// if a score is NaN. The scores are sorted once; each resample only counts them by rank.
func AUCOf(scores []float64, positive []bool) Statistic {
	if _, _, ok := CountClasses(scores, positive); !ok {
		return func([]int) float64 { return math.NaN() }
	}
	rank := make([]int, len(scores)) // of each score, the highest first; equal ones share it
	ranks := 0
	order := Descending(scores)
	for k, i := range order {
		if k > 0 && scores[i] != scores[order[k-1]] {
			ranks++
		}
		rank[i] = ranks
	}
	count := make([][2]int, ranks+1) // negatives and positives of each rank
	return func(index []int) float64 {
		clear(count)
		var n [2]int
		for _, i := range index {
			count[rank[i]][Indicator(positive[i])]++
			n[Indicator(positive[i])]++
		}
		if n[0] == 0 || n[1] == 0 {
			return math.NaN()
		}
		var area, x, y float64 // under the ROC curve, which has a point for each rank
		var fp, tp int
		for _, c := range count {
			if c == [2]int{} {
				continue
			}
			fp, tp = fp+c[0], tp+c[1]
			nextX, nextY := float64(fp)/float64(n[0]), float64(tp)/float64(n[1])
			area += (nextX - x) * (y + nextY) / 2
			x, y = nextX, nextY
		}
		return area
	}
}

// WithinAUCOf returns the AUC within groups as a Statistic.
func WithinAUCOf[G cmp.Ordered](scores []float64, positive []bool, group []G) Statistic {
	return func(index []int) float64 {
		s, y := Pick(scores, positive, index)
		g := make([]G, len(index))
		for k, i := range index {
			g[k] = group[i]
		}
		return WithinAUC(s, y, g)
	}
}

// BrierOf returns the Brier score as a Statistic.
func BrierOf(probability []float64, positive []bool) Statistic {
	return func(index []int) float64 { return Brier(Pick(probability, positive, index)) }
}

// ECEOf returns the expected calibration error as a Statistic. It is biased upwards in
// resamples: with few recordings the interval may lie above the figure.
func ECEOf(probability []float64, positive []bool, bins int) Statistic {
	return func(index []int) float64 {
		p, y := Pick(probability, positive, index)
		return ECE(p, y, bins)
	}
}
