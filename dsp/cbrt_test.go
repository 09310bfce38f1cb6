package dsp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/fused"
)

// The cubic root against package math's over all positive normal numbers, in assembly and
// in Go.
func TestCbrts(t *testing.T) {
	const ulp = 2.3e-16 // both are within 0.67 units of the last place
	rng := rand.New(rand.NewPCG(62, 0))
	x := []float64{1, 8, 27, 0.125, leastNormal, math.MaxFloat64, 1e-30, 1e30, math.Nextafter(1, 0), math.Nextafter(8, 9)}
	for range 4000 {
		x = append(x, math.Float64frombits(1<<52+rng.Uint64N(0x7ff<<52-1<<52)), math.Exp(40*rng.Float64()-20))
	}
	x = append(x, 3) // not a multiple of 4
	y, z := append([]float64(nil), x...), append([]float64(nil), x...)
	cbrts(y, hasAVX2)
	cbrts(z, false)
	for i, v := range x {
		want := math.Cbrt(v)
		if d := math.Abs(y[i] - want); d > 2*ulp*want {
			t.Errorf("root of %v: got %v, want %v", v, y[i], want)
		}
		if y[i] != z[i] && !(fused.MultiplyAdd() && math.Abs(y[i]-z[i]) <= 2*ulp*want) {
			t.Errorf("root of %v: got %v in assembly, %v in Go", v, y[i], z[i])
		}
	}
	for _, v := range []float64{0, math.Inf(1), math.NaN(), 5e-324} {
		for _, avx2 := range []bool{hasAVX2, false} {
			got := []float64{1, v, 8, 27}
			cbrts(got, avx2)
			if got[0] != 1 || math.Float64bits(got[1]) != math.Float64bits(v) || got[2] != 2 || got[3] != 3 {
				t.Errorf("got %v, want 1, %v, 2 and 3", got, v)
			}
		}
	}
}
