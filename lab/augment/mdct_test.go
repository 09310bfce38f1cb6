package augment

import (
	"math"
	"math/rand/v2"
	"testing"
)

// exact is what rounding in float64 leaves of sums of a thousand terms.
const exact = 1e-11

func TestMDCT(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{4, 12, 32, 576} {
		m := newMDCT(n)
		x := colouredNoise(2*n, 0, rng)
		got := make([]float64, n)
		m.forward(got, x)
		for k := range got {
			var want float64
			for j, v := range x {
				want += m.window[j] * v * math.Cos(math.Pi/float64(n)*(float64(j)+0.5+float64(n)/2)*(float64(k)+0.5))
			}
			if want *= math.Sqrt(2 / float64(n)); math.Abs(got[k]-want) > exact {
				t.Fatalf("n = %d, coefficient %d: got %v, want %v", n, k, got[k], want)
			}
		}
		long := colouredNoise(5*n+7, 0, rng)
		for i, v := range m.blocks(long, func([]float64) {}) {
			if math.Abs(v-long[i]) > exact {
				t.Fatalf("n = %d, sample %d: got %v back, want %v", n, i, v, long[i])
			}
		}
	}
}
