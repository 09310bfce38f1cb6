package evaluate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/lab/evaluate"
)

// drawn returns scores of few distinct values, so that ties occur, and labels
// that lean on them.
func drawn(rng *rand.Rand, n int) (scores []float64, positive []bool) {
	for range n {
		s := float64(rng.IntN(12)) / 10
		scores = append(scores, s)
		positive = append(positive, rng.Float64() < s)
	}
	positive[0], positive[1] = true, false
	return scores, positive
}

// allCuts returns a threshold below, between and above all scores.
func allCuts() []float64 {
	var cuts []float64
	for i := -1; i <= 12; i++ {
		cuts = append(cuts, float64(i)/10+0.05)
	}
	return cuts
}

func balanced(d evaluate.Decisions) float64 { return (d.Sensitivity.Value + d.Specificity.Value) / 2 }

func TestBandWithinAgainstEveryPair(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 5 + rng.IntN(60)
		scores, positive := drawn(rng, n)
		tenths := rng.IntN(6)
		budget, most := float64(tenths)/10, tenths*n/10
		low, high, err := evaluate.BandWithin(scores, positive, budget)
		if err != nil {
			t.Fatal(err)
		}
		got := evaluate.Band(scores, positive, low, high)
		if got.Undecided.K > most {
			t.Fatalf("got %d of %d undecided, want at most %v of them", got.Undecided.K, n, budget)
		}
		best := 0.0
		for _, a := range allCuts() {
			for _, b := range allCuts() {
				if d := evaluate.Band(scores, positive, a, b); a <= b && d.Undecided.K <= most && balanced(d) > best {
					best = balanced(d)
				}
			}
		}
		if math.Abs(balanced(got)-best) > 1e-12 {
			t.Fatalf("got (%v, %v) with %v, the best of all pairs has %v", low, high, balanced(got), best)
		}
	}
}

// A budget in hundredths is that many of a hundred recordings, also where the
// product is rounded down.
func TestBandWithinSpendsTheBudget(t *testing.T) {
	for hundredths := 2; hundredths <= 98; hundredths++ { // one cannot be the wrong way round
		// Negatives, then so many the wrong way round, then a positive: the
		// labels are only right if all of those are left undecided.
		const n = 100
		scores, positive := make([]float64, n), make([]bool, n)
		first := (n - hundredths) / 2
		for i := range scores {
			scores[i] = float64(i)
			within := i >= first && i < first+hundredths
			positive[i] = within != (i >= first+(hundredths+1)/2)
		}
		low, high, err := evaluate.BandWithin(scores, positive, float64(hundredths)/n)
		if err != nil {
			t.Fatal(err)
		}
		if got := evaluate.Band(scores, positive, low, high); got.Undecided.K != hundredths {
			t.Errorf("budget 0.%02d: got %d of 100 undecided", hundredths, got.Undecided.K)
		}
	}
}

func TestForSensitivityAndSpecificity(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		scores, positive := drawn(rng, 5+rng.IntN(60))
		want := 0.5 + rng.Float64()/2
		lo, err := evaluate.ForSensitivity(scores, positive, want)
		if err != nil {
			t.Fatal(err)
		}
		hi, err := evaluate.ForSpecificity(scores, positive, want)
		if err != nil {
			t.Fatal(err)
		}
		low, high := evaluate.Single(scores, positive, lo), evaluate.Single(scores, positive, hi)
		if low.Sensitivity.Value < want {
			t.Errorf("got sensitivity %v at %v, want %v", low.Sensitivity.Value, lo, want)
		}
		if high.Specificity.Value < want {
			t.Errorf("got specificity %v at %v, want %v", high.Specificity.Value, hi, want)
		}
		for _, cut := range allCuts() {
			d := evaluate.Single(scores, positive, cut)
			if d.Sensitivity.Value >= want && d.NPV.N > low.NPV.N {
				t.Errorf("threshold %v keeps sensitivity %v and calls more negative than %v", cut, want, lo)
			}
			if d.Specificity.Value >= want && d.PPV.N > high.PPV.N {
				t.Errorf("threshold %v keeps specificity %v and calls more positive than %v", cut, want, hi)
			}
		}
	}
}

