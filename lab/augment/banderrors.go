package augment

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
)

// Decoded leaves in the real voice x, mono at rate Hz, what a decoder leaves that makes
// each band of a voice by its own weights: every one of 20 to 80 mel bands has an error of
// its own in its loudness, in half of the cases in its phase too, with settings that rng
// draws. It returns as many samples and the name of the method, of recordings that [Spoof]
// leaves alone a copy and "". Unlike the methods of Spoof it is that of no existing
// decoder. x is not changed.
//
// The settings are chosen. What it gains, and what was tried in its place, is in
// docs/DEEPFAKE-TRIALS.md.
func Decoded(x []float64, rate int, rng *rand.Rand) ([]float64, string) {
	return decoded.of(x, rate, rng)
}

var decoded = method{"band errors", bandErrors}

// bandErrors multiplies each mel band by e to a Gaussian process of 0.06 to 0.31 (0.5 to
// 2.7 dB), constant over half a frame to three frames of a decoder, and turns it by
// another of up to 0.6 rad.
func bandErrors(x []float64, rate int, rng *rand.Rand) []float64 {
	s := newSTFT(powerOfTwo([]float64{0.012, 0.023}[rng.IntN(2)], rate))
	bands := []int{20, 40, 80, 80}[rng.IntN(4)]
	step := float64([]int{200, 256, 256, 300, 320, 480}[rng.IntN(6)]) / float64(s.hop)
	size, memory := 0.06+0.25*rng.Float64(), math.Exp(-1/(0.5+3*rng.Float64()))
	turned := 0.0
	if rng.IntN(2) == 0 {
		turned = 0.1 + 0.5*rng.Float64()
	}
	frames := s.frames(x)
	gains, phases := make([][]float64, bands), make([][]float64, bands)
	for b := range gains {
		gains[b] = interpolated(wander(int(float64(len(frames))/step)+2, size, memory, rng), len(frames), step)
	}
	for b := range phases {
		phases[b] = wander(len(frames), turned, 0.7, rng)
	}
	band, part := s.mel(rate, bands-1)
	for t, f := range frames {
		for k := range f {
			b, q := band[k], part[k]
			f[k] *= cmplx.Rect(math.Exp((1-q)*gains[b][t]+q*gains[b+1][t]), (1-q)*phases[b][t]+q*phases[b+1][t])
		}
	}
	return s.signal(frames, len(x))
}

// interpolated are n values on the lines between those of x, which are step apart.
func interpolated(x []float64, n int, step float64) []float64 {
	out := make([]float64, n)
	for t := range out {
		i, part := math.Modf(float64(t) / step)
		out[t] = (1-part)*x[int(i)] + part*x[int(i)+1]
	}
	return out
}

// wander draws n values of a first-order autoregressive Gaussian process of standard
// deviation size, each correlated with the next by memory.
func wander(n int, size, memory float64, rng *rand.Rand) []float64 {
	out := make([]float64, n)
	v := rng.NormFloat64()
	for i := range out {
		out[i] = size * v
		v = memory*v + math.Sqrt(1-memory*memory)*rng.NormFloat64()
	}
	return out
}
