package evaluate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/evaluate"
)

// tolerance is what the order of a thousand additions may make.
const tolerance = 1e-12

func near(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tolerance
}

func labels(s string) []bool {
	y := make([]bool, len(s))
	for i := range s {
		y[i] = s[i] == '1'
	}
	return y
}

func TestHandComputed(t *testing.T) {
	nan := math.NaN()
	cases := []struct {
		name      string
		scores    []float64
		labels    string
		auc, eer  float64
		threshold float64
	}{
		{"apart", []float64{4, 3, 2, 1}, "1100", 1, 0, 3},
		{"the wrong way round", []float64{1, 2, 3, 4}, "1100", 0, 1, 3},
		{"one pair of four wrong", []float64{4, 3, 2, 1}, "1010", 0.75, 0.5, 3},
		{"all tied", []float64{1, 1, 1, 1}, "1010", 0.5, 0.5, math.Inf(1)},
		{"one tie across", []float64{3, 2, 2, 1}, "1100", 0.875, 0.25, 3}, // two equal points: the first counts
		{"one class", []float64{1, 2}, "11", nan, nan, nan},
		{"nothing", nil, "", nan, nan, nan},
		{"a score is NaN", []float64{1, nan}, "10", nan, nan, nan},
	}
	for _, c := range cases {
		y := labels(c.labels)
		if got := stats.AUC(c.scores, y); !near(got, c.auc) {
			t.Errorf("%s: got AUC %v, want %v", c.name, got, c.auc)
		}
		rate, threshold := evaluate.EER(c.scores, y)
		if !near(rate, c.eer) || threshold != c.threshold && !near(threshold, c.threshold) {
			t.Errorf("%s: got EER %v at %v, want %v at %v", c.name, rate, threshold, c.eer, c.threshold)
		}
	}
}

// TestClustersWiden repeats every recording ten times: by recordings the
// interval shrinks, by clusters it stays.
func TestClustersWiden(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var scores []float64
	var y []bool
	var cluster []string
	for c := range 30 {
		s := rng.NormFloat64() + float64(c%2)
		for range 10 {
			scores, y, cluster = append(scores, s), append(y, c%2 == 1), append(cluster, string(rune('A'+c)))
		}
	}
	a := stats.Bootstrap(y, 0.95, 300, 1, stats.AUCOf(scores, y))
	b := stats.BootstrapClusters(y, cluster, 0.95, 300, 1, stats.AUCOf(scores, y))
	if !(b.High-b.Low > 2*(a.High-a.Low)) {
		t.Errorf("got %v by recordings, %v by clusters, want the latter more than twice as wide", a, b)
	}
	if again := stats.BootstrapClusters(y, cluster, 0.95, 300, 1, stats.AUCOf(scores, y)); again != b {
		t.Errorf("got %v, then %v from one seed", b, again)
	}
	e := stats.Bootstrap(y, 0.95, 300, 1, evaluate.EEROf(scores, y))
	if rate, _ := evaluate.EER(scores, y); !(e.Low <= rate && rate <= e.High) {
		t.Errorf("got EER %v outside %v", rate, e)
	}
	w := stats.Bootstrap(y, 0.95, 100, 1, stats.WithinAUCOf(scores, y, make([]string, len(y))))
	if auc := stats.AUC(scores, y); !(w.Low <= auc && auc <= w.High) {
		t.Errorf("got %v outside %v: one group must give the plain AUC", auc, w)
	}
}
