package models

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestKernelLoops compares the loops, with and without assembly, with their sums in 64 bits.
// The largest numbers come at once, which would overflow one bit less.
func TestKernelLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 15, 16, 17, 298, 304, fixedSums, fixedSums + 17, 3 * fixedSums} {
		for _, extreme := range []bool{false, true} {
			high, low, a, b := make([]int16, n), make([]int16, n), make([]byte, n), make([]byte, n)
			for i := range high {
				high[i], low[i] = int16(r.IntN(1<<fixedPart)-1<<14), int16(r.IntN(1<<fixedPart)-1<<14)
				a[i], b[i] = byte(r.IntN(256)), byte(r.IntN(256))
				if extreme {
					high[i], low[i], a[i], b[i] = -1<<14, -1<<14, 128, 128
				}
			}
			var dot, square int64
			for i, v := range a {
				s := int64(int8(v))
				dot += (int64(high[i])<<fixedPart + int64(low[i])) * s
				square += s * s
			}
			w := [4]int16{high[0], low[0], high[n-1], low[n-1]}
			for _, avx2 := range []bool{hasAVX2, false} {
				gotDot, gotSquare := products(high, low, a, avx2)
				if gotDot != dot || gotSquare != square {
					t.Errorf("%d features, AVX2 %v: got sums %d and %d, want %d and %d", n, avx2, gotDot, gotSquare, dot, square)
				}
				sums := [2][]int32{make([]int32, n), make([]int32, n)}
				for range fixedSums / 2 {
					weigh(sums[0], sums[1], a, b, &w, avx2)
				}
				for i := range a {
					want := [2]int64{
						fixedSums / 2 * (int64(w[0])*int64(int8(a[i])) + int64(w[1])*int64(int8(b[i]))),
						fixedSums / 2 * (int64(w[2])*int64(int8(a[i])) + int64(w[3])*int64(int8(b[i]))),
					}
					if got := [2]int64{int64(sums[0][i]), int64(sums[1][i])}; got != want {
						t.Fatalf("%d features, AVX2 %v: got sums %d of feature %d, want %d", n, avx2, got, i, want)
					}
				}
			}
		}
	}
}

// TestFixedRounds splits numbers of all magnitudes: the parts add up to the number but for
// half a unit.
func TestFixedRounds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, largest := range []float64{0, 5e-324, 1e-300, 0.75, 1, 1.5, 127, math.Nextafter(256, 0), 256, mostSteps} {
		unit := fixedUnit(largest)
		if largest > 1e-200 && !(unit <= largest*0x1p-28) {
			t.Errorf("largest %v: got the unit %v", largest, unit)
		}
		for _, x := range []float64{0, largest, -largest, largest * r.Float64(), -largest * r.Float64()} {
			high, low := fixed(x, 1/unit)
			got := unit * (float64(high)*(1<<fixedPart) + float64(low))
			if !(math.Abs(got-x) <= unit/2) || max(high, -high, low, -low) > 1<<14 {
				t.Errorf("%v of %v: got %d and %d", x, largest, high, low)
			}
		}
	}
}

// TestKernelEqualsDefinition compares the sum and the contributions of a machine of the size
// of the shipped one, and of other sizes, with their definitions.
func TestKernelEqualsDefinition(t *testing.T) {
	const tolerance = 1e-8 // of the largest: 2⁻²⁹ in each of up to 3,000 terms, of random sign
	r := rand.New(rand.NewPCG(5, 6))
	for _, size := range [][2]int{{2, 1}, {20, 513}, {298, 3117}, {1100, 4}} {
		n, m := size[0], size[1]
		k := &Kernel{Gamma: 0.7 / float64(n), Step: 0.0236, Vectors: make([]byte, n*m), Coefficients: make([]float64, m)}
		for i := range k.Vectors {
			k.Vectors[i] = byte(int8(min(max(42*r.NormFloat64(), -127), 127)))
		}
		for j := range k.Coefficients {
			k.Coefficients[j] = r.NormFloat64()
		}
		z, want, got := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range z {
			z[i] = r.NormFloat64()
		}
		var sum float64
		for j, c := range k.Coefficients {
			var square float64
			v := k.Vectors[j*n:]
			for i, x := range z {
				d := x - k.Step*float64(int8(v[i]))
				square += d * d
			}
			c *= math.Exp(-k.Gamma * square)
			sum += c
			for i, x := range z {
				want[i] += c * k.Gamma * x * (2*k.Step*float64(int8(v[i])) - x)
			}
		}
		if got := k.at(z, got, &kernelScratch{}); !(math.Abs(got-sum) <= tolerance*(1+math.Abs(sum))) {
			t.Errorf("%d features, %d vectors: got the sum %v, want %v", n, m, got, sum)
		}
		top := max(slices.Max(want), -slices.Min(want))
		for i, w := range want {
			if !(math.Abs(got[i]-w) <= tolerance*top) {
				t.Errorf("%d features, %d vectors: got the contribution %v of feature %d, want %v", n, m, got[i], i, w)
			}
		}
	}
}

// TestKernelFarAway: far from all vectors the sum is 0; of NaN it is NaN.
func TestKernelFarAway(t *testing.T) {
	for z, want := range map[float64]float64{1e308: 0, -1e150: 0, 1e6: 0, math.Inf(1): 0, math.NaN(): math.NaN()} {
		k := &Kernel{Gamma: 0.1, Step: 1e-3, Vectors: []byte{100, 200}, Coefficients: []float64{3}}
		if got := k.At([]float64{z, 1}); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%v: got %v, want %v", z, got, want)
		}
	}
}
