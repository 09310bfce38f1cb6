package dsp

import "math"

// A Loudness measures the auditory loudness of power spectra at any rate, by the
// definition of the track Loudness of an [Analysis]: 26 mel bands from 20 Hz to 8 kHz
// or to half the rate, weighted by the equal-loudness curve, compressed by the cubic
// root and summed (Hermansky 1990; Eyben et al. 2016). It differs in two respects. The
// curve has the fall above 5 kHz that Hermansky adds for wide-band speech (his eq. 7),
// and the spectra are taken as they are: frames of fewer samples have less power and
// are less loud.
//
// It owns its scratch, allocates nothing after [NewLoudness], and is not safe for
// concurrent use.
type Loudness struct{ of *loudness }

// The frames whose loudness sets the scale of [Loudness]: those of GeMAPS, 20 ms
// under a Hamming window, at [SampleRate].
const loudnessFrame, loudnessFFT = 882, 1024

// NewLoudness returns a Loudness of power spectra of nfft samples, a power of two, at
// sr Hz. In frames of 20 ms at [SampleRate] under a Hamming window, a 1 kHz sine of
// amplitude ½ has the loudness 2.1688. NewLoudness panics unless sr is at least 4000
// and nfft at least 64.
func NewLoudness(sr float64, nfft int) *Loudness {
	if nfft < 64 || !(sr >= 4000) {
		panic("dsp: loudness of impossible frames")
	}
	w := make([]float64, loudnessFFT)
	copy(w, Hamming(loudnessFrame))
	scale := wideLoudness(SampleRate, loudnessFFT).calibration(SampleRate, w)
	l := wideLoudness(sr, nfft)
	for j := range l.scale {
		l.scale[j] *= scale
	}
	return &Loudness{l}
}

// wideLoudness is bareLoudness with the equal-loudness curve of wide-band speech.
func wideLoudness(sr float64, nfft int) *loudness {
	l := bareLoudness(sr, nfft)
	for j := range l.scale {
		w := 2 * math.Pi * loudnessCentre(sr, j)
		const corner = 9.58e26 // of Hermansky's eq. 7, where the curve is less by half at 5 kHz
		l.scale[j] *= math.Cbrt(corner / (math.Pow(w, 6) + corner))
	}
	return l
}

// Of is the loudness, at least 0, of the power spectrum of a frame, of nfft/2+1 bins,
// as [FFT.Power] gives it. power is not changed.
func (l *Loudness) Of(power []float64) float64 { return l.of.of(power) }
