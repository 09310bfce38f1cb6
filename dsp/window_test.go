package dsp_test

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

func TestWindowsEqualDefinition(t *testing.T) {
	for _, n := range []int{2, 3, 16, 1103} {
		hamming, periodic := dsp.Hamming(n), dsp.PeriodicHann(n)
		for j := range n {
			c := math.Cos(2 * math.Pi * float64(j) / float64(n-1))
			for name, v := range map[string][2]float64{
				"Hamming":       {hamming[j], 0.54 - 0.46*c},
				"periodic Hann": {periodic[j], 0.5 - 0.5*math.Cos(2*math.Pi*float64(j)/float64(n))},
			} {
				if math.Abs(v[0]-v[1]) > 1e-14 { // rounding of the argument of the cosine
					t.Errorf("%s of %d: got [%d] = %v, want %v", name, n, j, v[0], v[1])
				}
			}
		}
	}
}

// TestPeriodicHannHasThreeCoefficients: that is what sets it apart.
func TestPeriodicHannHasThreeCoefficients(t *testing.T) {
	for k, p := range dsp.NewFFT(64).Power(nil, dsp.PeriodicHann(64)) {
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
		if got := [4]float64(dsp.CopyFrame(dst, x, c.start)); got != c.want {
			t.Errorf("start %d: got %v, want %v", c.start, got, c.want)
		}
	}
	if got := [2]float64(dsp.CopyFrame(make([]float64, 2), x, 1)); got != [2]float64{2, 3} {
		t.Errorf("got %v, want the inner samples", got)
	}
}