func TestCutsAgainstEveryPlacing(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const k = 3
	for range 60 {
		n := 6 + rng.IntN(40)
		scores, truth := make([]float64, n), make([]int, n)
		for i := range scores {
			truth[i] = rng.IntN(k)
			scores[i] = float64(min(max(truth[i]*4+rng.IntN(7)-3, 0), 11)) / 10
		}
		truth[0], truth[1], truth[2] = 0, 1, 2
		for by := evaluate.LeastError; by <= evaluate.BestAccuracy; by++ {
			cuts, err := evaluate.Cuts(scores, truth, k, by)
			if err != nil {
				t.Fatal(err)
			}
			got := objective(scores, truth, k, cuts, by)
			best := math.Inf(-1)
			for _, a := range allCuts() {
				for _, b := range allCuts() {
					if a <= b {
						best = max(best, objective(scores, truth, k, []float64{a, b}, by))
					}
				}
			}
			if math.Abs(got-best) > 1e-12 {
				t.Fatalf("%v: got %v with %v, the best of all placings has %v", by, cuts, got, best)
			}
		}
	}
}

// objective is what Cuts makes largest, from the definition. Macro F1 is over
// all classes here, as in Cuts, where each occurs.
func objective(scores []float64, truth []int, k int, cuts []float64, by evaluate.Objective) float64 {
	predicted := make([]int, len(scores))
	for i, s := range scores {
		for _, c := range cuts {
			if s >= c {
				predicted[i]++
			}
		}
	}
	c := evaluate.NewClasses(truth, predicted, k)
	switch by {
	case evaluate.LeastError:
		return -c.MAE
	case evaluate.BestMacroF1:
		return c.MacroF1
	}
	return c.Accuracy
}

func TestThresholdErrors(t *testing.T) {
	nan := []float64{0.1, math.NaN()}
	for name, err := range map[string]error{
		"one class":           second(evaluate.ForSensitivity([]float64{1, 2}, labels("11"), 0.9)),
		"score is no number":  second(evaluate.ForSpecificity(nan, labels("01"), 0.9)),
		"sensitivity of 0":    second(evaluate.ForSensitivity([]float64{1, 2}, labels("01"), 0)),
		"specificity above 1": second(evaluate.ForSpecificity([]float64{1, 2}, labels("01"), 1.1)),
		"budget of 1":         third(evaluate.BandWithin([]float64{1, 2}, labels("01"), 1)),
		"class outside":       second(evaluate.Cuts([]float64{1, 2}, []int{0, 2}, 2, evaluate.LeastError)),
		"class missing":       second(evaluate.Cuts([]float64{1, 2}, []int{0, 1}, 3, evaluate.LeastError)),
		"one class wanted":    second(evaluate.Cuts([]float64{1, 2}, []int{0, 0}, 1, evaluate.LeastError)),
		"cuts of no number":   second(evaluate.Cuts(nan, []int{0, 1}, 2, evaluate.LeastError)),
		"no objective":        second(evaluate.Cuts([]float64{1, 2}, []int{0, 1}, 2, 9)),
	} {
		if err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func second[T any](_ T, err error) error        { return err }
func third[A, B any](_ A, _ B, err error) error { return err }

// BenchmarkThresholds is on as many labelled sessions as a large clinic has.
func BenchmarkThresholds(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	const n = 2000
	scores, positive, truth := make([]float64, n), make([]bool, n), make([]int, n)
	for i := range scores {
		truth[i] = i % 4
		positive[i] = truth[i] > 1
		scores[i] = float64(truth[i]) + rng.NormFloat64()
	}
	b.Run("band", func(b *testing.B) {
		for b.Loop() {
			evaluate.BandWithin(scores, positive, 0.2)
		}
	})
	for by := evaluate.LeastError; by <= evaluate.BestAccuracy; by++ {
		b.Run(fmt.Sprintf("cuts/%v", by), func(b *testing.B) {
			for b.Loop() {
				evaluate.Cuts(scores, truth, 4, by)
			}
		})
	}
}
