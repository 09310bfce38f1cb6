package egemaps

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	// longFrame is the length in seconds of the frames of harmonics, jitter and
	// shimmer, under a Gaussian window where there is one (Eyben et al. 2016, section 3).
	longFrame = 0.060
	// gaussianSigma is the standard deviation of that window as a share of half its
	// length.
	gaussianSigma = 0.4
	// harmonicReach is how far, as a share of F0, the peak of a harmonic is sought
	// from its place. Chosen: it leaves a gap between two harmonics.
	harmonicReach = 0.25
	// formantReach is the half width of the range of a formant, as a share of its
	// frequency, in which its highest harmonic is sought: 0.8·F to 1.2·F.
	formantReach = 0.2
)

// harmonics measures the levels of harmonics in frames of 60 ms.
type harmonics struct {
	window []float64
	fft    *dsp.FFT
	frame  []float64
	power  []float64
	hz     float64 // from bin to bin
}

func newHarmonics() *harmonics {
	const n = int(longFrame*dsp.SampleRate) | 1 // odd: centred on a sample
	size := 1
	for size < n {
		size *= 2
	}
	h := &harmonics{
		window: make([]float64, n), fft: dsp.NewFFT(size),
		frame: make([]float64, size), power: make([]float64, size/2+1), hz: dsp.SampleRate / float64(size),
	}
	for j := range h.window {
		u := float64(j-n/2) / (gaussianSigma * float64(n) / 2)
		h.window[j] = math.Exp(-u * u / 2)
	}
	return h
}

// measure takes the spectrum of the frame of x − offset centred on the sample centre.
func (h *harmonics) measure(x []float64, offset float64, centre int) {
	n := len(h.window)
	copyFrame(h.frame[:n], x, offset, centre-n/2)
	clear(h.frame[n:])
	mean := dsp.Mean(h.frame[:n])
	for j, w := range h.window {
		h.frame[j] = (h.frame[j] - mean) * w
	}
	h.fft.Power(h.power, h.frame)
}

// level is the level in dB of harmonic k of f0 Hz, the highest bin within
// harmonicReach of its place; NaN outside the spectrum and without power.
func (h *harmonics) level(k int, f0 float64) float64 {
	lo := int(math.Ceil((float64(k) - harmonicReach) * f0 / h.hz))
	hi := int((float64(k)+harmonicReach)*f0/h.hz) + 1
	if lo < 0 || hi > len(h.power) {
		return math.NaN()
	}
	var top float64
	for _, p := range h.power[lo:hi] {
		top = max(top, p)
	}
	if top == 0 {
		return math.NaN()
	}
	return 10 * math.Log10(top)
}

// formant is the level of the highest harmonic of f0 from 0.8·f to 1.2·f Hz, or of
// the one nearest to f if there is none; NaN if f is NaN.
func (h *harmonics) formant(f, f0 float64) float64 {
	if math.IsNaN(f) {
		return f
	}
	first, last := int(math.Ceil((1-formantReach)*f/f0)), int((1+formantReach)*f/f0)
	if last < first {
		first = max(1, int(math.Round(f/f0)))
		last = first
	}
	top := math.NaN()
	for k := max(1, first); k <= last; k++ {
		if l := h.level(k, f0); !(l <= top) {
			top = l
		}
	}
	return top
}
