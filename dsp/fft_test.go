package dsp

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	godsp "github.com/mjibson/go-dsp/fft"
	"gonum.org/v1/gonum/dsp/fourier"
)

// fftTolerance is the error allowed in a coefficient, relative to the Euclidean
// norm of the signal: a few units of the last place for each of up to 13
// passes. The largest difference seen is 1.5e-15 to gonum, 2.0e-15 to go-dsp.
const fftTolerance = 4e-15

func noise(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.Float64()*2 - 1
	}
	return x
}

func norm(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}

// slowDFT is the definition.
func slowDFT(x []float64) []complex128 {
	n := len(x)
	c := make([]complex128, n/2+1)
	for k := range c {
		for j, v := range x {
			c[k] += complex(v, 0) * cmplx.Rect(1, -2*math.Pi*float64(j*k%n)/float64(n))
		}
	}
	return c
}

func TestFFTEqualsDefinition(t *testing.T) {
	for n := 4; n <= 2048; n *= 2 {
		x := noise(uint64(n), n)
		before := append([]float64(nil), x...)
		f := NewFFT(n)
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

// TestUnitRoot: exact on the axes, and of modulus 1 and the right
// angle to the last places elsewhere.
func TestUnitRoot(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 8, 52, 1024} {
		for k := -n; k <= 2*n; k++ {
			got, want := unitRoot(k, n), cmplx.Rect(1, -2*math.Pi*float64(k)/float64(n))
			if cmplx.Abs(got-want) > 5e-15 { // want rounds its argument, up to 4π, two or three times
				t.Errorf("got exp(-2πi·%d/%d) = %v, want %v", k, n, got, want)
			}
			if 4*k%n == 0 && real(got)*imag(got) != 0 {
				t.Errorf("got exp(-2πi·%d/%d) = %v, want it on an axis", k, n, got)
			}
		}
	}
}

func TestFFTEqualsGonumAndGoDSP(t *testing.T) {
	for n := 4; n <= 8192; n *= 2 {
		x := noise(uint64(n)+7, n)
		got := NewFFT(n).Coefficients(nil, x)
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
		f := NewFFT(n)
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
		f := NewFFT(n)
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

// TestFFTAssemblyEqualsGo: the assembly does the operations of the pure Go code
// in its order, so the bits are the same, unless the compiler was told to fuse
// multiplications and additions (GOAMD64=v3), which changes the last places.
func TestFFTAssemblyEqualsGo(t *testing.T) {
	if !hasAVX {
		t.Skip("needs AVX")
	}
	for n := 16; n <= 8192; n *= 2 {
		x := noise(uint64(n)+5, n)
		asm, pure := NewFFT(n), NewFFT(n)
		asm.avx, pure.avx = true, false
		tol := 0.0
		if fusesMultiplyAdd() {
			tol = fftTolerance * norm(x)
		}
		a, b := asm.Coefficients(nil, x), pure.Coefficients(nil, x)
		for k := range a {
			if cmplx.Abs(a[k]-b[k]) > tol {
				t.Fatalf("n %d: got X[%d] = %v, want %v", n, k, a[k], b[k])
			}
		}
		for m := 0; m <= n/2+1; m += 1 + m*m/(20+m) { // small, and then fewer sizes
			p, q := asm.Power(make([]float64, m), x), pure.Power(make([]float64, m), x)
			for k := range p {
				if math.Abs(p[k]-q[k]) > tol*float64(n) {
					t.Fatalf("n %d: got bin %d of %d = %v, want %v", n, k, m, p[k], q[k])
				}
			}
		}
		s, r := asm.Sequence(nil, a), pure.Sequence(nil, b)
		for i := range s {
			if math.Abs(s[i]-r[i]) > tol {
				t.Fatalf("n %d: got sample %d = %v, want %v", n, i, s[i], r[i])
			}
		}
	}
}

// fusesMultiplyAdd reports whether the compiler fuses x·y + z.
func fusesMultiplyAdd() bool {
	return multiplyAdd(1+0x1p-30, 1+0x1p-30, -(1+0x1p-29)) != 0
}

//go:noinline
func multiplyAdd(x, y, z float64) float64 { return x*y + z }

func TestFFTPanics(t *testing.T) {
	f := NewFFT(8)
	for name, call := range map[string]func(){
		"size 0":             func() { NewFFT(0) },
		"size 2":             func() { NewFFT(2) },
		"size 12":            func() { NewFFT(12) },
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
	f := NewFFT(1024)
	x, c, p := noise(1, 1024), make([]complex128, 513), make([]float64, 513)
	if n := testing.AllocsPerRun(10, func() {
		f.Coefficients(c, x)
		f.Power(p, x)
		f.Sequence(x, c)
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// BenchmarkFFT compares this package's real FFT with gonum's and go-dsp's on
// the machine at hand.
func BenchmarkFFT(b *testing.B) {
	for _, n := range []int{512, 1024, 2048} {
		x := noise(1, n)
		c, p, s := make([]complex128, n/2+1), make([]float64, n/2+1), make([]float64, n)
		f, g := NewFFT(n), fourier.NewFFT(n)
		run := func(name string, call func()) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					call()
				}
			})
		}
		pure := NewFFT(n)
		pure.avx = false
		run("pure-go", func() { pure.Coefficients(c, x) })
		run("pure-go-power", func() { pure.Power(p, x) })
		run("coefficients", func() { f.Coefficients(c, x) })
		run("power", func() { f.Power(p, x) })
		run("sequence", func() { f.Sequence(s, c) })
		run("gonum", func() { g.Coefficients(c, x) })
		run("go-dsp", func() { godsp.FFTReal(x) })
	}
}
