package dsp_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// rounding is the largest relative error of a sum of a few hundred numbers
// about 1: 500 units in the last place.
const rounding = 1e-13

// normal returns n normal numbers, the same for the same seed.
func normal(seed uint64, n int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 0))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// near says that got is want, both NaN or within tol of max(1, |want|).
func near(got, want, tol float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return math.IsNaN(want) && math.IsNaN(got) || got == want
	}
	return math.Abs(got-want) <= tol*max(1, math.Abs(want))
}

func TestMomentsEqualThoseOfGonum(t *testing.T) {
	for _, n := range []int{2, 3, 17, 500} {
		x := normal(1, n)
		for i := range x {
			x[i] += 3
		}
		mean, m2, m3, m4 := dsp.CentralMoments(x)
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"mean", dsp.Mean(x), stat.Mean(x, nil)},
			{"standard deviation", dsp.SD(x), stat.StdDev(x, nil)},
			{"mean of the moments", mean, stat.Mean(x, nil)},
			{"second moment", m2, stat.Moment(2, x, nil)},
			{"third moment", m3, stat.Moment(3, x, nil)},
			{"fourth moment", m4, stat.Moment(4, x, nil)},
		} {
			if !near(c.got, c.want, rounding) {
				t.Errorf("%s of %d: got %v, want %v", c.name, n, c.got, c.want)
			}
		}
		index := make([]float64, n)
		for i := range index {
			index[i] = float64(i)
		}
		if _, want := stat.LinearRegression(index, x, nil, false); !near(dsp.Slope(x), want, rounding) {
			t.Errorf("slope of %d: got %v, want %v", n, dsp.Slope(x), want)
		}
	}
}

func TestStatisticsOfTooFewValues(t *testing.T) {
	nan := math.NaN()
	mean, m2, m3, m4 := dsp.CentralMoments(nil)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"mean of none", dsp.Mean(nil), nan},
		{"mean of one", dsp.Mean([]float64{5}), 5},
		{"mean with NaN", dsp.Mean([]float64{5, nan}), nan},
		{"standard deviation of one", dsp.SD([]float64{5}), nan},
		{"standard deviation of equals", dsp.SD([]float64{5, 5, 5}), 0},
		{"slope of one", dsp.Slope([]float64{5}), nan},
		{"slope of two", dsp.Slope([]float64{5, 7}), 2},
		{"percentile of none", dsp.Percentile(nil, 50), nan},
		{"percentile of one", dsp.Percentile([]float64{5}, 95), 5},
		{"moments of none", mean + m2 + m3 + m4, nan},
	} {
		if !near(c.got, c.want, 0) {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
}

// The values are those of numpy 1.24's percentile with method "linear", which
// is definition 7, for 1, 2, 3, 4.
func TestPercentileOfKnownValues(t *testing.T) {
	x := []float64{4, 1, 3, 2}
	for _, c := range []struct{ p, want float64 }{{0, 1}, {25, 1.75}, {50, 2.5}, {95, 3.85}, {100, 4}} {
		if got := dsp.Percentile(x, c.p); !near(got, c.want, rounding) {
			t.Errorf("percentile %v: got %v, want %v", c.p, got, c.want)
		}
	}
	if !slices.Equal(x, []float64{4, 1, 3, 2}) {
		t.Errorf("got the order %v afterwards, want it unchanged", x)
	}
}

// Percentiles by selection are those of sorting: of values that repeat, that
// come in runs, and with NaN.
func TestPercentileEqualsSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	for _, n := range []int{1, 2, 17, 18, 100, 5000} {
		for kind := range 5 {
			x := make([]float64, n)
			for i := range x {
				switch kind {
				case 0:
					x[i] = rng.NormFloat64()
				case 1:
					x[i] = float64(rng.IntN(3))
				case 2:
					x[i] = float64(i)
				case 3:
					x[i] = float64((i * i) % 7 * (n - i))
				default:
					x[i] = math.Abs(float64(i - n/2))
					if i == n/3 {
						x[i] = math.NaN()
					}
				}
			}
			sorted := slices.Sorted(slices.Values(x))
			for _, p := range []float64{0, 5, 50, 95, 100} {
				want := dsp.PercentileSorted(sorted, p)
				if got := dsp.Percentile(x, p); !near(got, want, 0) {
					t.Errorf("percentile %v of %d, kind %d: got %v, want %v", p, n, kind, got, want)
				}
				if got := dsp.PercentileInPlace(slices.Clone(x), p); !near(got, want, 0) {
					t.Errorf("percentile %v of %d in place, kind %d: got %v, want %v", p, n, kind, got, want)
				}
			}
		}
	}
}

func TestPercentileInPlaceAllocatesNothing(t *testing.T) {
	x := normal(2, 3000)
	if n := cost.Allocations(10, func() { dsp.PercentileInPlace(x, 95) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
