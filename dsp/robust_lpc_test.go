package dsp

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// lpcTolerance is relative: the normal equations of a vowel have condition
// numbers up to 1e8, of which rounding (1e-16) may cost as much.
const lpcTolerance = 1e-8

// resonantNoise returns n samples of noise through two resonances.
func resonantNoise(n int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for _, f := range [][2]float64{{0.12, 0.98}, {0.4, 0.95}} {
		a, b := 2*f[1]*math.Cos(math.Pi*f[0]), -f[1]*f[1]
		for i := 2; i < n; i++ {
			x[i] += a*x[i-1] + b*x[i-2]
		}
	}
	return x
}

// The refit against its definition: the weights written out and the weighted
// least-squares problem solved by gonum's QR.
func TestLPCAgainstTheDefinition(t *testing.T) {
	const n = 80
	x := resonantNoise(lpcHistory + n)
	ste := make([]float64, n)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range ste {
		ste[i] = 0.1 + r.Float64()
	}
	l := newRobustLPC(n, 20)
	got, ok := l.fit(x, ste)
	if !ok {
		t.Fatal("got no predictor")
	}

	// (1) Autocorrelation method, by a dense solver.
	g := l.gauss
	corr := func(k int) (s float64) {
		for i := k; i < n; i++ {
			s += g[i] * x[lpcHistory+i] * g[i-k] * x[lpcHistory+i-k]
		}
		if k == 0 {
			s *= 1 + 1e-9
		}
		return s
	}
	toeplitz := mat.NewDense(lpcOrder, lpcOrder, nil)
	right := mat.NewVecDense(lpcOrder, nil)
	for i := range lpcOrder {
		right.SetVec(i, -corr(i+1))
		for j := range lpcOrder {
			toeplitz.Set(i, j, corr(max(i-j, j-i)))
		}
	}
	var first mat.VecDense
	if err := first.SolveVec(toeplitz, right); err != nil {
		t.Fatal(err)
	}
	var want mat.VecDense
	want.CloneFromVec(&first)
	for range 2 {
		// (2) Weights from its residual.
		e2 := make([]float64, n)
		var s, sw float64
		for i := range e2 {
			e := x[lpcHistory+i]
			for k := range lpcOrder {
				e += want.AtVec(k) * x[lpcHistory+i-1-k]
			}
			e2[i] = e * e
			s += g[i] * e2[i]
			sw += g[i]
		}
		// (3) Weighted least squares.
		rows := mat.NewDense(n, lpcOrder, nil)
		y := mat.NewVecDense(n, nil)
		for i := range n {
			var local float64
			for k := max(0, i-4); k <= min(n-1, i+4); k++ {
				local += e2[k] / 9
			}
			w := math.Sqrt(g[i] * ste[i] * ste[i] / (1 + local/(0.45*0.45*s/sw)))
			y.SetVec(i, -w*x[lpcHistory+i])
			for k := range lpcOrder {
				rows.Set(i, k, w*x[lpcHistory+i-1-k])
			}
		}
		if err := want.SolveVec(rows, y); err != nil {
			t.Fatal(err)
		}
	}
	for k := range lpcOrder {
		if math.Abs(got[k+1]-want.AtVec(k)) > lpcTolerance*math.Max(1, math.Abs(want.AtVec(k))) {
			t.Errorf("a[%d]: got %.12g, want %.12g", k+1, got[k+1], want.AtVec(k))
		}
	}
}

