package dsp_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// predictorTolerance is relative to the largest coefficient. The normal
// equations of the signals here have condition numbers up to 1e4, of which
// rounding (1e-16) may cost as much.
const predictorTolerance = 1e-11

// resonant returns n samples of noise through two resonances.
func resonant(seed uint64, n int) []float64 {
	x := normal(seed, n)
	for _, f := range [][2]float64{{0.12, 0.9}, {0.4, 0.8}} {
		a, b := 2*f[1]*math.Cos(math.Pi*f[0]), -f[1]*f[1]
		for i := 2; i < n; i++ {
			x[i] += a*x[i-1] + b*x[i-2]
		}
	}
	return x
}

// lagged is Σ x[j]·x[j+k].
func lagged(x []float64, k int) (s float64) {
	for j := 0; j+k < len(x); j++ {
		s += x[j] * x[j+k]
	}
	return s
}

// slowPredictor solves the normal equations by a dense solver.
func slowPredictor(t *testing.T, r []float64) []float64 {
	t.Helper()
	p := len(r) - 1
	toeplitz, right := mat.NewDense(p, p, nil), mat.NewVecDense(p, nil)
	for i := range p {
		right.SetVec(i, -r[i+1])
		for j := range p {
			toeplitz.Set(i, j, r[max(i-j, j-i)])
		}
	}
	var a mat.VecDense
	if err := a.SolveVec(toeplitz, right); err != nil {
		t.Fatal(err)
	}
	return append([]float64{1}, a.RawVector().Data...)
}

func TestLevinsonSolvesTheNormalEquations(t *testing.T) {
	x := resonant(3, 400)
	for _, order := range []int{1, 2, 10, 18} {
		r := make([]float64, order+1)
		for k := range r {
			r[k] = lagged(x, k)
		}
		a, k := make([]float64, order+1), make([]float64, order)
		e := dsp.Levinson(a, k, r)
		want := slowPredictor(t, r)
		var power float64
		for i, v := range want {
			power += v * r[i]
			if !near(a[i], v, predictorTolerance) {
				t.Errorf("order %d, a[%d]: got %v, want %v", order, i, a[i], v)
			}
		}
		if !near(e, power, predictorTolerance) {
			t.Errorf("order %d: got the error %v, want %v", order, e, power)
		}
		back := make([]float64, order+1)
		dsp.StepUp(back, k)
		for i, v := range a {
			if back[i] != v {
				t.Errorf("order %d, a[%d] from the reflections: got %v, want %v", order, i, back[i], v)
			}
		}
		for i, v := range k {
			if !(math.Abs(v) < 1) {
				t.Errorf("order %d: got the reflection k[%d] = %v, want less than 1", order, i, v)
			}
		}
	}
}

func TestLevinsonOfWhatIsNoAutocorrelation(t *testing.T) {
	nan := math.NaN()
	for name, r := range map[string][]float64{
		"silence":       {0, 0, 0},
		"negative":      {-1, 0, 0},
		"NaN":           {nan, 1, 1},
		"infinite":      {math.Inf(1), 1, 1},
		"larger later":  {1, 2, 1},
		"perfect early": {1, 1, 1, 1},
	} {
		a, k := normal(1, len(r)), normal(2, len(r)-1)
		if e := dsp.Levinson(a, k, r); !math.IsNaN(e) {
			t.Errorf("%s: got the error %v, want NaN", name, e)
		}
		for i, v := range append(a[1:], k...) {
			if a[0] != 1 || v != 0 {
				t.Errorf("%s: got a = %v, k = %v, want 1, 0, … (at %d)", name, a, k, i)
				break
			}
		}
	}
	a := make([]float64, 1)
	if e := dsp.Levinson(a, nil, []float64{3}); e != 3 || a[0] != 1 {
		t.Errorf("order 0: got the error %v and %v, want 3 and 1", e, a)
	}
}

func TestLPCEqualsDefinition(t *testing.T) {
	const n, order, correction = 480, 18, 1.0005
	window := dsp.PeriodicHann(n)
	frame := resonant(4, n)
	l := dsp.NewLPC(window, order, correction)
	if !l.Fit(frame) {
		t.Fatal("got no prediction of resonant noise")
	}
	y, r := make([]float64, n), make([]float64, order+1)
	for i := range y {
		y[i] = frame[i] * window[i]
	}
	for k := range r {
		r[k] = lagged(y, k)
	}
	if !near(l.Power(), r[0], rounding) {
		t.Errorf("power: got %v, want %v", l.Power(), r[0])
	}
	r[0] *= correction
	want := slowPredictor(t, r)
	for i, v := range l.Coefficients() {
		if !near(v, want[i], predictorTolerance) {
			t.Errorf("a[%d]: got %v, want %v", i, v, want[i])
		}
	}
	back := make([]float64, order+1)
	dsp.StepUp(back, l.Reflections())
	for i, v := range l.Coefficients() {
		if back[i] != v {
			t.Errorf("a[%d] from the reflections: got %v, want %v", i, back[i], v)
		}
	}
	e := l.Residual(nil)
	if len(e) != n-order {
		t.Fatalf("got %d residual samples, want %d", len(e), n-order)
	}
	for j := order; j < n; j++ {
		var s float64
		for k, v := range want {
			s += v * y[j-k]
		}
		if !near(e[j-order], s, predictorTolerance) {
			t.Errorf("residual %d: got %v, want %v", j, e[j-order], s)
		}
	}
}

func TestLPCOfSilenceHasNoPrediction(t *testing.T) {
	l := dsp.NewLPC(dsp.PeriodicHann(100), 4, 1)
	for name, frame := range map[string][]float64{"silence": make([]float64, 100), "NaN": append(make([]float64, 50), append([]float64{math.NaN()}, make([]float64, 49)...)...)} {
		if l.Fit(frame) {
			t.Errorf("%s: got a prediction, want none", name)
		}
		if a := l.Coefficients(); a[0] != 1 || a[1] != 0 {
			t.Errorf("%s: got the coefficients %v, want 1, 0, …", name, a)
		}
	}
}

func TestPredictionAllocatesNothing(t *testing.T) {
	l := dsp.NewLPC(dsp.PeriodicHann(480), 18, 1.0005)
	x, e := normal(6, 640), make([]float64, 462)
	n := cost.Allocations(10, func() {
		l.Fit(x[:480])
		l.Residual(e)
		dsp.PeakLag(x, 40, 230)
	})
	if n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
