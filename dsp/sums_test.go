package dsp

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/fused"
)

// TestSumsAssemblyEqualsGo: see TestFFTAssemblyEqualsGo.
func TestSumsAssemblyEqualsGo(t *testing.T) {
	if !hasAVX {
		t.Skip("needs AVX")
	}
	tol := 0.0
	if fused.MultiplyAdd() {
		tol = 1e-12
	}
	for _, n := range []int{0, 1, 3, 4, 7, 8, 9, 31, 32, 33, 100, 513} {
		x, w := noise(71, n), noise(72, n/2)
		both := func(what string, f func(dst []float64, avx bool)) {
			t.Helper()
			var got [2][]float64
			for i, avx := range []bool{true, false} {
				got[i] = make([]float64, 3*n+12)
				f(got[i], avx)
			}
			compare(t, fmt.Sprint(what, " of ", n), got[0], got[1], tol)
		}
		both("moments", func(dst []float64, avx bool) { dst[0], dst[1] = moments(x, avx) })
		both("central sums", func(dst []float64, avx bool) { dst[0], dst[1], dst[2] = centralSums(x, 0.3, avx) })
		both("powers", func(dst []float64, avx bool) { dst[0], dst[1] = powers(x, 0.3, avx) })
		both("centre", func(dst []float64, avx bool) {
			centre(dst[:n], dst[n:2*n], dst[2*n:3*n], x, w, 0.3, avx)
		})
		both("taper", func(dst []float64, avx bool) { taper(dst, x, noise(74, n), 0.3, avx) })
		both("widen", func(dst []float64, avx bool) {
			c := make([]complex128, n+1)
			widen(c, x, avx)
			for i, v := range c {
				dst[2*i], dst[2*i+1] = real(v), imag(v)
			}
			if n > 0 && (dst[2*n-2] != x[n-1] || c[n] != 0) {
				t.Errorf("widen of %d: got %v at the end and %v behind, want %v", n, dst[2*n-2], c[n], x[n-1])
			}
		})
		both("combine", func(dst []float64, avx bool) {
			const columns = 7
			combine(dst[:n], noise(75, n*columns), noise(76, columns), avx)
		})
		both("raise", func(dst []float64, avx bool) {
			copy(dst, x)
			raise(dst[:n], -0.25, avx)
		})
		both("highest", func(dst []float64, avx bool) {
			dst[0], dst[1] = highest(x, allBits, avx), highest(x, magnitude, avx)
		})
		both("order", func(dst []float64, avx bool) {
			copy(dst, x)
			copy(dst[n:], noise(73, n))
			order(dst[:n], dst[n:2*n], avx)
		})
		if n%4 == 0 && n > 0 {
			both("survey", func(dst []float64, avx bool) {
				s := [12]float64{1, 2, 3, 4, x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0]}
				if avx {
					surveyAVX(&s, &x[0], n)
				} else {
					surveyGo(&s, x)
				}
				copy(dst, s[:])
			})
		}
	}
}

// The sums against their definitions.
func TestSums(t *testing.T) {
	const rounding = 1e-12 // of sums of up to 513 numbers about 1, times their index
	for _, n := range []int{1, 5, 16, 29, 513} {
		x, w := noise(81, n), noise(82, n)
		var total, moment, first, second float64
		for k, v := range x {
			total += v
			moment += float64(k) * v
			first += v - 0.3
			second += (v - 0.3) * (v - 0.3)
		}
		a, b := moments(x, hasAVX)
		c, d := powers(x, 0.3, hasAVX)
		compare(t, "moments and powers", []float64{a, b / float64(n), c, d}, []float64{total, moment / float64(n), first, second}, rounding)
		raised := slices.Clone(x)
		raise(raised, -0.25, hasAVX)
		top, peak := 0.0, 0.0
		y, z, q := make([]float64, n), make([]float64, n), make([]float64, n)
		taper(q, x, w, 0.3, hasAVX)
		for i, v := range x {
			top, peak = max(top, v), max(peak, math.Abs(v))
			if raised[i] != max(v, -0.25) || math.Abs(q[i]-(v-0.3)*w[i]) > 1e-15 {
				t.Fatalf("%d of %d: got %v raised and %v tapered of %v", i, n, raised[i], q[i], v)
			}
		}
		if a, b := highest(x, allBits, hasAVX), highest(x, magnitude, hasAVX); a != top || b != peak {
			t.Errorf("highest of %d: got %v and %v, want %v and %v", n, a, b, top, peak)
		}
		centre(y, z, q, x, w[:n/2], 0.3, hasAVX)
		for i, v := range x {
			v -= 0.3
			if y[i] != v || q[i] != v*v || i < n/2 && z[i] != v*w[i] || i >= n/2 && z[i] != 0 {
				t.Fatalf("centre of %d: got %v, %v and %v at %d of %v", n, y[i], q[i], z[i], i, x[i])
			}
		}
	}
}

// Order sorts when it is used as in the floors of spectra: what remains is the smallest.
func TestOrderKeepsTheLowest(t *testing.T) {
	const kept, n = 5, 23
	var all [n][]float64
	rows := make([][]float64, kept)
	for i := range rows {
		rows[i] = slices.Repeat([]float64{math.Inf(1)}, n)
	}
	for seed := range uint64(40) {
		x := noise(seed+90, n)
		for k, v := range x {
			all[k] = append(all[k], v)
		}
		for _, row := range rows {
			Order(row, x)
		}
	}
	for k := range all {
		slices.Sort(all[k])
		for i, row := range rows {
			if row[k] != all[k][i] {
				t.Errorf("column %d: got %v as value %d, want %v", k, row[k], i, all[k][i])
			}
		}
	}
}

// Inside never passes a sample that is outside and comes near to the first.
func TestInside(t *testing.T) {
	for _, avx := range []bool{hasAVX, false} {
		for n := range 40 {
			x := make([]float64, n)
			if got := inside(x, -1, 1, avx); got != n {
				t.Errorf("got %d of %d samples inside, want all", got, n)
			}
			for at := range n {
				for _, v := range []float64{1, -1, 2, -2, math.NaN(), math.Inf(1)} {
					x[at] = v
					if got := inside(x, -1, 1, avx); got > at || got < at-7 {
						t.Errorf("%v at %d of %d: got %d samples inside", v, at, n, got)
					}
				}
				x[at] = 0
			}
		}
	}
}

// A survey in blocks of any kind of sample against the definition.
func TestSurveyOfExtremes(t *testing.T) {
	x := noise(99, 103)
	x[57], x[100] = 3.5, -3.25
	var v Survey
	v.Add(nil, x[:40])
	v.Add(nil, x[40:])
	e := v.extent()
	if e.lo != -3.25 || e.hi != 3.5 || math.Abs(e.mean-Mean(x)) > 1e-15 || v.Len() != len(x) || v.dirty {
		t.Errorf("got %+v of %d samples, want -3.25, 3.5 and %v of %d", e, v.Len(), Mean(x), len(x))
	}
	for bad, want := range map[float64]float64{math.NaN(): 0, math.Inf(-1): 0, 17: 16, -17: -16} {
		for at := range 12 {
			y := slices.Clone(x[:12])
			y[at] = bad
			var v Survey
			got := v.Add(nil, y)
			if !v.dirty || got[at] != want {
				t.Errorf("%v at %d: got %v, dirty %v, want %v", bad, at, got[at], v.dirty, want)
			}
		}
	}
}
