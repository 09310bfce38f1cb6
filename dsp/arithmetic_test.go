package dsp_test

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

func TestDotEqualsDefinition(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 100, 333} {
		x, y := normal(11, n), normal(12, n)
		var want float64
		for i := range x {
			want += x[i] * y[i]
		}
		if got := dsp.Dot(x, y); !near(got, want, rounding) {
			t.Errorf("%d numbers: got %v, want %v", n, got, want)
		}
	}
}

func TestArithmeticEqualsDefinition(t *testing.T) {
	for _, n := range []int{0, 1, 3, 8, 19, 64, 101} {
		x, y := noise(5, n), noise(6, n)
		for i, got := range dsp.Multiply(nil, x, y) {
			if got != x[i]*y[i] {
				t.Errorf("%d numbers: got %v·%v = %v", n, x[i], y[i], got)
			}
			x[i] = math.Abs(x[i]) + 1e-300
		}
		for i, got := range dsp.Log(nil, x) {
			if want := math.Log(x[i]); math.Abs(got-want) > 1e-15*math.Abs(want) {
				t.Errorf("got ln %v = %v, want %v", x[i], got, want)
			}
		}
	}
	a, b := noise(7, 19), noise(8, 480)
	dst := dsp.Correlate(make([]float64, 462), a, b)
	for k, got := range dst {
		var want float64
		for j, v := range a {
			want += v * b[j+k]
		}
		if math.Abs(got-want) > rounding {
			t.Errorf("got correlation %v at %d, want %v", got, k, want)
		}
	}
	if got := dsp.Correlate([]float64{1, 1}, nil, b); got[0] != 0 || got[1] != 0 {
		t.Errorf("got %v of no samples, want 0", got)
	}
}

func TestLogisticIsExactAtBothEnds(t *testing.T) {
	const ulps = 1e-15
	for _, c := range []struct{ x, want float64 }{
		{0, 0.5}, {math.Log(3), 0.75}, {-math.Log(3), 0.25}, {40, 1}, {math.Inf(1), 1}, {math.Inf(-1), 0}, {math.NaN(), math.NaN()},
		{-700, math.Exp(-700)}, {-40, math.Exp(-40)},
	} {
		got := dsp.Logistic(c.x)
		if math.IsNaN(c.want) != math.IsNaN(got) || math.Abs(got-c.want) > ulps*c.want {
			t.Errorf("logistic of %v: got %v, want %v", c.x, got, c.want)
		}
	}
}

// What a wrong length does is promised: a panic, not a result.
func TestPrimitivesPanic(t *testing.T) {
	x := make([]float64, 8)
	hann := dsp.PeriodicHann(8)
	for name, call := range map[string]func(){
		"dot":                    func() { dsp.Dot(x, x[:7]) },
		"logarithm":              func() { dsp.Log(x[:7], x) },
		"product":                func() { dsp.Multiply(nil, x, x[:7]) },
		"correlation":            func() { dsp.Correlate(x, x, make([]float64, 14)) },
		"Levinson of none":       func() { dsp.Levinson(nil, nil, nil) },
		"Levinson of two orders": func() { dsp.Levinson(x, x, x) },
		"step up":                func() { dsp.StepUp(x, x) },
		"prediction order":       func() { dsp.NewLPC(hann, 8, 1) },
		"prediction correction":  func() { dsp.NewLPC(hann, 2, 0) },
		"prediction frame":       func() { dsp.NewLPC(hann, 2, 1).Fit(x[:7]) },
		"residual":               func() { dsp.NewLPC(hann, 2, 1).Residual(x) },
		"peak":                   func() { dsp.PeakLag(x, 0, 4) },
		"peak at the end":        func() { dsp.PeakLag(x, 1, 8) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: got no panic", name)
				}
			}()
			call()
		}()
	}
}

// LogAdd agrees with its definition, and where that overflows with the larger of the two.
func TestLogAdd(t *testing.T) {
	for _, c := range []struct{ a, b, want float64 }{
		{0, 0, math.Ln2}, {1, -2, math.Log(math.E + math.Exp(-2))}, {-2, 1, math.Log(math.E + math.Exp(-2))},
		{1000, 0, 1000}, {-1000, -1000, -1000 + math.Ln2},
	} {
		if got := dsp.LogAdd(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v and %v: got %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
