package lanes

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// A Spectrum computes the power spectra of four frames under a window.
//
// It owns its scratch, allocates nothing after [NewSpectrum], and is not safe for concurrent
// use.
type Spectrum struct {
	// Power is |X[k]|² of the latest four frames, a group of lanes for each bin. It may be
	// changed; the next call of Measure overwrites it.
	Power []float64

	fft          *FFT
	window       []float64
	pads, frames [Count][]float64
}

// NewSpectrum returns a Spectrum of transforms of n points of frames under the window, which
// it keeps. n is a power of two of at least 16 and of the length of the window, which is a
// multiple of 4.
func NewSpectrum(window []float64, n int) *Spectrum {
	if len(window)%4 != 0 || len(window) > n {
		panic("lanes: window of an impossible length")
	}
	s := &Spectrum{fft: NewFFT(n), window: window, Power: make([]float64, Count*(n/2+1))}
	for l := range s.pads {
		s.pads[l] = make([]float64, len(window))
	}
	return s
}

// Measure measures the frames of x that begin at start, start + hop, …, with zeros where they
// reach beyond x. From the frame count on, the last one is repeated. x is not changed.
func (s *Spectrum) Measure(x []float64, start, hop, count int) {
	for l := range s.frames {
		s.frames[l] = dsp.FrameAt(s.pads[l], x, start+min(l, count-1)*hop)
	}
	s.fft.Load(&s.frames, s.window)
	s.fft.Power(s.Power)
}

// Bins returns the part of Power of the bins lo ≤ k < hi.
func (s *Spectrum) Bins(lo, hi int) []float64 { return s.Power[Count*lo : Count*hi] }

// Bin is the first bin at or above f Hz in spectra of samples at sr Hz.
func (s *Spectrum) Bin(f, sr float64) int {
	return int(math.Ceil(f * float64(len(s.Power)/Count-1) * 2 / sr))
}

// A Cepstrum transforms a band of four log spectra into quefrency: the strength of a
// spectrum's ripples by their width. Coefficient j is that of the quefrency j/(m·Δf) seconds,
// with Δf the distance of the bins in Hz and m the size of the transform. The cepstrum is
// that of B. Bogert, M. Healy and J. Tukey, "The quefrency alanysis of time series for
// echoes", Proc. Symp. Time Series Analysis, 1963, taken of a band.
//
//	C[j] = Σ_k h[k]·(L[k] − mean L)·exp(−2πi·jk/m),  h a periodic Hann window
//
// over the n bins L[k] of the band. The mean is subtracted, so that the level has no effect.
// The window suppresses the ringing of the ends of the band.
//
// A Cepstrum owns its scratch, allocates nothing after [NewCepstrum], and is not safe for
// concurrent use.
type Cepstrum struct {
	fft   *FFT
	taper []float64
}

// NewCepstrum returns a Cepstrum of n bins by a transform of m points. It panics unless m is
// a power of two of at least 16 and 1 ≤ n ≤ m.
func NewCepstrum(n, m int) *Cepstrum {
	if n < 1 || n > m {
		panic("lanes: number of bins out of range")
	}
	return &Cepstrum{NewFFT(m), dsp.PeriodicHann(n)}
}

// Power computes |C[0]|² … |C[m/2]|² of four log spectra into dst, a group of lanes for each.
// logs has one for each of the n bins, and is not changed.
func (c *Cepstrum) Power(dst, logs []float64) {
	mean := sum(logs, c.fft.avx2)
	for l := range mean {
		mean[l] /= float64(len(c.taper))
	}
	taper(c.fft.z, logs, c.taper, &mean, c.fft.avx2)
	clear(c.fft.z[Count*len(c.taper):])
	c.fft.Power(dst)
}
