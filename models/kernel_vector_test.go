package models

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestKernelLoops compares the loops, with and without assembly, with their sums in the
// order of the index. Without fused multiplication and addition both give the same bits.
func TestKernelLoops(t *testing.T) {
	const tolerance = 1e-13 // relative: rounding of 300 sums
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 7, 8, 9, 298, 304} {
		x, v := make([]float64, n), make([]byte, n)
		for i := range x {
			x[i], v[i] = 100*r.NormFloat64(), byte(r.IntN(256))
		}
		var square float64
		for i, b := range v {
			square += (x[i] - float64(int8(b))) * (x[i] - float64(int8(b)))
		}
		var squares [2]float64
		var sums [2][]float64
		for i, avx2 := range []bool{hasAVX2, false} {
			squares[i] = distance(x, v, avx2)
			if math.Abs(squares[i]-square) > tolerance*square {
				t.Errorf("%d features: got the distance %v, want %v", n, squares[i], square)
			}
			sums[i] = append([]float64(nil), x...)
			weigh(sums[i], v, 0.3, avx2)
			for j, got := range sums[i] {
				if want := x[j] + 0.3*float64(int8(v[j])); math.Abs(got-want) > tolerance*100 {
					t.Errorf("%d features: got sum %d = %v, want %v", n, j, got, want)
				}
			}
		}
		if multiplyAdd(1+0x1p-30, 1+0x1p-30, -(1+0x1p-29)) != 0 {
			continue // the compiler fuses
		}
		if squares[0] != squares[1] {
			t.Errorf("%d features: got the distance %v in assembly, want %v", n, squares[0], squares[1])
		}
		for j := range sums[0] {
			if sums[0][j] != sums[1][j] {
				t.Errorf("%d features: got sum %d = %v in assembly, want %v", n, j, sums[0][j], sums[1][j])
			}
		}
	}
}

//go:noinline
func multiplyAdd(x, y, z float64) float64 { return x*y + z }
