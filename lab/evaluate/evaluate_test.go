package evaluate_test

import (
	"math"
	"math/rand/v2"
	"testing"

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
		if got := evaluate.AUC(c.scores, y); !near(got, c.auc) {
			t.Errorf("%s: got AUC %v, want %v", c.name, got, c.auc)
		}
		rate, threshold := evaluate.EER(c.scores, y)
		if !near(rate, c.eer) || threshold != c.threshold && !near(threshold, c.threshold) {
			t.Errorf("%s: got EER %v at %v, want %v at %v", c.name, rate, threshold, c.eer, c.threshold)
		}
	}
}

// TestAUCEqualsItsDefinition counts the pairs, with many ties among them.
func TestAUCEqualsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		n := 2 + rng.IntN(60)
		scores, y := make([]float64, n), make([]bool, n)
		for i := range scores {
			scores[i], y[i] = float64(rng.IntN(12)), rng.IntN(3) == 0
		}
		y[0], y[1] = true, false
		var won, pairs float64
		for i := range scores {
			for j := range scores {
				if !y[i] || y[j] {
					continue
				}
				pairs++
				if scores[i] > scores[j] {
					won++
				} else if scores[i] == scores[j] {
					won += 0.5
				}
			}
		}
		if got := evaluate.AUC(scores, y); !near(got, won/pairs) {
			t.Fatalf("got %v, want %v", got, won/pairs)
		}
		for _, p := range evaluate.ROC(scores, y) {
			var tp, fp, np float64
			for i, s := range scores {
				if y[i] {
					np++
				}
				if s >= p.Threshold {
					if y[i] {
						tp++
					} else {
						fp++
					}
				}
			}
			if !near(p.TruePositive, tp/np) || !near(p.FalsePositive, fp/(float64(n)-np)) {
				t.Fatalf("got %+v, want %v and %v", p, tp/np, fp/(float64(n)-np))
			}
		}
	}
}

func TestWithinAUC(t *testing.T) {
	scores := []float64{9, 8, 1, 2, 5}
	y := labels("10101")
	group := []string{"a", "a", "b", "b", "c"} // a: won; b: lost; c: one class
	if got := evaluate.WithinAUC(scores, y, group); !near(got, 0.5) {
		t.Errorf("got %v, want 0.5", got)
	}
	if got := evaluate.WithinAUC(scores, y, []string{"a", "b", "c", "d", "e"}); !math.IsNaN(got) {
		t.Errorf("no group with both classes: got %v, want NaN", got)
	}
}

// TestBootstrapCovers draws many samples of two normal classes one standard
// deviation apart, whose AUC is Φ(1/√2), and counts the intervals that hold it.
func TestBootstrapCovers(t *testing.T) {
	truth := math.Erfc(-0.5) / 2 // Φ(1/√2)
	rng := rand.New(rand.NewPCG(5, 6))
	const trials, n = 100, 60
	var held, heldClusters int
	for trial := range trials {
		scores, y, cluster := make([]float64, n), make([]bool, n), make([]string, n)
		for i := range scores {
			y[i] = i%2 == 0
			scores[i] = rng.NormFloat64()
			if y[i] {
				scores[i]++
			}
			cluster[i] = string(rune('A' + i))
		}
		stat := evaluate.AUCOf(scores, y)
		if b := evaluate.Bootstrap(y, 0.9, 200, uint64(trial), stat); b.Low <= truth && truth <= b.High {
			held++
		}
		if b := evaluate.BootstrapClusters(y, cluster, 0.9, 200, uint64(trial), stat); b.Low <= truth && truth <= b.High {
			heldClusters++
		}
	}
	// Four standard errors of a share of 0.9 in 100 trials are 0.12; the
	// percentile bootstrap covers a little too little.
	for _, h := range []int{held, heldClusters} {
		if h < 78 {
			t.Errorf("got %d of %d intervals that hold the truth, want about 90", h, trials)
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
	a := evaluate.Bootstrap(y, 0.95, 300, 1, evaluate.AUCOf(scores, y))
	b := evaluate.BootstrapClusters(y, cluster, 0.95, 300, 1, evaluate.AUCOf(scores, y))
	if !(b.High-b.Low > 2*(a.High-a.Low)) {
		t.Errorf("got %v by recordings, %v by clusters, want the latter more than twice as wide", a, b)
	}
	if again := evaluate.BootstrapClusters(y, cluster, 0.95, 300, 1, evaluate.AUCOf(scores, y)); again != b {
		t.Errorf("got %v, then %v from one seed", b, again)
	}
	e := evaluate.Bootstrap(y, 0.95, 300, 1, evaluate.EEROf(scores, y))
	if rate, _ := evaluate.EER(scores, y); !(e.Low <= rate && rate <= e.High) {
		t.Errorf("got EER %v outside %v", rate, e)
	}
	w := evaluate.Bootstrap(y, 0.95, 100, 1, evaluate.WithinAUCOf(scores, y, make([]string, len(y))))
	if auc := evaluate.AUC(scores, y); !(w.Low <= auc && auc <= w.High) {
		t.Errorf("got %v outside %v: one group must give the plain AUC", auc, w)
	}
}

func TestCalibration(t *testing.T) {
	p, y := []float64{0.1, 0.3, 0.8, 1}, labels("0111")
	if got := evaluate.Brier(p, y); !near(got, (0.01+0.49+0.04)/4) {
		t.Errorf("got Brier %v, want 0.135", got)
	}
	bins := evaluate.Reliability(p, y, 2)
	if bins[0].N != 2 || !near(bins[0].Probability, 0.2) || !near(bins[0].Positive, 0.5) || bins[1].N != 2 || !near(bins[1].Probability, 0.9) || bins[1].High != 1 {
		t.Errorf("got %+v", bins)
	}
	if got := evaluate.ECE(p, y, 2); !near(got, (0.3+0.1)/2) {
		t.Errorf("got ECE %v, want 0.2", got)
	}
	if !math.IsNaN(evaluate.Brier(nil, nil)) || !math.IsNaN(evaluate.ECE(nil, nil, 5)) {
		t.Error("nothing to measure: want NaN")
	}
}
