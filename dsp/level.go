package dsp

import "math"

// levelFrame is the length of the frame of a level in samples: 25 ms, odd so
// that it is centred on a sample.
const levelFrame = 1103

// level is the level of the mean square ms in dBFS, −Inf for 0.
func level(ms float64) float64 { return 10 * math.Log10(ms) }

// A levelMeter measures the level of x − offset in the frames centred on i·441, one
// after the other. Frames overlap, so the squares are summed in two parts per hop, which
// begin 110 samples before the middle of a hop and 110 after it. Each frame is five
// parts.
type levelMeter struct {
	offset     float64
	b2, a1, b1 float64 // the parts of the hops before
}

const levelHalf, levelReach = levelFrame / 2, levelFrame/2 - hopSamples // 551 and 110

// start makes the next frame the first one.
func (m *levelMeter) start(x *signal, offset float64) {
	*m = levelMeter{offset: offset}
	m.b1 = m.part(x, -levelReach, levelReach+1)
}

func (m *levelMeter) part(x *signal, lo, hi int) float64 {
	lo, hi = min(max(lo, 0), x.n), min(max(hi, 0), x.n)
	if lo == hi {
		return 0
	}
	_, square := powers(x.part(lo, hi), m.offset, hasAVX)
	return square
}

// frame returns the level of frame i, in dBFS.
func (m *levelMeter) frame(x *signal, i int) float64 {
	centre := i * hopSamples
	a := m.part(x, centre+levelReach+1, centre+hopSamples-levelReach)
	b := m.part(x, centre+hopSamples-levelReach, centre+levelHalf+1)
	lo, hi := overlap(levelFrame, x.n, centre-levelHalf)
	l := level((m.b2 + m.a1 + m.b1 + a + b) / float64(hi-lo))
	m.b2, m.a1, m.b1 = m.b1, a, b
	return l
}

// The auditory spectrum of the loudness is that of PLP (H. Hermansky, "Perceptual
// linear predictive (PLP) analysis of speech", JASA 87, 1990, 1738–1752) on mel bands,
// as in GeMAPS (F. Eyben et al., "The Geneva minimalistic acoustic parameter set
// (GeMAPS) for voice research and affective computing", IEEE Trans. Affective
// Computing 7, 2016, 190–202): 26 triangles from 20 Hz to 8 kHz, each weighted by the
// equal-loudness curve at its centre, compressed by the cubic root (Hermansky's eq.
// 7), and summed.
const (
	loudnessFilters = 26
	loudnessLow     = 20   // Hz
	loudnessHigh    = 8000 // Hz
	// loudnessTone is the loudness of a steady 1 kHz sine of amplitude ½. It
	// sets the scale, which is otherwise arbitrary: the value that openSMILE
	// 3.0.1 gives in eGeMAPSv02 for such a tone, so that figures compare.
	loudnessTone = 2.1688
)

// equalLoudness is the relative sensitivity of the ear at f Hz to power
// (Hermansky's eq. 6, from Makhoul and Cosell, 1976), 1 at its maximum or so.
func equalLoudness(f float64) float64 {
	w2 := (2 * math.Pi * f) * (2 * math.Pi * f)
	return (w2 + 56.8e6) * w2 * w2 / ((w2 + 6.3e6) * (w2 + 6.3e6) * (w2 + 0.38e9))
}

// A loudness measures the loudness of power spectra of frames with one window.
type loudness struct {
	bank  *filterBank
	bands []float64
	scale []float64 // factor of a band's cubic root
}

// newLoudness returns a loudness for power spectra of nfft samples at sr Hz
// multiplied by the window w.
func newLoudness(sr float64, nfft int, w []float64) *loudness {
	l := bareLoudness(sr, nfft)
	tone := l.calibration(sr, w)
	for j := range l.scale {
		l.scale[j] *= tone
	}
	return l
}

// bareLoudness returns a loudness of an arbitrary scale.
func bareLoudness(sr float64, nfft int) *loudness {
	high := min(loudnessHigh, sr/2)
	l := &loudness{bank: newFilterBank(sr, nfft, loudnessFilters, loudnessLow, high, HzToMel)}
	l.bands = make([]float64, loudnessFilters)
	l.scale = make([]float64, loudnessFilters)
	for j := range l.scale {
		l.scale[j] = math.Cbrt(equalLoudness(loudnessCentre(sr, j)))
	}
	return l
}

// loudnessCentre is the centre of band j in Hz at the rate sr.
func loudnessCentre(sr float64, j int) float64 {
	lo, hi := HzToMel(loudnessLow), HzToMel(min(loudnessHigh, sr/2))
	return MelToHz(lo + (hi-lo)*float64(j+1)/(loudnessFilters+1))
}

// calibration is the factor that gives a 1 kHz sine of amplitude ½ at sr Hz under the
// window w, as long as the FFT, the loudness loudnessTone.
func (l *loudness) calibration(sr float64, w []float64) float64 {
	y := make([]float64, len(w))
	for j, v := range w {
		y[j] = 0.5 * v * math.Sin(2*math.Pi*1000*float64(j)/sr)
	}
	return loudnessTone / l.of(NewFFT(len(w)).Power(nil, y))
}

// of is the loudness of the power spectrum p, ≥ 0.
func (l *loudness) of(p []float64) float64 {
	l.bank.energies(l.bands, p, hasAVX)
	cbrts(l.bands, hasAVX2)
	return dotProduct(l.scale, l.bands, hasAVX)
}