// A signal that rings freely is predicted exactly, for pulses of any height.
func TestLPCOfRingingResonances(t *testing.T) {
	const n = 235
	x := make([]float64, lpcHistory+n)
	for p := range 3 {
		x[20+70*p] = float64(1 + p)
	}
	poles := [][2]float64{{500, 60}, {1500, 90}, {2500, 130}, {3500, 200}, {4500, 250}}
	for _, f := range poles {
		r := math.Exp(-math.Pi * f[1] / formantRate)
		a, b := 2*r*math.Cos(2*math.Pi*f[0]/formantRate), -r*r
		for i := 2; i < len(x); i++ {
			x[i] += a*x[i-1] + b*x[i-2]
		}
	}
	// Weights of zero at the pulses leave only the ringing.
	ste := filled([]float64(nil), n, 1)
	for p := range 3 {
		ste[20+70*p-lpcHistory] = 0
	}
	a, ok := newRobustLPC(n, 1e6).fit(x, ste)
	if !ok {
		t.Fatal("got no predictor")
	}
	tracker := NewFormantTracker()
	tracker.resonances(a)
	if len(tracker.roots) != len(poles) {
		t.Fatalf("got the resonances %v, want %v", tracker.roots, poles)
	}
	for i, got := range tracker.roots {
		if math.Abs(got[0]-poles[i][0]) > 1e-3 || math.Abs(got[1]-poles[i][1]) > 1e-3 {
			t.Errorf("resonance %d: got %.6f Hz, %.6f wide, want %v", i+1, got[0], got[1], poles[i])
		}
	}
}

func TestLPCOfSilenceAndConstants(t *testing.T) {
	const n = 235
	ste := filled([]float64(nil), n, 0)
	if _, ok := newRobustLPC(n, 38).fit(make([]float64, lpcHistory+n), ste); ok {
		t.Error("got a predictor of silence, want none")
	}
	// All weights zero: the first predictor stands.
	if _, ok := newRobustLPC(n, 38).fit(resonantNoise(lpcHistory+n), ste); !ok {
		t.Error("got no predictor, want the first")
	}
	if a, _ := newRobustLPC(n, 38).fit(filled([]float64(nil), lpcHistory+n, 0.5), ste); len(a) > 0 && math.IsNaN(a[1]) {
		t.Errorf("constant: got %v, want numbers", a)
	}
}

// The assembly gives the same bits as the pure Go code.
func TestCovarianceInAVX(t *testing.T) {
	if !hasAVX {
		t.Log("no AVX here: both are the pure Go")
	}
	for n := 1; n < 20; n++ {
		x := resonantNoise(lpcHistory + n)
		w := resonantNoise(n)
		var got, want covariance
		got.fill(x, w)
		want.fillGo(x, w)
		for i := range lpcTerms {
			for j := i; j < lpcTerms; j++ {
				if math.Float64bits(got.at(i, j)) != math.Float64bits(want.at(i, j)) {
					t.Errorf("n = %d, φ(%d,%d): got %v, want %v", n, i, j, got.at(i, j), want.at(i, j))
				}
			}
		}
	}
}

// benchmarkCovariance measures one covariance of a frame.
func benchmarkCovariance(b *testing.B, fill func(c *covariance, x, w []float64)) {
	x, w := resonantNoise(lpcHistory+formantFrame), resonantNoise(formantFrame)
	var c covariance
	for b.Loop() {
		fill(&c, x, w)
	}
}

func BenchmarkCovariance(b *testing.B)   { benchmarkCovariance(b, (*covariance).fill) }
func BenchmarkCovarianceGo(b *testing.B) { benchmarkCovariance(b, (*covariance).fillGo) }

// TestWeighInAVX: see TestCovarianceInAVX.
func TestWeighInAVX(t *testing.T) {
	for n := 1; n < 20; n++ {
		got, want := newRobustLPC(n, 5), newRobustLPC(n, 5)
		copy(got.e2, resonantNoise(len(got.e2)))
		for i, v := range got.e2 {
			got.e2[i] = v * v
			want.e2[i] = v * v
		}
		meanSquare := 0.3
		ste := resonantNoise(n)
		got.weigh(ste, meanSquare)
		want.weighGo(0, ste, 1/((2*cauchyReach+1)*cauchyScale*cauchyScale*meanSquare))
		compare(t, "weights", got.w, want.w, 0)
	}
}
