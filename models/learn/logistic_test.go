package learn

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/stats"
)

// sample draws n rows with the given coefficients.
func sample(n int, seed uint64, c *Coefficients) (x [][]float64, y []bool) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n {
		row := make([]float64, len(c.Weights))
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		x = append(x, row)
		y = append(y, rng.Float64() < dsp.Logistic(c.Predict(row)))
	}
	return x, y
}

func TestLogisticFindsTheCoefficients(t *testing.T) {
	want := &Coefficients{Intercept: -0.5, Weights: []float64{1, -2, 0, 0.3}}
	x, y := sample(20000, 1, want)
	got, err := Logistic(x, y, nil, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	// Four standard errors: about 4·√(1/(n·E[q(1−q)]·Var x)) with E[q(1−q)] ≥ 0.1.
	const tolerance = 0.09
	if math.Abs(got.Intercept-want.Intercept) > tolerance {
		t.Errorf("intercept: got %.3f, want %.3f", got.Intercept, want.Intercept)
	}
	for j, w := range want.Weights {
		if math.Abs(got.Weights[j]-w) > tolerance {
			t.Errorf("weight %d: got %.3f, want %.3f", j, got.Weights[j], w)
		}
	}
}

// TestLogisticIsAtTheMinimum checks the gradient of the definition.
func TestLogisticIsAtTheMinimum(t *testing.T) {
	const lambda = 3.0
	x, y := sample(300, 2, &Coefficients{Intercept: 1, Weights: []float64{2, 1, -1}})
	w := make([]float64, len(x))
	for i := range w {
		w[i] = float64(i%4) / 2
	}
	c, err := Logistic(x, y, w, lambda)
	if err != nil {
		t.Fatal(err)
	}
	gradient := make([]float64, 4)
	for j, b := range c.Weights {
		gradient[j] = lambda * b
	}
	for i, row := range x {
		r := w[i] * (dsp.Logistic(c.Predict(row)) - float64(stats.Indicator(y[i])))
		for j, v := range row {
			gradient[j] += r * v
		}
		gradient[3] += r
	}
	for j, g := range gradient {
		if math.Abs(g) > 1e-6 { // of sums of 300 terms of order 1
			t.Errorf("gradient %d is %v, want 0", j, g)
		}
	}
}

func TestLogisticOneFeature(t *testing.T) {
	// Without features the intercept is the logit of the weighted share.
	c, err := Logistic([][]float64{{}, {}, {}, {}}, []bool{true, false, true, true}, []float64{1, 1, 1, 2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Log(4); math.Abs(c.Intercept-want) > 1e-9 {
		t.Errorf("got intercept %v, want %v", c.Intercept, want)
	}
	// Classes that are apart have a minimum because of the penalty.
	c, err = Logistic([][]float64{{-1e3}, {1e3}}, []bool{false, true}, nil, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	if !(c.Weights[0] > 0) || math.IsInf(c.Weights[0], 0) {
		t.Errorf("got weight %v, want a positive number", c.Weights[0])
	}
}

func TestLogisticRefuses(t *testing.T) {
	two, yes := [][]float64{{1}, {2}}, []bool{true, false}
	for name, f := range map[string]func() error{
		"nothing":       func() error { _, err := Logistic(nil, nil, nil, 1); return err },
		"labels":        func() error { _, err := Logistic(two, yes[:1], nil, 1); return err },
		"one class":     func() error { _, err := Logistic(two, []bool{true, true}, nil, 1); return err },
		"weightless":    func() error { _, err := Logistic(two, yes, []float64{1, 0}, 1); return err },
		"NaN":           func() error { _, err := Logistic([][]float64{{1}, {math.NaN()}}, yes, nil, 1); return err },
		"ragged":        func() error { _, err := Logistic([][]float64{{1}, {}}, yes, nil, 1); return err },
		"no penalty":    func() error { _, err := Logistic(two, yes, nil, 0); return err },
		"weight":        func() error { _, err := Logistic(two, yes, []float64{1, -1}, 1); return err },
		"Platt":         func() error { _, _, err := Platt([]float64{1, 2}, []bool{true, true}, nil); return err },
		"Platt lengths": func() error { _, _, err := Platt([]float64{1, 2}, []bool{true}, nil); return err },
	} {
		if err := f(); !errors.Is(err, ErrFit) {
			t.Errorf("%s: got %v, want ErrFit", name, err)
		}
	}
}

// TestPlattRecovers calibrates scores whose logit is known.
func TestPlattRecovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	scores, y := make([]float64, 20000), make([]bool, 20000)
	for i := range scores {
		scores[i] = 2 * rng.NormFloat64()
		y[i] = rng.Float64() < dsp.Logistic(0.7*scores[i]-0.4)
	}
	a, b, err := Platt(scores, y, nil)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(a-0.7) > 0.06 || math.Abs(b+0.4) > 0.09 { // four standard errors
		t.Errorf("got %.3f, %.3f, want 0.7, -0.4", a, b)
	}
}
