package learn

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// equations returns the two sums of proposal 2 that are to be zero, by definition.
func equations(s weighted, l location) (mean, scale float64) {
	for i, x := range s.x {
		u := (x - l.mean) / l.sd
		psi := u
		if u > huberK {
			psi = huberK
		}
		if u < -huberK {
			psi = -huberK
		}
		mean += s.w[i] * psi
		scale += s.w[i] * psi * psi
	}
	return mean, scale - huberBeta*(l.people-1)
}

func TestHuberSolvesItsEquations(t *testing.T) {
	const tolerance = 1e-6 // of sums over people
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{3, 10, 200} {
		var s weighted
		for i := range n {
			x := 5 + 2*rng.NormFloat64()
			if i%9 == 0 {
				x += 20
			}
			s.add(x, 0.5+float64(i%3))
		}
		l := huber(s, 1e-9)
		if a, b := equations(s, l); math.Abs(a) > tolerance || math.Abs(b) > tolerance {
			t.Errorf("%d values: got %+v, whose equations have %v and %v, want 0", n, l, a, b)
		}
	}
}

// TestHuberVariance draws normal samples: the estimates are those of the
// distribution, and vary as the constants say.
func TestHuberVariance(t *testing.T) {
	const n, draws, tolerance = 100, 4000, 0.06
	rng := rand.New(rand.NewPCG(3, 4))
	var m, mm, l, ll float64
	for range draws {
		var s weighted
		for range n {
			s.add(rng.NormFloat64(), 1)
		}
		got := huber(s, 1e-9)
		m, mm = m+got.mean/draws, mm+got.mean*got.mean/draws
		l, ll = l+math.Log(got.sd)/draws, ll+math.Log(got.sd)*math.Log(got.sd)/draws
	}
	if math.Abs(m) > 0.01 || math.Abs(l) > 0.01 {
		t.Errorf("got mean %.4f and log scale %.4f, want 0", m, l)
	}
	if got := n * (mm - m*m); math.Abs(got/meanVariance-1) > tolerance {
		t.Errorf("got variance of the mean %.3f/n, want %.3f/n", got, meanVariance)
	}
	if got := n * (ll - l*l); math.Abs(got/scaleVariance-1) > tolerance {
		t.Errorf("got variance of the log scale %.3f/n, want %.3f/n", got, scaleVariance)
	}
}

// TestHuberIsRobust replaces values by extreme ones.
func TestHuberIsRobust(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var s weighted
	for range 200 {
		s.add(rng.NormFloat64(), 1)
	}
	before := huber(s, 1e-9)
	for _, far := range []float64{10, 1e6, 1e300, math.Inf(1)} {
		one := weighted{append([]float64(nil), s.x...), s.w}
		one.x[0] = far
		got := huber(one, 1e-9)
		if math.Abs(got.mean-before.mean) > 3.5*huberK/200 || math.Abs(got.sd/before.sd-1) > 0.02 {
			t.Errorf("one value of %v: got %+v, before %+v", far, got, before)
		}
		for i := range 20 { // one in ten
			one.x[i] = far
		}
		if got := huber(one, 1e-9); math.Abs(got.mean-before.mean) > 0.3 || got.sd > 1.5*before.sd {
			t.Errorf("20 of 200 values of %v: got %+v, before %+v", far, got, before)
		}
	}
}

