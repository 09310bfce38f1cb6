package augment

import "math"

// Shape of the interpolator of libswresample, which ffmpeg resamples with, by
// its defaults filter_size and kaiser_beta. The cutoff is fitted: through 8 kHz
// and back ffmpeg 5.1 leaves -14 to -27 dB from 4 to 4.5 kHz and -43 to -50
// above, as this does to a few decibels.
const (
	leakyTaps   = 32
	leakyCutoff = 1.0
	leakyBeta   = 9
)

// leaky converts x from one rate to another as programs do that save on it:
// with a short interpolator (Kaiser-windowed sinc of 32 taps), whose transition
// is a tenth of the band wide and centred on its edge. What lies in it is
// mirrored at half of the lower rate, 10 to 50 dB down. A telephone line leaves
// that trace; behind a steep filter there would be nothing at all above 4 kHz,
// which no recording of a line has, and what measures the fine structure of the
// upper band would learn it.
func leaky(x []float64, from, to int) []float64 {
	scale := min(1, float64(to)/float64(from)) // of the cutoff
	half := leakyTaps / 2 / scale              // samples of x
	// The interpolator at steps of 1/table of a tap, linearly interpolated.
	const table = 64
	h := make([]float64, leakyTaps/2*table+2)
	for i := range h {
		t := float64(i) / table // taps from the centre
		u := t / (leakyTaps / 2)
		if u >= 1 {
			break
		}
		h[i] = leakyCutoff * bessel0(leakyBeta*math.Sqrt(1-u*u)) / bessel0(leakyBeta)
		if a := math.Pi * leakyCutoff * t; a > 0 {
			h[i] *= math.Sin(a) / a
		}
	}
	y := make([]float64, (len(x)*to+from-1)/from)
	for n := range y {
		at := float64(n) * float64(from) / float64(to)
		for j := max(int(math.Ceil(at-half)), 0); j < len(x) && float64(j) < at+half; j++ {
			p := math.Abs(float64(j)-at) * scale * table
			i := int(p)
			part := p - float64(i)
			y[n] += x[j] * scale * ((1-part)*h[i] + part*h[i+1])
		}
	}
	return y
}

// bessel0 is the modified Bessel function of the first kind of order 0 by its
// power series.
func bessel0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > 1e-12*sum; k++ {
		term *= x * x / (4 * k * k)
		sum += term
	}
	return sum
}
