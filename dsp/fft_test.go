package dsp_test

import (
	"math"
	"math/cmplx"
	"testing"

	godsp "github.com/mjibson/go-dsp/fft"
	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// fftTolerance is the error allowed in a coefficient, relative to the Euclidean
// norm of the signal: a few units of the last place for each of up to 13
// passes. The largest difference seen is 1.5e-15 to gonum, 2.0e-15 to go-dsp.
const fftTolerance = 4e-15

func TestFFTEqualsDefinition(t *testing.T) {
	for n := 4; n <= 2048; n *= 2 {
		x := noise(uint64(n), n)
		before := append([]float64(nil), x...)
		f := dsp.NewFFT(n)
		want := slowDFT(x)
		got := f.Coefficients(nil, x)
		power := f.Power(nil, x)
		tol := fftTolerance * norm(x) * 4 // the definition's own sums lose more than the FFT: 7.3e-15 seen
		for k := range want {
			if d := cmplx.Abs(got[k] - want[k]); d > tol {
				t.Errorf("n %d: got X[%d] = %v, want %v", n, k, got[k], want[k])
			}
			p := real(got[k])*real(got[k]) + imag(got[k])*imag(got[k])
			if math.Abs(power[k]-p) > 1e-15*(1+p)*float64(n) {
				t.Errorf("n %d: got |X[%d]|² = %v, want %v", n, k, power[k], p)
			}
		}
		for i := range x {
			if x[i] != before[i] {
				t.Fatalf("n %d: sample %d was changed", n, i)
			}
		}
	}
}

func TestFFTEqualsGonumAndGoDSP(t *testing.T) {
	for n := 4; n <= 8192; n *= 2 {
		x := noise(uint64(n)+7, n)
		got := dsp.NewFFT(n).Coefficients(nil, x)
		g := fourier.NewFFT(n).Coefficients(nil, x)
		d := godsp.FFTReal(x)
		tol := fftTolerance * norm(x)
		for k := range got {
			if cmplx.Abs(got[k]-g[k]) > tol {
				t.Fatalf("n %d: got X[%d] = %v, gonum has %v", n, k, got[k], g[k])
			}
			if cmplx.Abs(got[k]-d[k]) > tol {
				t.Fatalf("n %d: got X[%d] = %v, go-dsp has %v", n, k, got[k], d[k])
			}
		}
	}
}

func TestFFTRoundTripAndParseval(t *testing.T) {
	for n := 4; n <= 8192; n *= 2 {
		x := noise(uint64(n)+3, n)
		f := dsp.NewFFT(n)
		c := f.Coefficients(nil, x)
		back := f.Sequence(nil, c)
		for i := range x {
			if math.Abs(back[i]-x[i]) > fftTolerance {
				t.Fatalf("n %d: got sample %d = %v, want %v", n, i, back[i], x[i])
			}
		}
		sum := 0.0
		for k, p := range f.Power(nil, x) {
			if k > 0 && k < n/2 {
				p *= 2
			}
			sum += p
		}
		want := norm(x) * norm(x) * float64(n)
		if math.Abs(sum/want-1) > fftTolerance {
			t.Errorf("n %d: got power %v, want %v", n, sum, want)
		}
	}
}

func TestFFTPowerOfFirstBins(t *testing.T) {
	for n := 4; n <= 256; n *= 2 {
		x := noise(uint64(n), n)
		f := dsp.NewFFT(n)
		full := f.Power(nil, x)
		for m := 0; m <= n/2+1; m++ {
			for k, p := range f.Power(make([]float64, m), x) {
				if !closeTo(p, full[k], fftTolerance) {
					t.Fatalf("n %d: got bin %d of %d = %v, want %v", n, k, m, p, full[k])
				}
			}
		}
	}
}

func TestFFTLen(t *testing.T) {
	if n := dsp.NewFFT(64).Len(); n != 64 {
		t.Errorf("got %d samples, want 64", n)
	}
}

func TestFFTPanics(t *testing.T) {
	f := dsp.NewFFT(8)
	for name, call := range map[string]func(){
		"size 0":             func() { dsp.NewFFT(0) },
		"size 2":             func() { dsp.NewFFT(2) },
		"size 12":            func() { dsp.NewFFT(12) },
		"short x":            func() { f.Coefficients(nil, make([]float64, 7)) },
		"short coefficients": func() { f.Coefficients(make([]complex128, 4), make([]float64, 8)) },
		"long power":         func() { f.Power(make([]float64, 6), make([]float64, 8)) },
		"short sequence":     func() { f.Sequence(make([]float64, 7), make([]complex128, 5)) },
		"short c":            func() { f.Sequence(nil, make([]complex128, 4)) },
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

func TestFFTAllocatesNothing(t *testing.T) {
	f := dsp.NewFFT(1024)
	x, c, p := noise(1, 1024), make([]complex128, 513), make([]float64, 513)
	if n := cost.Allocations(10, func() {
		f.Coefficients(c, x)
		f.Power(p, x)
		f.Sequence(x, c)
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
