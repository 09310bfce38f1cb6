package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Tolerances: a few units in the last place of float32, 6e-8, of the terms that
// are added.
const (
	geluError = 1e-7 // plus as much of |x|
	expError  = 4e-7 // relative, for exponents down to -20, where the product with log2(e) has lost 1e-6·20/16
	sumError  = 1e-6 // relative to the sum of magnitudes: at most 1500/8 roundings of each partial sum, which mostly cancel
	normError = 5e-6 // of numbers of the order of one
)

// everyLevel runs a test with each kind of registers that the processor has.
func everyLevel(t *testing.T, test func(t *testing.T)) {
	for use = highest(); ; use-- {
		t.Run(fmt.Sprint("level ", use), test)
		if use == scalar {
			break
		}
	}
	use = highest()
}

var lengths = []int{1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 64, 100, 768, 1500}

func TestGELU(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		var x []float32
		for v := -40.0; v <= 40; v += 0.01 {
			x = append(x, float32(v))
		}
		x = append(x, 0, float32(math.Copysign(0, -1)), 1e-30, -1e-30, 1e10, -1e10, 3e38, -3e38, 5, -5)
		got := append([]float32(nil), x...)
		GELU(got)
		for i, v := range x {
			want := float64(v) / 2 * math.Erfc(-float64(v)/math.Sqrt2)
			if d := math.Abs(float64(got[i]) - want); !(d <= geluError+geluError*math.Abs(float64(v))) {
				t.Fatalf("GELU(%v): got %v, want %v", v, got[i], want)
			}
		}
		for _, n := range lengths {
			part := append([]float32(nil), x[3900:3900+n+1]...)
			GELU(part[:n])
			if part[n] != x[3900+n] {
				t.Errorf("GELU of %d numbers changed the next", n)
			}
			for i, v := range part[:n] {
				if math.Abs(float64(v-got[3900+i])) > 2*geluError {
					t.Errorf("GELU of %d numbers: got %v at %d, want %v", n, v, i, got[3900+i])
				}
			}
		}
	})
}

func TestSoftmax(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 1))
		for _, n := range lengths {
			x := make([]float32, n+1)
			for i := range x {
				x[i] = float32(-10 + 20*r.Float64())
			}
			x[r.IntN(n)] = 10
			if n > 3 {
				x[(n-1)/2] = -1e9
			}
			got := append([]float32(nil), x...)
			sum := Softmax(got[:n])
			if got[n] != x[n] {
				t.Errorf("Softmax of %d numbers changed the next", n)
			}
			top := math.Inf(-1)
			for _, v := range x[:n] {
				top = max(top, float64(v))
			}
			total := 0.0
			for i, v := range x[:n] {
				want := math.Exp(float64(v) - top)
				total += want
				if d := math.Abs(float64(got[i]) - want); !(d <= 5*expError*want+0x1p-124) {
					t.Fatalf("%d numbers: got exp(%v) = %v, want %v", n, float64(v)-top, got[i], want)
				}
			}
			if math.Abs(float64(sum)-total) > sumError*total {
				t.Errorf("%d numbers: got a sum of %v, want %v", n, sum, total)
			}
		}
	})
}

func TestSum(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 2))
		for _, n := range append(lengths, 0) {
			x := make([]float32, n)
			want, size := 0.0, 0.0
			for i := range x {
				x[i] = float32(r.NormFloat64())
				want += float64(x[i])
				size += math.Abs(float64(x[i]))
			}
			if got := Sum(x); math.Abs(float64(got)-want) > sumError*size {
				t.Errorf("%d numbers: got %v, want %v", n, got, want)
			}
		}
	})
}

func TestNormalize(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 3))
		for _, n := range lengths {
			x, w, b := make([]float32, n), make([]float32, n), make([]float32, n)
			mean, variance := 0.0, 0.0
			for i := range x {
				x[i], w[i], b[i] = float32(3+r.NormFloat64()), float32(r.NormFloat64()), float32(r.NormFloat64())
				mean += float64(x[i]) / float64(n)
			}
			for _, v := range x {
				variance += (float64(v) - mean) * (float64(v) - mean) / float64(n)
			}
			got := append([]float32(nil), x...)
			Normalize(got, got, w, b, 1e-5)
			for i, v := range x {
				want := (float64(v)-mean)/math.Sqrt(variance+1e-5)*float64(w[i]) + float64(b[i])
				if math.Abs(float64(got[i])-want) > normError*max(1, math.Abs(want)) {
					t.Fatalf("%d numbers: got %v at %d, want %v", n, got[i], i, want)
				}
			}
		}
	})
}

func TestScale(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, n := range lengths {
			x := make([]float32, n+1)
			for i := range x {
				x[i] = float32(i + 1)
			}
			Scale(x[:n], 0.3)
			for i, v := range x[:n] {
				if want := float32(i+1) * 0.3; v != want {
					t.Fatalf("%d numbers: got %v at %d, want %v", n, v, i, want)
				}
			}
			if x[n] != float32(n+1) {
				t.Errorf("Scale of %d numbers changed the next", n)
			}
		}
	})
}

func BenchmarkPerNumber(b *testing.B) {
	x, w := make([]float32, 1500), make([]float32, 1500)
	for i := range x {
		x[i] = float32(i%7) - 3
	}
	y := append([]float32(nil), x...)
	for name, do := range map[string]func(){
		"GELU":      func() { copy(y, x); GELU(y) },
		"Softmax":   func() { copy(y, x); Softmax(y) },
		"Normalize": func() { Normalize(y, x, w, w, 1e-5) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				do()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/number")
		})
	}
}
