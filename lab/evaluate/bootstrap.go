package evaluate

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Statistic is computed from the recordings with the given indices, of which
// some may come up several times.
type Statistic func(index []int) float64

// Interval is a percentile bootstrap interval (Efron 1979).
type Interval struct{ Low, High float64 }

// Resamples is how many bootstrap resamples are usual: 1,000 leave an error of
// the 2.5 % bound of about a tenth of the interval.
const Resamples = 1000

// Bootstrap returns the interval that holds the share level of a statistic
// over resamples of the recordings, drawn with replacement within each class.
// Equal seeds give equal intervals. Resamples of which the statistic is NaN
// are left out.
func Bootstrap(positive []bool, level float64, resamples int, seed uint64, stat Statistic) Interval {
	clusters := make([][]int, len(positive))
	for i := range positive {
		clusters[i] = []int{i}
	}
	return bootstrap(positive, clusters, level, resamples, seed, stat)
}

// BootstrapClusters is Bootstrap over whole clusters, such as the recordings
// of one system at one source: recordings of one cluster resemble each other,
// and an interval by recordings would be too narrow. A cluster counts to the
// class of its first recording.
func BootstrapClusters(positive []bool, cluster []string, level float64, resamples int, seed uint64, stat Statistic) Interval {
	if len(cluster) != len(positive) {
		panic("evaluate: clusters and labels differ in length")
	}
	index := map[string][]int{}
	for i, c := range cluster {
		index[c] = append(index[c], i)
	}
	clusters := make([][]int, 0, len(index))
	for _, c := range sortedKeys(index) {
		clusters = append(clusters, index[c])
	}
	return bootstrap(positive, clusters, level, resamples, seed, stat)
}

func bootstrap(positive []bool, clusters [][]int, level float64, resamples int, seed uint64, stat Statistic) Interval {
	var classes [2][][]int
	for _, c := range clusters {
		k := 0
		if positive[c[0]] {
			k = 1
		}
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
	return Interval{Quantile(values, (1-level)/2), Quantile(values, (1+level)/2)}
}

// Quantile is the p-quantile of ascending x, 0 ≤ p ≤ 1, by linear interpolation
// between the order statistics: definition 7 of Hyndman and Fan (1996), "Sample
// quantiles in statistical packages". It is NaN if x is empty.
func Quantile(x []float64, p float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	h := float64(len(x)-1) * p
	i := int(h)
	if i+1 >= len(x) {
		return x[len(x)-1]
	}
	return x[i] + (h-float64(i))*(x[i+1]-x[i])
}

// AUCOf returns the AUC as a Statistic.
func AUCOf(scores []float64, positive []bool) Statistic {
	return func(index []int) float64 { return AUC(pick(scores, positive, index)) }
}

// EEROf returns the equal error rate as a Statistic.
func EEROf(scores []float64, positive []bool) Statistic {
	return func(index []int) float64 {
		rate, _ := EER(pick(scores, positive, index))
		return rate
	}
}

// WithinAUCOf returns the AUC within groups as a Statistic.
func WithinAUCOf(scores []float64, positive []bool, group []string) Statistic {
	return func(index []int) float64 {
		s, y := pick(scores, positive, index)
		g := make([]string, len(index))
		for k, i := range index {
			g[k] = group[i]
		}
		return WithinAUC(s, y, g)
	}
}

// BrierOf returns the Brier score as a Statistic.
func BrierOf(probability []float64, positive []bool) Statistic {
	return func(index []int) float64 { return Brier(pick(probability, positive, index)) }
}

// ECEOf returns the expected calibration error as a Statistic. Of resamples it
// is biased upwards: with few recordings its interval may lie above the figure.
func ECEOf(probability []float64, positive []bool, bins int) Statistic {
	return func(index []int) float64 {
		p, y := pick(probability, positive, index)
		return ECE(p, y, bins)
	}
}
