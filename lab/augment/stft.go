package augment

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// An stft is a short-time Fourier transform with a Hann window of n samples,
// at analysis and at synthesis.
type stft struct {
	n, hop int
	window []float64
	fft    *dsp.FFT
}

// newSTFT returns an stft whose windows have n samples, a power of two, and
// overlap by three quarters.
func newSTFT(n int) *stft {
	return &stft{n: n, hop: n / 4, window: dsp.PeriodicHann(n), fft: dsp.NewFFT(n)}
}

// powerOfTwo is the power of two next to the seconds at a rate in Hz, on a
// scale of octaves, at least 32.
func powerOfTwo(seconds float64, rate int) int {
	return max(1<<int(math.Round(math.Log2(seconds*float64(rate)))), 32)
}

// frames returns the spectra of the windows centred on 0, hop, 2·hop … of x.
func (s *stft) frames(x []float64) [][]complex128 {
	out := make([][]complex128, len(x)/s.hop+1)
	buf := make([]float64, s.n)
	for t := range out {
		dsp.CopyFrame(buf, x, t*s.hop-s.n/2)
		for i, w := range s.window {
			buf[i] *= w
		}
		out[t] = s.fft.Coefficients(nil, buf)
	}
	return out
}

// signal overlaps and adds the windows of the given spectra, centred as
// frames has them, to n samples: the least-squares inverse (Griffin & Lim
// 1984, eq. 6).
func (s *stft) signal(frames [][]complex128, n int) []float64 {
	y, norm := make([]float64, n), make([]float64, n)
	buf := make([]float64, s.n)
	for t, f := range frames {
		s.fft.Sequence(buf, f)
		for i, w := range s.window {
			if j := t*s.hop - s.n/2 + i; j >= 0 && j < n {
				y[j] += w * buf[i]
				norm[j] += w * w
			}
		}
	}
	for i, v := range norm {
		y[i] /= max(v, 1e-3) // below that nothing but the outermost samples lies
	}
	return y
}

// resized resamples x to about factor·len(x) samples. In steps of ½ %, so that
// the resampler needs no more than two hundred phases.
func resized(x []float64, factor float64) []float64 {
	const from, steps = 8000, 200
	return dsp.NewResampler(from, int(math.Round(steps*factor))*(from/steps)).Resample(nil, x)
}

// fitted returns x cut or filled with zeros to n samples.
func fitted(x []float64, n int) []float64 {
	y := make([]float64, n)
	copy(y, x)
	return y
}
