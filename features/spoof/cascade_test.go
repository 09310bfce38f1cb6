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
	bands := newCoherences().cascades
	for _, n := range []int{0, 1, 2, 4, 5, 6, 7, 8, 9, 11, 12, 13, 100, 4001} {
		x := randoms(n)
		got, want := slices.Clone(x), slices.Clone(x)
		filtfilt(got, &bandPass, true)
		filtfilt(want, &bandPass, false)
		if !slices.EqualFunc(got, want, equal) {
			t.Errorf("%d samples: got %v, want %v", n, got[:min(n, 12)], want[:min(n, 12)])
		}
		m := n / coherenceStep
		var e [2][2][]float64
		for i, avx2 := range []bool{true, false} {
			e[i] = [2][]float64{make([]float64, m), make([]float64, m)}
			envelopesOf(e[i][0], e[i][1], x, &bands, avx2)
		}
		for b := range 2 {
			if !slices.EqualFunc(e[0][b], e[1][b], equal) {
				t.Errorf("%d samples, band %d: got %v, want %v", n, b+1, e[0][b][:min(m, 5)], e[1][b][:min(m, 5)])
			}
		}
	}
}

// The level of a tone behind the filters is that of their transfer function.
func TestCascadesHaveTheirGain(t *testing.T) {
	bands := newCoherences().cascades
	for _, hz := range []float64{10, 60, 1000, 4400, 5500, 6300, 7400, 7900} {
		x := make([]float64, rateHz)
		for i := range x {
			x[i] = math.Sin(2 * math.Pi * hz * float64(i) / rateHz)
		}
		a, b := make([]float64, len(x)/coherenceStep), make([]float64, len(x)/coherenceStep)
		envelopesOf(a, b, x, &bands, hasAVX2)
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
		for _, f := range []struct {
			what      string
			got, want float64
		}{
			{"band pass", level(y), gain(bandPass[:]) * gain(bandPass[:])},
			{"low band", level(a) / math.Sqrt(coherenceStep), gain(bands[0][:])},
			{"high band", level(b) / math.Sqrt(coherenceStep), gain(bands[1][:])},
		} {
			if !(math.Abs(f.got-f.want) <= 1e-3) {
				t.Errorf("%g Hz, %s: got %.5f, want %.5f", hz, f.what, f.got, f.want)
			}
		}
	}
}
