package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/voicescreen/voicescreen/internal/stats"
)

// tolerance is a bound on the rounding error of a thousand additions.
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

// TestAUCEqualsItsDefinition compares AUC and ROC with counts of pairs and of classes.
// Many scores are equal.
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
		if got := stats.AUC(scores, y); !near(got, won/pairs) {
			t.Fatalf("got %v, want %v", got, won/pairs)
		}
		for _, p := range stats.ROC(scores, y) {
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

// TestAUCOfEqualsAUC compares AUCOf with AUC on resamples, some with ties or an empty
// class. They agree to the last bit, so that intervals in model files do not depend on
// which of the two computed them.
func TestAUCOfEqualsAUC(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 50 {
		n := 2 + rng.IntN(60)
		scores, y := make([]float64, n), make([]bool, n)
		for i := range scores {
			scores[i], y[i] = float64(rng.IntN(12)), rng.IntN(3) == 0
		}
		y[0], y[1] = true, false
		stat := stats.AUCOf(scores, y)
		for range 20 {
			index := make([]int, rng.IntN(2*n))
			for k := range index {
				index[k] = rng.IntN(n)
			}
			got, want := stat(index), stats.AUC(stats.Pick(scores, y, index))
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
	}
	if got := stats.AUCOf([]float64{1, math.NaN()}, labels("10"))([]int{0}); !math.IsNaN(got) {
		t.Errorf("a score is NaN: got %v, want NaN", got)
	}
}

// TestBootstrapCovers draws samples of two normal classes one standard deviation apart,
// whose AUC is Φ(1/√2), and counts the intervals that contain it.
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
		stat := stats.AUCOf(scores, y)
		if b := stats.Bootstrap(y, 0.9, 200, uint64(trial), stat); b.Low <= truth && truth <= b.High {
			held++
		}
		if b := stats.BootstrapClusters(y, cluster, 0.9, 200, uint64(trial), stat); b.Low <= truth && truth <= b.High {
			heldClusters++
		}
	}
	// The limit is 0.9 less four standard errors of a share in 100 trials, 0.12: the
	// percentile bootstrap covers slightly less than its level.
	for _, h := range []int{held, heldClusters} {
		if h < 78 {
			t.Errorf("got %d of %d intervals that hold the truth, want about 90", h, trials)
		}
	}
}

func TestCalibration(t *testing.T) {
	p, y := []float64{0.1, 0.3, 0.8, 1}, labels("0111")
	if got := stats.Brier(p, y); !near(got, (0.01+0.49+0.04)/4) {
		t.Errorf("got Brier %v, want 0.135", got)
	}
	bins := stats.Reliability(p, y, 2)
	if bins[0].N != 2 || !near(bins[0].Probability, 0.2) || !near(bins[0].Positive, 0.5) || bins[1].N != 2 || !near(bins[1].Probability, 0.9) || bins[1].High != 1 {
		t.Errorf("got %+v", bins)
	}
	if got := stats.ECE(p, y, 2); !near(got, (0.3+0.1)/2) {
		t.Errorf("got ECE %v, want 0.2", got)
	}
	if !math.IsNaN(stats.Brier(nil, nil)) || !math.IsNaN(stats.ECE(nil, nil, 5)) {
		t.Error("no recordings: want NaN")
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", -1.5: "-1.5", 0.1: "0.1", 1e-7: "1e-07", math.Inf(1): "null", math.Inf(-1): "null"} {
		if got, err := stats.Number(v).MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("%v: got %s, %v, want %s", v, got, err, want)
		}
	}
	if got, _ := stats.Number(math.NaN()).MarshalJSON(); string(got) != "null" {
		t.Errorf("NaN: got %s, want null", got)
	}
}

func TestRounding(t *testing.T) {
	for _, c := range []struct{ x, significant, decimals float64 }{
		{0, 0, 0}, {123456, 123460, 123456}, {-0.0123456, -0.012346, -0.0123}, {2.00005, 2.0001, 2.0001}, {1e-9, 1e-9, 0},
	} {
		if got := stats.Significant(c.x, 5); !near(got, c.significant) {
			t.Errorf("%v to 5 significant digits: got %v, want %v", c.x, got, c.significant)
		}
		if got := stats.Decimals(c.x, 4); !near(got, c.decimals) {
			t.Errorf("%v to 4 decimals: got %v, want %v", c.x, got, c.decimals)
		}
	}
}

func TestFolds(t *testing.T) {
	var group []string
	for i := range 200 {
		group = append(group, fmt.Sprint("group ", i%17))
	}
	folds := stats.Folds(group, 6, 1)
	if len(folds) != 6 {
		t.Fatalf("got %d folds, want 6", len(folds))
	}
	tested := make([]int, len(group))
	for _, f := range folds {
		in := map[string]bool{}
		for _, i := range f.Test {
			tested[i]++
			in[group[i]] = true
		}
		for _, i := range f.Train {
			if in[group[i]] {
				t.Fatalf("%s is both trained on and tested", group[i])
			}
		}
		if n := len(f.Test); n < 20 || n > 60 || n+len(f.Train) != len(group) {
			t.Errorf("got a fold of %d to test and %d to train on, want about 33 and all others", n, len(f.Train))
		}
	}
	for i, n := range tested {
		if n != 1 {
			t.Errorf("index %d is tested %d times, want once", i, n)
		}
	}
	if again := stats.Folds(group, 6, 1); !reflect.DeepEqual(folds, again) {
		t.Error("got other folds from the same seed")
	}
	if got := stats.Folds([]string{"a", "b", "a"}, 10, 1); len(got) != 2 {
		t.Errorf("got %d folds of two groups, want 2", len(got))
	}
}

func TestWithinAUC(t *testing.T) {
	scores := []float64{9, 8, 1, 2, 5}
	y := labels("10101")
	group := []string{"a", "a", "b", "b", "c"} // a: won; b: lost; c: one class
	if got := stats.WithinAUC(scores, y, group); !near(got, 0.5) {
		t.Errorf("got %v, want 0.5", got)
	}
	if got := stats.WithinAUC(scores, y, []string{"a", "b", "c", "d", "e"}); !math.IsNaN(got) {
		t.Errorf("no group with both classes: got %v, want NaN", got)
	}
}
