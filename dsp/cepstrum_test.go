package dsp

import (
	"math"
	"math/cmplx"
	"testing"
)

// cepstrumTolerance is of sums of 100 numbers of size 1 in double precision.
const cepstrumTolerance = 1e-11

func TestCepstrumEqualsDefinition(t *testing.T) {
	for _, c := range []struct{ n, m int }{{1, 4}, {7, 8}, {100, 128}, {128, 128}, {90, 256}} {
		x := noise(3, c.n)
		got := NewCepstrum(c.n, c.m).Coefficients(nil, x)
		var mean float64
		for _, v := range x {
			mean += v / float64(c.n)
		}
		for j := range c.m/2 + 1 {
			var want complex128
			for k, v := range x {
				h := 0.5 - 0.5*math.Cos(2*math.Pi*float64(k)/float64(c.n))
				want += complex(h*(v-mean), 0) * cmplx.Exp(complex(0, -2*math.Pi*float64(j*k)/float64(c.m)))
			}
			if cmplx.Abs(got[j]-want) > cepstrumTolerance {
				t.Errorf("%d bins of %d: got C[%d] = %v, want %v", c.n, c.m, j, got[j], want)
			}
		}
	}
}

// TestCepstrumFindsTheRipple gives it a spectrum that ripples every 8 bins: the
// peak is at m/8, wherever the ripple begins and whatever the level.
func TestCepstrumFindsTheRipple(t *testing.T) {
	const n, m, every = 200, 256, 8
	c := NewCepstrum(n, m)
	for _, phase := range []float64{0, 1, 2.5} {
		x := make([]float64, n)
		for k := range x {
			x[k] = -20 + math.Cos(2*math.Pi*float64(k)/every+phase)
		}
		best, at := 0.0, 0
		for j, z := range c.Coefficients(nil, x) {
			if cmplx.Abs(z) > best {
				best, at = cmplx.Abs(z), j
			}
		}
		// A Hann window of n points passes a cosine with n/4.
		if at != m/every || math.Abs(best-n/4) > 0.02*n/4 {
			t.Errorf("phase %v: got %v at %d, want %v at %d", phase, best, at, n/4, m/every)
		}
	}
}

func TestCepstrumAllocatesNothing(t *testing.T) {
	c, x, dst := NewCepstrum(100, 128), noise(4, 100), make([]complex128, 65)
	if n := testing.AllocsPerRun(10, func() { c.Coefficients(dst, x) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func TestArithmeticEqualsDefinition(t *testing.T) {
	for _, n := range []int{0, 1, 3, 8, 19, 64, 101} {
		x, y := noise(5, n), noise(6, n)
		for i, got := range Multiply(nil, x, y) {
			if got != x[i]*y[i] {
				t.Errorf("%d numbers: got %v·%v = %v", n, x[i], y[i], got)
			}
			x[i] = math.Abs(x[i]) + 1e-300
		}
		for i, got := range Log(nil, x) {
			if want := math.Log(x[i]); math.Abs(got-want) > 1e-15*math.Abs(want) {
				t.Errorf("got ln %v = %v, want %v", x[i], got, want)
			}
		}
	}
	a, b := noise(7, 19), noise(8, 480)
	dst := Correlate(make([]float64, 462), a, b)
	for k, got := range dst {
		var want float64
		for j, v := range a {
			want += v * b[j+k]
		}
		if math.Abs(got-want) > cepstrumTolerance {
			t.Errorf("got correlation %v at %d, want %v", got, k, want)
		}
	}
	if got := Correlate([]float64{1, 1}, nil, b); got[0] != 0 || got[1] != 0 {
		t.Errorf("got %v of no samples, want 0", got)
	}
}

func TestArithmeticPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"more bins than points":    func() { NewCepstrum(5, 4) },
		"no bins":                  func() { NewCepstrum(0, 4) },
		"wrong spectrum":           func() { NewCepstrum(3, 4).Coefficients(nil, make([]float64, 4)) },
		"wrong dst of Log":         func() { Log(make([]float64, 2), []float64{1}) },
		"wrong factor":             func() { Multiply(nil, []float64{1}, nil) },
		"correlation out of range": func() { Correlate(make([]float64, 3), make([]float64, 2), make([]float64, 3)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: got no panic", name)
				}
			}()
			f()
		}()
	}
}
