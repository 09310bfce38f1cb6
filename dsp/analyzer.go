package dsp

import (
	"math"
	"runtime/debug"
)

// hopSamples is the number of samples from one frame to the next; Hop is a
// whole number of samples at SampleRate.
const hopSamples = SampleRate / 100

// An Analyzer measures recordings. It owns all scratch memory and the [Analysis] it
// returns. That memory grows with the longest recording so far; a call that needs no
// more of it allocates nothing.
//
// Use [NewAnalyzer]: the zero value panics. An Analyzer is not safe for concurrent
// use.
type Analyzer struct {
	out      Analysis
	spectral *Spectral
	pitch    *Pitch
	pulses   *Pulses
	shimmer  shimmer
	hnr      *HNR
	cpps     *CPPS
	formants *FormantTracker
	activity *activity
	speech   longTerm  // of frames of speech
	noise    longTerm  // of those with nothing but noise
	smooth   []float64 // scratch of the bandwidth
	clean    []float64 // a copy of the samples with those replaced that are not analysed
	keep     Sink      // fills the tracks of out
	window   []float64 // of Stream
	chunk    [formantChunk]Formants
}

// NewAnalyzer returns an Analyzer of mono samples at [SampleRate].
func NewAnalyzer() *Analyzer {
	a := &Analyzer{
		spectral: NewSpectral(),
		pitch:    NewPitch(SampleRate, nil),
		pulses:   NewPulses(SampleRate),
		hnr:      NewHNR(SampleRate),
		cpps:     NewCPPS(SampleRate),
		formants: NewFormantTracker(),
		activity: newActivity(SampleRate),
		speech:   newLongTerm(),
		noise:    newLongTerm(),
		smooth:   make([]float64, spectrumFrame/2+1),
	}
	a.pulses.beyond = pulseAlike
	a.keep = a.tracks()
	return a
}

// maxSample is the largest magnitude that is analysed, 24 dB above full scale.
// Chosen: far above any recording or intermediate result, and small enough that
// sums of squares keep their precision.
const maxSample = 16

// FrameCount is the number of frames of every track of n samples at [SampleRate]:
// the frames centred on 0, Hop, 2·Hop, … up to the end of the last sample. It is 0
// for no samples.
func FrameCount(n int) int {
	if n <= 0 {
		return 0
	}
	return n/hopSamples + 1
}

// Analyze measures x, mono samples at [SampleRate], nominally in [-1, 1). x may be
// empty, silent or of any length; measures that it is too short for are NaN.
//
// The result belongs to the Analyzer and is valid until its next call. Every track
// has [FrameCount](len(x)) frames. x is not changed. A sample that is NaN or
// infinite counts as 0, and a sample beyond ±16 as ±16. An offset has no effect:
// every measure is of x less its mean.
func (a *Analyzer) Analyze(x []float64) *Analysis {
	out := &a.out
	out.Duration = float64(len(x)) / SampleRate
	out.resize(FrameCount(len(x)))
	if len(x) == 0 {
		return out
	}
	clean, e := sanitize(a.clean, x)
	if &clean[0] != &x[0] {
		a.clean = clean
	}
	all := whole(clean)
	a.run(&all, e, &a.keep)
	return out
}

// A Sink takes the measures of single frames as [Analyzer.Stream] finds them, each kind
// in the order of the frames. What the functions are given is valid until they return.
type Sink struct {
	// Begin is called before the other functions, when F0, Irregular, IsSpeech, Speech,
	// Pauses and Quality.SNR are known.
	Begin func(a *Analysis)
	// Wants returns whether Spectrum and MFCC of frame i are needed; nil means of all
	// frames. They are NaN in the other frames, and the flux is undefined in the first
	// frame after one of these. Called after Begin.
	Wants    func(i int) bool
	Frame    func(i int, f *Frame)
	HNR      func(i int, db float64)  // of every frame; see [Analysis]
	Formants func(i int, f *Formants) // of every frame; see [Analysis]
}

