package egemaps

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
)

// The tracks of low-level descriptors, one value every [dsp.Hop]. A frame in which a
// descriptor is undefined, such as F0 without voice, is NaN.
const (
	trackF0 = iota
	trackLoudness
	trackFlux
	trackMFCC   // 1 to 4
	trackJitter = iota + 3
	trackShimmer
	trackHNR
	trackH1H2
	trackH1A3
	trackFormant // of each formant: frequency, bandwidth, amplitude
	trackAlpha   = iota + 11
	trackHammarberg
	trackSlope500
	trackSlope1500
	trackCount
)

// shortFrame is the length in seconds of the frames of flux and cepstrum, under a
// Hamming window (Eyben et al. 2016, section 3).
const shortFrame = 0.020

// semitoneZero is the frequency in Hz of semitone 0.
const semitoneZero = 27.5

// describe fills the tracks of a recording.
func (m *Measurer) describe(in *features.Recording) {
	m.prepare(in)
	a := in.Analysis
	first := 0
	for i := range a.F0 {
		m.spectral(in, i)
		s := &a.Spectrum[i]
		m.tracks[trackAlpha][i] = -s.Alpha // the published value has the upper band over the lower
		m.tracks[trackHammarberg][i] = s.Hammarberg
		m.tracks[trackSlope500][i] = s.Slope500
		m.tracks[trackSlope1500][i] = s.Slope1500
		if !(a.F0[i] > 0) {
			for _, k := range voicedTracks {
				m.tracks[k][i] = math.NaN()
			}
			continue
		}
		m.tracks[trackF0][i] = 12 * math.Log2(a.F0[i]/semitoneZero)
		t := float64(i) * dsp.Hop
		m.tracks[trackJitter][i], m.tracks[trackShimmer][i], first = perturbation(m.periods, first, t-longFrame/2, t+longFrame/2)
		m.tracks[trackHNR][i] = windowedHNR(a.HNR[i], a.F0[i])
		m.voiced(in, i)
	}
}

// voicedTracks are the tracks that are defined in voiced frames alone.
var voicedTracks = func() (k []int) {
	for i := trackJitter; i < trackAlpha; i++ {
		k = append(k, i)
	}
	return append(k, trackF0)
}()

// spectral measures flux and cepstrum of frame i at the recording's own rate. A
// recording of a lower rate has no power in the upper bands at [dsp.SampleRate].
func (m *Measurer) spectral(in *features.Recording, i int) {
	centre := int(math.Round(float64(i) * dsp.Hop * float64(in.NativeRate)))
	copyFrame(m.frame, in.Native, m.offset, centre-len(m.frame)/2)
	m.mfcc.Coefficients(m.cepstrum, m.frame)
	for k := range numMFCC {
		m.tracks[trackMFCC+k][i] = m.cepstrum[k+1]
	}
	m.tracks[trackFlux][i], m.tracks[trackLoudness][i] = m.flux.next(m.frame)
}

// copyFrame fills dst with x − offset from the sample start on, and 0 outside x.
func copyFrame(dst, x []float64, offset float64, start int) {
	dsp.CopyFrame(dst, x, start)
	for j := max(0, -start); j < min(len(dst), len(x)-start); j++ {
		dst[j] -= offset
	}
}

// voiced measures formants and harmonics of the voiced frame i.
func (m *Measurer) voiced(in *features.Recording, i int) {
	f0, f := in.Analysis.F0[i], in.Analysis.Formants[i]
	m.harmonics.measure(in.Samples, m.offset, i*(dsp.SampleRate/100))
	h1 := m.harmonics.level(1, f0)
	m.tracks[trackH1H2][i] = h1 - m.harmonics.level(2, f0)
	for k := range f.F {
		level := m.harmonics.formant(f.F[k], f0)
		m.tracks[trackFormant+3*k][i] = f.F[k]
		m.tracks[trackFormant+3*k+1][i] = f.B[k]
		m.tracks[trackFormant+3*k+2][i] = level - h1
		if k == 2 {
			m.tracks[trackH1A3][i] = h1 - level
		}
	}
}

// windowedHNR converts the harmonics-to-noise ratio in dB of a voice of f0 Hz to that
// of the set. Both are 10·log10(r/(1 − r)) of the autocorrelation r at the period T.
// That of the set is of the frame under a Gaussian window, whose own autocorrelation,
// exp(−T²/4σ²), it includes: the ratio of a perfect voice of 110 Hz is 8 dB.
func windowedHNR(hnr, f0 float64) float64 {
	const sigma = gaussianSigma * longFrame / 2
	ratio := math.Pow(10, hnr/10)
	r := ratio / (1 + ratio)
	if math.IsInf(ratio, 1) {
		r = 1
	}
	T := 1 / f0
	r *= math.Exp(-T * T / (4 * sigma * sigma))
	return 10 * math.Log10(r/(1-r))
}

// sized returns s with length n, in its memory if that is large enough.
func sized(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
