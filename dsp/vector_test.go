package dsp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/fused"
)

// TestVectorAssemblyEqualsGo: see TestFFTAssemblyEqualsGo.
func TestVectorAssemblyEqualsGo(t *testing.T) {
	if !hasAVX {
		t.Skip("needs AVX")
	}
	tol := 0.0
	if fused.MultiplyAdd() {
		tol = 1e-12
	}
	for _, n := range []int{0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 23, 24, 27, 31, 32, 100, 1103} {
		x, y := noise(41, n), noise(42, n)
		both := func(what string, f func(dst []float64, avx bool)) {
			t.Helper()
			var got [2][]float64
			for i, avx := range []bool{true, false} {
				got[i] = make([]float64, n+16)
				for j := range got[i] {
					got[i][j] = 7
				}
				f(got[i], avx)
			}
			compare(t, fmt.Sprint(what, " of ", n), got[0], got[1], tol)
		}
		both("dot product", func(dst []float64, avx bool) { dst[0] = dotProduct(x, y, avx) })
		b := noise(43, 4*n+40)
		both("dot products", func(dst []float64, avx bool) {
			lags := [5]int{0, 3, 11, 11, 17}
			s := dotProducts5(x, b, lags, avx)
			three := dotProducts3(x, b, [3]int(lags[:]), avx)
			copy(dst, s[:])
			for i, lag := range lags {
				if one := dotProduct(x, b[lag:], avx); one != s[i] || i < 3 && one != three[i] {
					t.Errorf("dot products of %d: got %v and %v, want %v as one alone", n, s, three, one)
				}
			}
		})
		both("total", func(dst []float64, avx bool) { dst[0] = total(x, avx) })
		both("shift", func(dst []float64, avx bool) { shift(dst, x, 0.3, avx) })
		both("product", func(dst []float64, avx bool) { product(dst, x, y, avx) })
		both("accumulation", func(dst []float64, avx bool) { accumulate(dst, x, avx) })
		both("correlation", func(dst []float64, avx bool) { correlate(dst[:n], x[:n/2], b, avx) })
		both("long correlation", func(dst []float64, avx bool) { correlate(dst[:n], b[:30], b[5:][:n+29], avx) })
		both("autocorrelation", func(dst []float64, avx bool) { autocorrelate(dst[:13], x, avx) })
		for _, d := range []int{2, 4} {
			need := 0
			if n > 0 {
				need = d*(n-1) + 3*d - 2
			}
			both("reduction", func(dst []float64, avx bool) { reduce(dst[:n], b[:need], boxes(d), d, 0.1, avx) })
		}
	}
}

// The sums against their definitions, and no more than their part written.
func TestVectorSums(t *testing.T) {
	const rounding = 1e-13 // of sums of up to 300 numbers about 1
	for _, n := range []int{1, 5, 16, 29, 300} {
		a, b := noise(51, n), noise(52, n+20)
		dst := make([]float64, 21)
		dst[20] = 7
		correlate(dst[:20], a, b, hasAVX)
		want, r := make([]float64, 21), make([]float64, 13)
		want[20] = 7
		for k := range 20 {
			for j := range a {
				want[k] += a[j] * b[j+k]
			}
		}
		compare(t, "correlation", dst, want, rounding)
		autocorrelate(r, a, hasAVX)
		lag := make([]float64, 13)
		for k := range lag {
			for j := 0; j+k < n; j++ {
				lag[k] += a[j] * a[j+k]
			}
		}
		compare(t, "autocorrelation", r, lag, rounding)
		var sum, dot float64
		for j, v := range a {
			sum += v
			dot += v * b[j]
		}
		compare(t, "sums", []float64{total(a, hasAVX), dotProduct(a, b, hasAVX)}, []float64{sum, dot}, rounding)
	}
	for _, d := range []int{1, 3, 4} {
		h, x := boxes(d), noise(53, 200)
		dst, want := make([]float64, 17), make([]float64, 17)
		reduce(dst, x, h, d, 0.25, hasAVX)
		for i := range want {
			for j, v := range h {
				want[i] += v * x[i*d+j]
			}
			want[i] -= 0.25
		}
		compare(t, "reduction", dst, want, rounding)
	}
}

// The logarithm against package math's over all positive normal numbers.
func TestLogs(t *testing.T) {
	const ulp = 2.3e-16 // both are within one unit of the last place
	rng := rand.New(rand.NewPCG(61, 0))
	x := []float64{1, 2, 0.5, leastNormal, math.MaxFloat64, math.Sqrt2, math.Sqrt(0.5), math.Nextafter(1, 0), math.Nextafter(1, 2), 10}
	for range 4000 {
		x = append(x, math.Float64frombits(1<<52+rng.Uint64N(0x7ff<<52-1<<52)), math.Exp(rng.Float64()-0.5))
	}
	x = append(x, 3) // not a multiple of 4
	y, z := make([]float64, len(x)), make([]float64, len(x))
	logs(y, x, hasAVX2)
	logs(z, x, false)
	for i, v := range x {
		want := math.Log(v)
		if d := math.Abs(y[i] - want); d > 2*ulp*math.Abs(want) {
			t.Errorf("ln %v: got %v, want %v", v, y[i], want)
		}
		if y[i] != z[i] && !(fused.MultiplyAdd() && math.Abs(y[i]-z[i]) <= 2*ulp*math.Abs(want)) {
			t.Errorf("ln %v: got %v in assembly, %v in Go", v, y[i], z[i])
		}
	}
}
