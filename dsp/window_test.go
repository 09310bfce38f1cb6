package dsp

import (
	"math"
	"testing"
)

func TestWindowsEqualDefinition(t *testing.T) {
	for _, n := range []int{2, 3, 16, 1103} {
		hann, hamming, periodic, gaussian := Hann(n), Hamming(n), PeriodicHann(n), Gaussian(n)
		for j := range n {
			c := math.Cos(2 * math.Pi * float64(j) / float64(n-1))
			u := 2*(float64(j)+0.5)/float64(n) - 1
			for name, v := range map[string][2]float64{
				"Hann":          {hann[j], 0.5 - 0.5*c},
				"Hamming":       {hamming[j], 0.54 - 0.46*c},
				"periodic Hann": {periodic[j], 0.5 - 0.5*math.Cos(2*math.Pi*float64(j)/float64(n))},
				"Gaussian":      {gaussian[j], (math.Exp(-12*u*u) - math.Exp(-12)) / (1 - math.Exp(-12))},
			} {
				if math.Abs(v[0]-v[1]) > 1e-14 { // rounding of the argument of the cosine
					t.Errorf("%s of %d: got [%d] = %v, want %v", name, n, j, v[0], v[1])
				}
			}
			if gaussian[j] != gaussian[n-1-j] {
				t.Errorf("Gaussian of %d: got [%d] = %v, want it symmetric", n, j, gaussian[j])
			}
		}
	}
}

// TestPeriodicHannHasThreeCoefficients: that is what sets it apart.
func TestPeriodicHannHasThreeCoefficients(t *testing.T) {
	for k, p := range NewFFT(64).Power(nil, PeriodicHann(64)) {
		want := []float64{32 * 32, 16 * 16}
		if k < 2 && math.Abs(p-want[k]) > 1e-10 || k >= 2 && p > 1e-25 {
			t.Errorf("got |W[%d]|² = %v", k, p)
		}
	}
}

func TestCopyFrame(t *testing.T) {
	x := []float64{1, 2, 3}
	for _, c := range []struct {
		start int
		want  [4]float64
	}{
		{-9, [4]float64{}}, {-4, [4]float64{}}, {-2, [4]float64{0, 0, 1, 2}}, {0, [4]float64{1, 2, 3, 0}},
		{2, [4]float64{3, 0, 0, 0}}, {3, [4]float64{}}, {99, [4]float64{}},
	} {
		dst := []float64{7, 7, 7, 7}
		if got := [4]float64(CopyFrame(dst, x, c.start)); got != c.want {
			t.Errorf("start %d: got %v, want %v", c.start, got, c.want)
		}
	}
	if got := [2]float64(CopyFrame(make([]float64, 2), x, 1)); got != [2]float64{2, 3} {
		t.Errorf("got %v, want the inner samples", got)
	}
}

// TestFrameAssemblyEqualsGo: see TestFFTAssemblyEqualsGo.
func TestFrameAssemblyEqualsGo(t *testing.T) {
	if !hasAVX {
		t.Skip("needs AVX")
	}
	tol := 0.0
	if fusesMultiplyAdd() {
		tol = 1e-12
	}
	for _, n := range []int{4, 8, 12, 64, 1024} {
		x, w := noise(31, n+1), noise(32, n+1)
		var y, z [2][]float64
		var got [2][2]float64
		for i, avx := range []bool{true, false} {
			y[i] = make([]float64, n+1)
			emphasize(y[i], x, w, 0.97, avx)
			got[i][0] = multiplySum(y[i][:n], w, avx)
			subtract(y[i][:n], w, 0.3, avx)
			z[i] = append([]float64(nil), w...)
			p := make([]float64, n+1)
			for k := range p {
				p[k] = x[k] * x[k]
			}
			got[i][1] = distance(z[i], p, 1.7, avx)
		}
		compare(t, "emphasize and subtract", y[0], y[1], tol)
		compare(t, "magnitudes", z[0], z[1], tol)
		compare(t, "sums", got[0][:], got[1][:], tol)
	}
}
