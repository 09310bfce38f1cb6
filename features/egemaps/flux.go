package egemaps

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// fluxHigh is the upper end in Hz of the band of the flux, or half the rate if that is
// less. Chosen: the upper end of the other spectral measures of the set.
const fluxHigh = 5000

// flux measures the spectral flux and the loudness of successive frames.
type flux struct {
	loudness *dsp.Loudness
	window   []float64
	fft      *dsp.FFT
	frame    []float64
	power    []float64
	previous []float64 // magnitudes
	bins     int
	first    bool
}

func newFlux(n, rate int) *flux {
	size := 1
	for size < n {
		size *= 2
	}
	return &flux{
		loudness: dsp.NewLoudness(float64(rate), size), window: dsp.Hamming(n), fft: dsp.NewFFT(size), frame: make([]float64, size), power: make([]float64, size/2+1),
		bins: min(int(fluxHigh*float64(size)/float64(rate)), size/2) + 1, previous: make([]float64, size/2+1), first: true,
	}
}

func (f *flux) reset() { f.first = true }

// next returns the loudness of a frame and its flux relative to the frame before,
//
//	√(Σ (|X[k]| − |X′[k]|)² / K)
//
// over the K bins above 0 Hz up to fluxHigh, with magnitudes that are not normalised.
// The flux of the first frame is NaN.
func (f *flux) next(frame []float64) (flux, loudness float64) {
	dsp.Multiply(f.frame[:len(frame)], frame, f.window)
	clear(f.frame[len(frame):])
	f.fft.Power(f.power, f.frame)
	loudness = f.loudness.Of(f.power)
	var s float64
	for k := 1; k < f.bins; k++ {
		v := math.Sqrt(f.power[k])
		d := v - f.previous[k]
		s += d * d
		f.previous[k] = v
	}
	if f.first {
		f.first = false
		return math.NaN(), loudness
	}
	return math.Sqrt(s / float64(f.bins-1)), loudness
}
