package dsp

// A Spectral fills the tracks of an [Analysis] that come from the samples and
// spectra of frames alone: Level, Loudness, Spectrum and MFCC. It owns its
// scratch, allocates nothing after [NewSpectral], and is not safe for
// concurrent use.
//
// Frame i is centred on the sample i·441, and the signal is taken as 0 before
// its first and after its last sample. Each measure has the frame length that
// its definition asks for: MFCC the 25 ms and the window of HTK (see [MFCC]),
// loudness and the spectral measures share one power spectrum of 23.2 ms, and
// the level is the RMS of those samples of 25 ms that are in the signal.
type Spectral struct {
	mfcc     *MFCC
	spectrum *spectrometer
	loudness *loudness
	frame    []float64 // a frame for the cepstrum
	longTerm []float64 // sum of the power spectra of the frames wholly in the signal
	sonorant []float32 // mean square of each frame in the band of the sonorants
	weights  []float64 // that give it from the power spectrum
}

// NewSpectral returns a Spectral for mono samples at [SampleRate].
func NewSpectral() *Spectral {
	s := &Spectral{mfcc: NewMFCC(SampleRate, nil), spectrum: newSpectrometer(SampleRate, spectrumFrame)}
	s.loudness = newLoudness(SampleRate, spectrumFrame, s.spectrum.window)
	s.frame = make([]float64, s.mfcc.FrameLen())
	s.weights = sonorantWeights(SampleRate, s.spectrum.window)
	s.longTerm = make([]float64, spectrumFrame/2+1)
	return s
}

// Frames fills out.Level, out.Loudness, out.Spectrum and out.MFCC with the
// [FrameCount](len(x)) frames of x − offset, in their memory where that is
// large enough. x is not changed. A frame with a NaN or an infinite sample has
// measures that are NaN, but for its level, which is +Inf if a sample is
// infinite and none NaN.
func (s *Spectral) Frames(x []float64, offset float64, out *Analysis) {
	n := FrameCount(len(x))
	out.Level = sized(out.Level, n)
	out.Loudness = sized(out.Loudness, n)
	out.Spectrum = sized(out.Spectrum, n)
	out.MFCC = sized(out.MFCC, n)
	levels(out.Level, x, offset)
	s.spectrum.reset()
	clear(s.longTerm)
	s.sonorant = sized(s.sonorant, n)
	for i := range n {
		centre := i * hopSamples
		frame := s.frame
		start := centre - len(frame)/2
		lo, hi := overlap(len(frame), len(x), start)
		clear(frame[:lo])
		clear(frame[hi:])
		shift(frame[lo:hi], x[start+lo:start+hi], offset, hasAVX)
		s.mfcc.Coefficients(out.MFCC[i][:], frame)

		start = centre - spectrumFrame/2
		CopyFrame(s.spectrum.frame, x, start)
		lo, hi = overlap(spectrumFrame, len(x), start)
		if lo > 0 || hi < spectrumFrame { // else analyze takes the mean off
			for j := range s.spectrum.frame[lo:hi] {
				s.spectrum.frame[lo+j] -= offset
			}
		}
		silent := !s.spectrum.analyze()
		out.Spectrum[i] = s.spectrum.measure(silent)
		s.sonorant[i] = float32(dotProduct(s.weights, s.spectrum.power[:len(s.weights)], hasAVX))
		out.Loudness[i] = s.loudness.of(s.spectrum.power)
		if start >= 0 && start+spectrumFrame <= len(x) {
			accumulate(s.longTerm, s.spectrum.power, hasAVX)
		}
	}
}

// sized returns s with length n, in its memory if that is large enough. The
// elements are whatever was there.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