func TestHuberEdges(t *testing.T) {
	if got := huber(weighted{}, 1); !math.IsNaN(got.mean) || !math.IsNaN(got.sd) || got.people != 0 {
		t.Errorf("nobody: got %+v, want NaN", got)
	}
	if got := huber(weighted{[]float64{3}, []float64{1}}, 1); got.mean != 3 || !math.IsNaN(got.sd) {
		t.Errorf("one value: got %+v, want the mean 3 and no standard deviation", got)
	}
	if got := huber(weighted{[]float64{3, 3, 3, 3}, []float64{1, 1, 1, 1}}, 0.1); got.mean != 3 || got.sd != 0.1 {
		t.Errorf("equal values: got %+v, want 3 and the least standard deviation", got)
	}
	if got := huber(weighted{[]float64{math.Inf(-1), math.Inf(-1), 2}, []float64{1, 1, 1}}, 0.1); !math.IsNaN(got.mean) {
		t.Errorf("mostly infinite: got %+v, want NaN", got)
	}
	if got := weightedMedian([]float64{4, 1, 2, 3}, []float64{1, 1, 1, 1}); got != 2.5 {
		t.Errorf("median of 1 to 4: got %v, want 2.5", got)
	}
	if got := weightedMedian([]float64{4, 1, 2}, []float64{5, 1, 1}); got != 4 {
		t.Errorf("weighted median: got %v, want 4", got)
	}
}

// TestShrinkIsThePosteriorMean compares with the normal posterior by matrices.
func TestShrinkIsThePosteriorMean(t *testing.T) {
	const tolerance = 1e-12
	l := level{common: 0.5, own: 0.2}
	x, v, mean := []float64{0.7, -0.1, 0.4}, []float64{0.02, 0.1, 0.5}, 0.05
	cov, total := mat.NewDense(3, 3, nil), mat.NewDense(3, 3, nil)
	for i := range 3 {
		for j := range 3 {
			c := l.common * l.common
			if i == j {
				c += l.own * l.own
			}
			cov.Set(i, j, c)
			if i == j {
				c += v[i]
			}
			total.Set(i, j, c)
		}
	}
	var inverse, gain mat.Dense
	if err := inverse.Inverse(total); err != nil {
		t.Fatal(err)
	}
	gain.Mul(cov, &inverse)
	got := l.shrink(x, v, mean)
	for i := range 3 {
		want := mean
		for j := range 3 {
			want += gain.At(i, j) * (x[j] - mean)
		}
		if math.Abs(got[i]-want) > tolerance {
			t.Errorf("group %d: got %v, want %v", i, got[i], want)
		}
	}
	inf := math.Inf(1)
	if got := l.shrink([]float64{math.NaN(), math.NaN()}, []float64{inf, inf}, mean); got[0] != mean || got[1] != mean {
		t.Errorf("no data: got %v, want %v", got, mean)
	}
	if got := l.shrink([]float64{0.7, math.NaN()}, []float64{1e-12, inf}, 0); math.Abs(got[0]-0.7) > 1e-9 || math.Abs(got[1]-0.7*0.25/(0.25+0.04)) > 1e-9 {
		t.Errorf("one group with much data: got %v, want its own value, and for the other what is shared", got)
	}
}

// TestFitFindsTheLevels draws differences of features with known levels.
func TestFitFindsTheLevels(t *testing.T) {
	const features, groups, tolerance = 4000, 4, 0.03
	rng := rand.New(rand.NewPCG(7, 8))
	for _, want := range []level{{0.5, 0.25}, {0, 0}, {0.2, 0.6}} {
		x, v, expected := make([][]float64, features), make([][]float64, features), make([]float64, features)
		for j := range x {
			expected[j] = rng.NormFloat64()
			shared := expected[j] + want.common*rng.NormFloat64()
			for g := range groups {
				variance := 0.01 * float64(1+g)
				x[j] = append(x[j], shared+want.own*rng.NormFloat64()+math.Sqrt(variance)*rng.NormFloat64())
				v[j] = append(v[j], variance)
			}
			x[j][j%groups], v[j][j%groups] = 0, math.Inf(1) // no data
		}
		if got := meanLevel.fit(x, v, expected); math.Abs(got.common-want.common) > tolerance || math.Abs(got.own-want.own) > tolerance {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	inf := math.Inf(1)
	if got := meanLevel.fit([][]float64{{0, 0}}, [][]float64{{inf, inf}}, []float64{0}); got != meanLevel {
		t.Errorf("no data: got %+v, want %+v", got, meanLevel)
	}
}
