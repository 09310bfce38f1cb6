package lanes

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/fused"
)

// randoms are n numbers of a normal distribution.
func randoms(n int) []float64 {
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// The transforms of four frames are those of [dsp.FFT], which is compared with the
// definition in its package.
func TestFFT(t *testing.T) {
	const tolerance = 1e-14 // of the largest magnitude: rounding of eleven passes
	for n := 16; n <= 2048; n *= 2 {
		for _, avx2 := range []bool{hasAVX2, false} {
			f, plain := NewFFT(n), dsp.NewFFT(n)
			f.avx2 = avx2
			x := randoms(n + 3*8)
			window := randoms(n - 4)
			var frames [Count][]float64
			for l := range frames {
				frames[l] = x[8*l:][:len(window)]
			}
			power, complexes := make([]float64, Count*(n/2+1)), make([]float64, 2*Count*(n/2+1))
			f.Load(&frames, window)
			f.Power(power)
			f.Load(&frames, window)
			f.Coefficients(complexes)
			for l := range Count {
				y := make([]float64, n)
				dsp.Multiply(y[:len(window)], x[8*l:][:len(window)], window)
				want, top := plain.Coefficients(nil, y), 0.0
				for _, c := range want {
					top = max(top, cmplx.Abs(c))
				}
				for k, c := range want {
					got := complex(complexes[2*Count*k+l], complexes[2*Count*k+Count+l])
					if !(cmplx.Abs(got-c) <= tolerance*top) {
						t.Fatalf("%d samples, AVX2 %v, frame %d, bin %d: got %v, want %v", n, avx2, l, k, got, c)
					}
					p, w := power[Count*k+l], real(c)*real(c)+imag(c)*imag(c)
					if !(math.Abs(p-w) <= 3*tolerance*top*top) {
						t.Fatalf("%d samples, AVX2 %v, frame %d, bin %d: got power %v, want %v", n, avx2, l, k, p, w)
					}
				}
			}
		}
	}
}

// The assembly has the operations of the loops in Go in the same order, so that the bits
// are the same, but where the compiler fuses multiplication and addition.
func TestAssemblyEqualsGo(t *testing.T) {
	if !hasAVX2 {
		t.Skip("needs AVX2")
	}
	const rounded = 1e-9
	equal := func(a, b float64) bool { return a == b }
	if fused.MultiplyAdd() {
		equal = func(a, b float64) bool { return math.Abs(a-b) <= rounded*(1+math.Abs(b)) }
	}
	for _, n := range []int{4, 8, 20, 64} {
		x, y := randoms(8*(n+1)), randoms(8*(n+2))
		frames := [Count][]float64{x, x[1:], x[2:], x[3:]}
		var bins []bin
		for k := range n/2 + 1 {
			bins = append(bins, bin{8 * k % n, 8 * (n - k) % n, y[k], y[k+1]})
		}
		for name, run := range map[string]func(dst []float64, avx2 bool){
			"load": func(dst []float64, avx2 bool) { load(dst, &frames, y[:n], avx2) },
			"unload": func(dst []float64, avx2 bool) {
				m := n + 2
				unload(&[Count][]float64{dst, dst[m:], dst[2*m:], dst[3*m:]}, x[:Count*m], avx2)
			},
			"stage":        func(dst []float64, avx2 bool) { copy(dst, x); stage(dst[:8*n], y[:6*(n/4)], 1, avx2) },
			"last pass, 4": func(dst []float64, avx2 bool) { copy(dst, x); last4(dst[:8*n], avx2) },
			"last pass, 2": func(dst []float64, avx2 bool) { copy(dst, x); last2(dst[:8*n], avx2) },
			"power":        func(dst []float64, avx2 bool) { powers(dst, slices.Repeat(x, 4), bins, avx2) },
			"coefficients": func(dst []float64, avx2 bool) { coefficients(dst, slices.Repeat(x, 4), bins, avx2) },
			"sum":          func(dst []float64, avx2 bool) { *(*[Count]float64)(dst) = sum(x, avx2) },
			"taper": func(dst []float64, avx2 bool) {
				taper(dst, x, y[:n], (*[Count]float64)(y), avx2)
			},
			"highest": func(dst []float64, avx2 bool) { *(*[Count]float64)(dst) = highest(x, avx2) },
			"unfold": func(dst []float64, avx2 bool) {
				odd := [Count]float64(y)
				unfold(dst, x, y[:n], &odd, avx2)
			},
			"fold": func(dst []float64, avx2 bool) {
				fold(dst[Count:], x, y[:n-2], (*[Count]float64)(dst), avx2)
			},
		} {
			got, want := make([]float64, 16*n+64), make([]float64, 16*n+64)
			run(got, true)
			run(want, false)
			if !slices.EqualFunc(got, want, equal) {
				t.Errorf("%s, %d elements: got %v, want %v", name, n, got[:8], want[:8])
			}
		}
	}
}