// Stream measures mono samples at [SampleRate] as [Analyzer.Analyze] does, with the same
// values but for rounding. It reads src three times, a few seconds of it at a time, and
// once before to survey it if known is nil; known is the survey of the same samples.
// Level, Loudness, HNR, Spectrum, MFCC and Formants of the result are empty: sink takes
// them, frame by frame. Memory grows by about 80 bytes a frame.
//
// The error is that of src, or ErrChanged. The result is then invalid.
func (a *Analyzer) Stream(src Samples, known *Survey, sink *Sink) (*Analysis, error) {
	out := &a.out
	a.window = sized(a.window, signalBlock)
	if known == nil {
		v, err := SurveySamples(src, a.window)
		if err != nil {
			return nil, err
		}
		known = &v
	}
	*out = Analysis{F0: out.F0, Irregular: out.Irregular[:0], IsSpeech: out.IsSpeech, Pulses: out.Pulses, Speech: out.Speech, Pauses: out.Pauses, Syllables: out.Syllables}
	out.reset()
	out.Duration = float64(known.n) / SampleRate
	out.F0, out.IsSpeech = filled(out.F0, FrameCount(known.n), 0), filled(out.IsSpeech, FrameCount(known.n), false)
	if known.n == 0 {
		sink.Begin(out)
		return out, nil
	}
	x := signal{n: known.n, x: a.window[:0], src: src, dirty: known.dirty}
	a.run(&x, known.extent(), sink)
	a.window = x.x[:0]
	return out, x.err
}

// longTrack is the number of frames, five minutes, from which on memory is released
// that only one pass of Stream needs.
const longTrack = 5 * 60 * 100

// run measures x, which is not empty and whose extent is given, in three passes. The
// first finds the candidates of the pitch, the second decides which frames are voiced,
// and the third measures what depends on that.
func (a *Analyzer) run(x *signal, e extent, sink *Sink) {
	out, n := &a.out, FrameCount(x.n)
	clip, square := newClipping(e), 0.0
	a.pitch.start(x, e.mean)
	x.rewind()
	x.steps(n, func(first, limit int) {
		a.pitch.candidates(x, limit)
		to := limit * hopSamples
		if limit == n {
			to = x.n
		}
		part := x.part(first*hopSamples, to)
		clip.Add(part)
		square += dotProduct(part, part, hasAVX)
	})
	if x.err != nil {
		return
	}
	out.F0 = a.pitch.solve(out.F0)
	out.Quality.Clipped = clip.Share()

	unvoiced := offsets{hop: hopSamples}
	a.activity.start(n, e.mean)
	x.rewind()
	x.steps(n, func(_, limit int) {
		unvoiced.frames(x, out.F0, a.pitch.correct(out.F0, x, limit))
		a.activity.measure(x, limit)
	})
	if x.err != nil {
		return
	}
	a.pitch.sharpen(out.F0)
	out.Irregular = a.pitch.Irregular(out.Irregular, out.F0)
	if x.src != nil && n > longTrack {
		a.activity.sorted = a.pitch.path.quartile // scratch, too
		a.pitch.path = pitchPath{}
		debug.FreeOSMemory() // before what follows takes as much
	}
	out.Pulses = emptied(out.Pulses, expectedPulses(out.F0))
	a.activity.detect(out)
	out.Quality.SNR = a.activity.snr(out.IsSpeech)
	a.activity.markFloor()
	if x.src != nil && n > longTrack {
		a.activity.sorted = nil // scratch
	}
	sink.Begin(out)
	a.pulses.start(unvoiced.offset(e.mean, square/float64(x.n)), 0)
	a.voices(x, e.mean, sink)
	if x.err != nil {
		return
	}
	out.Jitter = MeasureJitter(out.Pulses)
	out.Shimmer = a.shimmer.measures()
	out.CPPS = a.cpps.result()
	a.activity.syllables(out, a.spectral.sonorant)
	out.Quality.Bandwidth = a.bandwidth()
}

// bandwidth is that of the recording whose spectra are known.
func (a *Analyzer) bandwidth() float64 {
	var speech, noise []float64
	if a.speech.n > 0 && a.noise.n > 0 {
		speech, noise = a.speech.mean(), a.noise.mean()
	}
	return bandwidth(a.spectral.longTerm.mean(), speech, noise, a.smooth, SampleRate)
}

