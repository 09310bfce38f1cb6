package evaluate_test

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/lab/evaluate"
)

// TestShare compares with Newcombe (1998), "Two-sided confidence intervals for
// the single proportion", table I, method 3.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
	} {
		s := evaluate.NewShare(c.k, c.n)
		if math.Abs(s.Low-c.low) > 5e-5 || math.Abs(s.High-c.high) > 5e-5 {
			t.Errorf("%d of %d: got %.4f to %.4f, want %.4f to %.4f", c.k, c.n, s.Low, s.High, c.low, c.high)
		}
	}
	if s := evaluate.NewShare(0, 0); !math.IsNaN(s.Value) || !math.IsNaN(s.Low) || !math.IsNaN(s.High) {
		t.Errorf("nothing of nothing: got %+v, want NaN", s)
	}
}

func TestDecisions(t *testing.T) {
	scores, y := []float64{0.1, 0.4, 0.5, 0.6, 0.9, math.NaN()}, labels("001011")
	d := evaluate.Band(scores, y, 0.4, 0.6) // undecided: 0.4, 0.5, 0.6 and the NaN
	if d.Undecided.K != 4 || d.Sensitivity.K != 1 || d.Sensitivity.N != 1 || d.Specificity.K != 1 || d.Specificity.N != 1 {
		t.Errorf("band: got %+v", d)
	}
	d = evaluate.Single(scores, y, 0.5) // positive: 0.5, 0.6, 0.9
	if d.Undecided.K != 1 || d.Sensitivity.K != 2 || d.Sensitivity.N != 2 || d.Specificity.K != 2 || d.Specificity.N != 3 || d.PPV.N != 3 || d.NPV.K != 2 || d.NPV.N != 2 {
		t.Errorf("single: got %+v", d)
	}
}

func TestMinDCF(t *testing.T) {
	// The operating points have (miss, false alarm) of (1, 0), (2/3, 0), (2/3, 1/2),
	// (1/3, 1/2), (0, 1/2), (0, 1).
	scores, y := []float64{0.9, 0.7, 0.6, 0.5, 0.2}, labels("10110")
	for _, c := range []struct {
		cost evaluate.Cost
		want float64
	}{
		{evaluate.Cost{Prior: 0.5, Miss: 1, FalseAlarm: 1}, 0.25 / 0.5},        // (0, 1/2)
		{evaluate.SpoofingCost, 2.0 / 3},                                       // (2/3, 0): 0.5·2/3 of 0.5
		{evaluate.Cost{Prior: 0.1, Miss: 1, FalseAlarm: 1}, 2.0 / 3},           // (2/3, 0)
		{evaluate.Cost{Prior: 0.9, Miss: 1, FalseAlarm: 10}, 0.5 / 0.9},        // (0, 1/2)
		{evaluate.Cost{Prior: 0.5, Miss: 1, FalseAlarm: 0.01}, 0.0025 / 0.005}, // (0, 1/2)
	} {
		if got := evaluate.MinDCF(scores, y, c.cost); !near(got, c.want) {
			t.Errorf("%+v: got %v, want %v", c.cost, got, c.want)
		}
	}
	if got := evaluate.MinDCF(scores, labels("11111"), evaluate.SpoofingCost); !math.IsNaN(got) {
		t.Errorf("one class: got %v, want NaN", got)
	}
}

func TestClasses(t *testing.T) {
	c := evaluate.NewClasses([]int{0, 0, 1, 1, 2, 2}, []int{0, 1, 1, 1, 2, 0}, 3)
	// F1: class 0 2/4, class 1 4/5, class 2 2/3. Weights 1 and 4: observed 5;
	// expected sum of (a−b)²·row·column/6 with columns 2, 3, 1: (2·(3 + 4) + 2·(2 + 1) + 2·(8 + 3))/6 = 7.
	if !near(c.Accuracy, 4.0/6) || !near(c.MAE, 3.0/6) || !near(c.MacroF1, (0.5+0.8+2.0/3)/3) || !near(c.Kappa, 1-5.0/7) {
		t.Errorf("got %+v", c)
	}
	if c := evaluate.NewClasses(nil, nil, 3); !math.IsNaN(c.Accuracy) || !math.IsNaN(c.MacroF1) || !math.IsNaN(c.Kappa) {
		t.Errorf("nothing: got %+v, want NaN", c)
	}
}
