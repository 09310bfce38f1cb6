package dsp

import (
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	godsp "github.com/mjibson/go-dsp/fft"
	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/voicescreen/voicescreen/internal/proof/fused"
)

// The assembly has the operations of the pure Go code in the same order, so that the
// bits are the same. With GOAMD64=v3 the compiler fuses multiplications and additions
// of the pure Go code, which changes the last places.
func TestFFTAssemblyEqualsGo(t *testing.T) {
	if !hasAVX {
		t.Skip("needs AVX")
	}
	for n := 16; n <= 8192; n *= 2 {
		x := noise(uint64(n)+5, n)
		asm, pure := NewFFT(n), NewFFT(n)
		asm.avx, pure.avx = true, false
		tol := 0.0
		if fused.MultiplyAdd() {
			tol = 4e-15 * norm(x) // as for the FFT against its definition
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
		for used := 1; used <= n; used += 1 + used/7 { // zeros behind
			y := append(append([]float64(nil), x[:used]...), make([]float64, n-used)...)
			p, q := asm.padded(used).Power(nil, y), pure.Power(nil, y)
			c, d := asm.Coefficients(nil, y), pure.Coefficients(nil, y)
			for k := range p {
				if math.Abs(p[k]-q[k]) > tol*float64(n) || cmplx.Abs(c[k]-d[k]) > tol {
					t.Fatalf("n %d, %d samples: got bin %d = %v and %v, want %v and %v", n, used, k, p[k], c[k], q[k], d[k])
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

// fusedTolerance is tol where the compiler fuses, and otherwise 0.
func fusedTolerance(tol float64) float64 {
	if fused.MultiplyAdd() {
		return tol
	}
	return 0
}

// TestResamplerAssemblyEqualsGo: see TestFFTAssemblyEqualsGo.
func TestResamplerAssemblyEqualsGo(t *testing.T) {
	if !hasAVX {
		t.Skip("needs AVX")
	}
	tol := 0.0
	if fused.MultiplyAdd() {
		tol = 1e-14
	}
	for _, rates := range [][2]int{{8000, 44100}, {48000, 44100}, {44100, 11000}, {192000, 44100}, {22050, 44100}, {44100, 44099}} {
		for _, n := range []int{0, 1, 100, 9999} {
			asm, pure := NewResampler(rates[0], rates[1]), NewResampler(rates[0], rates[1])
			asm.avx, pure.avx = true, false
			x := noise(6, n)
			a, b := asm.Resample(nil, x), pure.Resample(nil, x)
			for k := range a {
				if math.Abs(a[k]-b[k]) > tol {
					t.Fatalf("%v, %d samples: got [%d] = %v, want %v", rates, n, k, a[k], b[k])
				}
			}
		}
	}
}

// TestFrameAssemblyEqualsGo: see TestFFTAssemblyEqualsGo.
func TestFrameAssemblyEqualsGo(t *testing.T) {
	if !hasAVX {
		t.Skip("needs AVX")
	}
	tol := 0.0
	if fused.MultiplyAdd() {
		tol = 1e-12
	}
	for _, n := range []int{4, 8, 12, 64, 1024} {
		x, w := noise(31, n+1), noise(32, n+1)
		var y, z [2][]float64
		var got [2][1]float64
		for i, avx := range []bool{true, false} {
			y[i] = make([]float64, n+1)
			emphasize(y[i], x, w, 0.97, 0.2, avx)
			z[i] = append([]float64(nil), w...)
			p := make([]float64, n+1)
			for k := range p {
				p[k] = x[k] * x[k]
			}
			got[i][0] = distance(z[i], p, 1.7, avx)
		}
		compare(t, "emphasize", y[0], y[1], tol)
		compare(t, "magnitudes", z[0], z[1], tol)
		compare(t, "sums", got[0][:], got[1][:], tol)
	}
}

// TestUnitRoot: exact on the axes, and of modulus 1 and the right
// angle to the last places elsewhere.
func TestUnitRoot(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 8, 52, 1024} {
		for k := -n; k <= 2*n; k++ {
			got, want := UnitRoot(k, n), cmplx.Rect(1, -2*math.Pi*float64(k)/float64(n))
			if cmplx.Abs(got-want) > 5e-15 { // want rounds its argument, up to 4π, two or three times
				t.Errorf("got exp(-2πi·%d/%d) = %v, want %v", k, n, got, want)
			}
			if 4*k%n == 0 && real(got)*imag(got) != 0 {
				t.Errorf("got exp(-2πi·%d/%d) = %v, want it on an axis", k, n, got)
			}
		}
	}
}

// BenchmarkFFT compares this package's real FFT with gonum's and go-dsp's on
// this machine.
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