// expectedPulses is about the number of pulses of a recording with the track f0, or more.
func expectedPulses(f0 []float64) int {
	var periods float64
	for _, f := range f0 {
		periods += f * Hop
	}
	return int(1.02*periods) + 100
}

// voices is the third pass.
func (a *Analyzer) voices(x *signal, offset float64, sink *Sink) {
	out, n := &a.out, len(a.out.F0)
	x.rewind()
	a.spectral.start(x, offset)
	a.speech.reset()
	a.noise.reset()
	a.hnr.start()
	a.cpps.begin(offset)
	a.shimmer = shimmer{}
	next := 0 // frame whose formants are next
	x.steps(n, func(first, limit int) {
		before := len(out.Pulses)
		out.Pulses = a.pulses.find(out.Pulses, x, out.F0, limit)
		for k, amplitude := range a.pulses.amp {
			a.shimmer.add(out.Pulses[before+k], amplitude)
		}
		a.pulses.amp = a.pulses.amp[:0]
		a.cpps.frames(x, out.F0, limit)
		for i := first; i < limit; i++ {
			sink.Frame(i, a.spectral.measure(x, i, sink.Wants == nil || sink.Wants(i)))
			switch {
			case !a.spectral.whole:
			case a.activity.floor[i]:
				a.noise.add(a.spectral.spectrum.power)
			case out.IsSpeech[i]:
				a.speech.add(a.spectral.spectrum.power)
			}
		}
		for i := first; i < limit; i++ {
			sink.HNR(i, a.hnr.at(x, out.F0, i))
		}
		for next < limit {
			for i := range a.formants.next(a.chunk[:], x, offset, out.F0, next) {
				sink.Formants(next, &a.chunk[i])
				next++
			}
		}
	})
}

// tracks returns a Sink that keeps everything in a.out.
func (a *Analyzer) tracks() Sink {
	out := &a.out
	return Sink{
		Begin: func(*Analysis) {},
		Frame: func(i int, f *Frame) {
			out.Level[i], out.Loudness[i], out.Spectrum[i], out.MFCC[i] = f.Level, f.Loudness, f.Spectrum, f.MFCC
		},
		HNR:      func(i int, db float64) { out.HNR[i] = db },
		Formants: func(i int, f *Formants) { out.Formants[i] = *f },
	}
}

// resize gives every track n undefined frames and empties the lists. It allocates
// only if a track grows beyond its largest length so far.
func (out *Analysis) resize(n int) {
	nan := math.NaN()
	out.F0 = filled(out.F0, n, 0)
	out.Irregular = filled(out.Irregular, n, false)
	out.Level = filled(out.Level, n, math.Inf(-1))
	out.Loudness = filled(out.Loudness, n, 0)
	out.HNR = filled(out.HNR, n, nan)
	out.Spectrum = filled(out.Spectrum, n, noSpectrum)
	out.MFCC = filled(out.MFCC, n, noCepstrum)
	out.Formants = filled(out.Formants, n, Formants{[3]float64{nan, nan, nan}, [3]float64{nan, nan, nan}})
	out.IsSpeech = filled(out.IsSpeech, n, false)
	out.reset()
}

// reset empties the lists and makes the measures undefined.
func (out *Analysis) reset() {
	nan := math.NaN()
	out.Pulses = out.Pulses[:0]
	out.Speech = out.Speech[:0]
	out.Pauses = out.Pauses[:0]
	out.Syllables = out.Syllables[:0]
	out.Jitter = Jitter{nan, nan, nan, nan, nan}
	out.Shimmer = Shimmer{nan, nan, nan, nan, nan}
	out.CPPS = nan
	out.Quality = Quality{SNR: nan, Clipped: 0, Bandwidth: nan}
}

// filled returns s with length n and every element v, in s's memory if that
// is large enough.
func filled[T any](s []T, n int, v T) []T {
	if cap(s) < n {
		s = make([]T, n)
	}
	s = s[:n]
	for i := range s {
		s[i] = v
	}
	return s
}

// emptied returns s without elements and with room for n, in its memory if that is large
// enough. Unlike slices.Grow it does not touch memory that is not used.
func emptied[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, 0, n)
	}
	return s[:0]
}
