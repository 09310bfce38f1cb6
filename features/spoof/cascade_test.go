package spoof

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/fused"
)

func randoms(n int) []float64 {
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// The assembly has the operations of the pure Go code in the same order, so that the bits
// are the same, but where the compiler fuses multiplication and addition.
func TestCascadesInAssembly(t *testing.T) {
	if !hasAVX2 {
		t.Skip("needs AVX2")
	}
	const rounded = 1e-9
	near := func(a, b float64) bool { return math.Abs(a-b) <= rounded*(1+math.Abs(b)) }
	same := func(a, b float64) bool { return a == b }
	equal := same
	if fused.MultiplyAdd() {
		equal = near
	}
	for _, n := range []int{0, 1, 2, 4, 5, 6, 7, 8, 9, 11, 12, 13, 100, 4001} {
		x := randoms(n)
		got, want := slices.Clone(x), slices.Clone(x)
		filtfilt(got, &bandPass, true)
		filtfilt(want, &bandPass, false)
		if !slices.EqualFunc(got, want, equal) {
			t.Errorf("%d samples: got %v, want %v", n, got[:min(n, 12)], want[:min(n, 12)])
		}
	}
}

// The level of a tone behind the filters is that of their transfer function.
func TestCascadesHaveTheirGain(t *testing.T) {
	for _, hz := range []float64{10, 60, 1000, 4400, 5500, 6300, 7400, 7900} {
		x := make([]float64, rateHz)
		for i := range x {
			x[i] = math.Sin(2 * math.Pi * hz * float64(i) / rateHz)
		}
		y := slices.Clone(x)
		filtfilt(y, &bandPass, hasAVX2)
		gain := func(sections []biquad) float64 {
			z := cmplx.Rect(1, -2*math.Pi*hz/rateHz) // z⁻¹
			h := complex(1, 0)
			for _, q := range sections {
				c := func(v float64) complex128 { return complex(v, 0) }
				h *= (c(q.b0) + z*(c(q.b1)+z*c(q.b2))) / (1 + z*(c(q.a1)+z*c(q.a2)))
			}
			return cmplx.Abs(h)
		}
		level := func(x []float64) float64 { // of the middle half, 1 for a sine of amplitude 1
			x = x[len(x)/4 : 3*len(x)/4]
			var s float64
			for _, v := range x {
				s += v * v
			}
			return math.Sqrt(2 * s / float64(len(x)))
		}
		if got, want := level(y), gain(bandPass[:])*gain(bandPass[:]); !(math.Abs(got-want) <= 1e-3) {
			t.Errorf("%g Hz: got %.5f, want %.5f", hz, got, want)
		}
	}
}
