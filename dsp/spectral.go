package dsp

import "math"

// A Spectral fills the tracks of an [Analysis] that depend on single frames alone:
// Level, Loudness, Spectrum and MFCC. It owns its scratch, allocates nothing after a
// call with the longest recording, and is not safe for concurrent use.
//
// Frame i is centred on the sample i·441, and the signal is taken as 0 before its
// first and after its last sample. Each measure has the frame length of its
// definition. MFCC has the 25 ms and the window of HTK (see [MFCC]). Loudness and
// the spectral measures share one power spectrum of 23.2 ms, the power of two
// nearest to the 20 ms of GeMAPS. The level is the RMS of those samples of 25 ms
// that are in the signal.
type Spectral struct {
	mfcc     *MFCC
	spectrum *spectrometer
	loudness *loudness
	frame    []float64 // a frame for the cepstrum
	longTerm longTerm  // of the frames wholly in the signal
	whole    bool      // whether the latest frame is one of them
	sonorant []float32 // mean square of each frame in the band of the sonorants
	weights  []float64 // that give it from the power spectrum
	level    levelMeter
	offset   float64
	now      Frame
}

// NewSpectral returns a Spectral for mono samples at [SampleRate].
func NewSpectral() *Spectral {
	s := &Spectral{mfcc: NewMFCC(SampleRate, nil), spectrum: newSpectrometer(SampleRate, spectrumFrame)}
	s.loudness = newLoudness(SampleRate, spectrumFrame, s.spectrum.window)
	s.frame = make([]float64, s.mfcc.FrameLen())
	s.weights = sonorantWeights(SampleRate, s.spectrum.window)
	s.longTerm = newLongTerm()
	return s
}

// A longTerm is the mean power spectrum of frames.
type longTerm struct {
	sum []float64
	n   int
}

func newLongTerm() longTerm { return longTerm{sum: make([]float64, spectrumFrame/2+1)} }

func (l *longTerm) reset() {
	clear(l.sum)
	l.n = 0
}

func (l *longTerm) add(power []float64) {
	accumulate(l.sum, power, hasAVX)
	l.n++
}

// mean divides the sum, and returns it.
func (l *longTerm) mean() []float64 {
	for k := range l.sum {
		l.sum[k] /= float64(max(l.n, 1))
	}
	l.n = min(l.n, 1)
	return l.sum
}

// Frames fills out.Level, out.Loudness, out.Spectrum and out.MFCC with the
// [FrameCount](len(x)) frames of x − offset, in their memory where that is large
// enough, and changes nothing else of out. x is mono at [SampleRate] and is not
// changed. In a frame of digital silence the level is −Inf, the loudness 0 and the
// spectral measures NaN. In a frame with a NaN or an infinite sample all are NaN,
// but for a level of +Inf if samples are infinite and none is NaN.
func (s *Spectral) Frames(x []float64, offset float64, out *Analysis) {
	n := FrameCount(len(x))
	out.Level = sized(out.Level, n)
	out.Loudness = sized(out.Loudness, n)
	out.Spectrum = sized(out.Spectrum, n)
	out.MFCC = sized(out.MFCC, n)
	all := whole(x)
	s.start(&all, offset)
	for i := range n {
		f := s.measure(&all, i, true)
		out.Level[i], out.Loudness[i], out.Spectrum[i], out.MFCC[i] = f.Level, f.Loudness, f.Spectrum, f.MFCC
	}
}

// A Frame is what a [Spectral] measures in one frame; see the tracks of [Analysis].
type Frame struct {
	Level, Loudness float64
	Spectrum        Spectrum
	MFCC            [NumMFCC]float64
}

// noSpectrum and noCepstrum are the measures of a frame that has none.
var noSpectrum, noCepstrum = func() (s Spectrum, c [NumMFCC]float64) {
	nan := math.NaN()
	for i := range c {
		c[i] = nan
	}
	return Spectrum{nan, nan, nan, nan, nan, nan, nan, nan}, c
}()

// start makes the next frame the first one of x − offset.
func (s *Spectral) start(x *signal, offset float64) {
	s.offset = offset
	s.spectrum.reset()
	s.longTerm.reset()
	s.sonorant = emptied(s.sonorant, FrameCount(x.n))
	if x.n > 0 {
		s.level.start(x, offset)
	}
}

// measure measures frame i, the frames in order, without Spectrum and MFCC unless all.
// The result is valid until the next call.
func (s *Spectral) measure(x *signal, i int, all bool) *Frame {
	f := &s.now
	f.Level = s.level.frame(x, i)
	if all {
		s.cepstrum(f.MFCC[:], x, i)
	}
	start := i*hopSamples - spectrumFrame/2
	frame, _ := s.part(s.spectrum.frame, x, start) // analyze subtracts the mean
	silent := !s.spectrum.analyze(frame)
	if all {
		f.Spectrum = s.spectrum.measure(silent)
	} else {
		f.Spectrum, f.MFCC = noSpectrum, noCepstrum
	}
	s.sonorant = append(s.sonorant, float32(dotProduct(s.weights, s.spectrum.power[:len(s.weights)], hasAVX)))
	f.Loudness = s.loudness.of(s.spectrum.power)
	if s.whole = start >= 0 && start+spectrumFrame <= x.n; s.whole {
		s.longTerm.add(s.spectrum.power)
	}
	return f
}

// cepstrum computes the coefficients of frame i into dst.
func (s *Spectral) cepstrum(dst []float64, x *signal, i int) {
	frame, inside := s.part(s.frame, x, i*hopSamples-len(s.frame)/2)
	if inside {
		s.mfcc.measure(dst, frame, s.offset)
	} else {
		s.mfcc.measure(dst, frame, 0)
	}
}

// part returns the samples of x from start on, as many as pad has. inside is whether all
// are in the recording. If not, they are less the offset, with zeros outside, in pad.
func (s *Spectral) part(pad []float64, x *signal, start int) (frame []float64, inside bool) {
	lo, hi := overlap(len(pad), x.n, start)
	if lo == 0 && hi == len(pad) {
		return x.part(start, start+len(pad)), true
	}
	clear(pad[:lo])
	clear(pad[hi:])
	shift(pad[lo:hi], x.part(start+lo, start+hi), s.offset, hasAVX)
	return pad, false
}

// sized returns s with length n, in its memory if that is large enough. The
// elements are undefined.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
