package train

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
)

// TestSVMOfTwoRows: with k between them, both coefficients are 1/(1 − k) and
// both rows lie on the margin.
func TestSVMOfTwoRows(t *testing.T) {
	const tolerance = 1e-6 // of float32 kernels
	kernel := gram([][]float32{{0}, {1}}, 1, 1)
	k := math.Exp(-1)
	for _, c := range []struct{ bound, want float64 }{{10, 1 / (1 - k)}, {0.5, 0.5}} {
		m, err := svm(kernel, []bool{true, false}, []float64{c.bound, c.bound})
		if err != nil {
			t.Fatal(err)
		}
		for i, sign := range []float64{1, -1} {
			if got := m.coefficients[i]; math.Abs(got-sign*c.want) > tolerance {
				t.Errorf("bound %v: got coefficient %v of row %d, want %v", c.bound, got, i, sign*c.want)
			}
		}
		if math.Abs(m.intercept) > tolerance {
			t.Errorf("bound %v: got intercept %v, want 0", c.bound, m.intercept)
		}
	}
}

// TestSVMIsAtTheOptimum checks the Karush-Kuhn-Tucker conditions.
func TestSVMIsAtTheOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const n = 300
	x := make([][]float32, n)
	y, bound := make([]bool, n), make([]float64, n)
	for i := range x {
		y[i] = rng.Float64() < 0.4
		x[i] = []float32{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}
		if y[i] {
			x[i][0] += 1
		}
		bound[i] = 0.5 + 2*rng.Float64()
	}
	kernel := gram(x, 0.3, 2)
	m, err := svm(kernel, y, bound)
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	kinds := [3]int{}
	for i, c := range m.coefficients {
		sum += c
		sign := 2*float64(stats.Indicator(y[i])) - 1
		alpha := c * sign
		if alpha < 0 || alpha > bound[i] {
			t.Fatalf("row %d: got coefficient %v, want 0 to %v", i, alpha, bound[i])
		}
		f := m.intercept
		for j, c := range m.coefficients {
			f += c * float64(kernel[j][i])
		}
		margin := sign * f
		switch {
		case alpha == 0:
			kinds[0]++
			if margin < 1-2*svmDone {
				t.Errorf("row %d without a coefficient: got margin %v, want 1 or more", i, margin)
			}
		case alpha == bound[i]:
			kinds[1]++
			if margin > 1+2*svmDone {
				t.Errorf("row %d at the bound: got margin %v, want 1 or less", i, margin)
			}
		default:
			kinds[2]++
			if math.Abs(margin-1) > 2*svmDone {
				t.Errorf("row %d between: got margin %v, want 1", i, margin)
			}
		}
	}
	if math.Abs(sum) > 1e-9 {
		t.Errorf("the coefficients sum to %v, want 0", sum)
	}
	if kinds[0] == 0 || kinds[1] == 0 || kinds[2] == 0 {
		t.Errorf("got %v rows without, at the bound and between, want some of each", kinds)
	}
}

func TestGramEqualsTheDefinition(t *testing.T) {
	x := [][]float32{{1, 2, 3, 4, 5}, {0, 2, 1, 4, 4}, {-1, 0, 0.5, 2, 9}}
	for _, workers := range []int{1, 3} {
		k := gram(x, 0.1, workers)
		for i := range x {
			for j := range x {
				var d float64
				for c := range x[i] {
					e := float64(x[i][c] - x[j][c])
					d += e * e
				}
				if want := math.Exp(-0.1 * d); math.Abs(float64(k[i][j])-want) > 1e-6 {
					t.Errorf("%d, %d: got %v, want %v", i, j, k[i][j], want)
				}
			}
		}
	}
}

// TestPredictorInTheFile: what the file holds is what was trained, within the
// rounding of the coefficients.
func TestPredictorInTheFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	var x [][]float64
	var y []bool
	var w []float64
	for i := range 120 {
		r := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		y = append(y, r[0]*r[1] > 0) // no line parts them
		x, w = append(x, r), append(w, 1+float64(i%2))
	}
	m := &predictor{Design: &Design{clip: clip}}
	for range 3 {
		m.features = append(m.features, models.Feature{Name: "f", Scale: 1})
	}
	var err error
	if m.linear, err = learn.Logistic(x, y, w, 1); err != nil {
		t.Fatal(err)
	}
	if err := m.addKernel(x, y, w, 1); err != nil {
		t.Fatal(err)
	}
	right := 0
	for i := range x {
		if (m.at(x[i]) > 0) == y[i] {
			right++
		}
	}
	if least := 80; right < least {
		t.Errorf("got %d of %d rows right, want at least %d: a line gets about 60 right, the kernel the others", right, len(x), least)
	}
	if n := len(m.kernel.Coefficients); len(m.kernel.Vectors) != 3*n {
		t.Errorf("got %d bytes for %d vectors of 3", len(m.kernel.Vectors), n)
	}
}

func TestThinned(t *testing.T) {
	if got := thinned(3, 5); len(got) != 3 || got[2] != 2 {
		t.Errorf("got %v, want all of three", got)
	}
	if got := thinned(10, 5); len(got) != 5 || got[0] != 0 || got[4] != 8 {
		t.Errorf("got %v, want every second of ten", got)
	}
}
