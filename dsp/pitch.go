package dsp

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// PitchOptions are the settings of a [Pitch]. A nil *PitchOptions and zero fields
// mean the defaults. They are those of the Praat manual, page "Sound: To Pitch
// (filtered ac)...", with its range of 50 to 800 Hz, but for three, which were chosen
// on synthetic speakers whose voicing is known and on the resynthesised reference
// voices:
//
//   - A silence threshold of 0.02 instead of 0.09, so that the faint ends of phrases
//     are voiced. Beside a vowel of the 0.1 s before, the threshold is 0.09.
//   - A voicing threshold of 0.70 instead of 0.50, which high candidates must reach
//     without the octave cost: in low, irregular voice they are often a harmonic or a
//     formant.
//   - A voiced/unvoiced cost of 0.28 instead of 0.14. A low voice with 4 % jitter
//     then stays one stretch.
type PitchOptions struct {
	Floor              float64 // Hz, lowest F0; default 50
	Ceiling            float64 // Hz, highest F0; default 800
	SilenceThreshold   float64 // share of the largest magnitude of voice, below which a frame tends to be unvoiced; default 0.02, 0.09 if Strict
	VoicingThreshold   float64 // strength of the unvoiced candidate; default 0.70, 0.75 if Strict
	OctaveCost         float64 // preference for higher candidates per octave; default 0.055
	OctaveJumpCost     float64 // cost of moving by an octave in 0.01 s; default 0.35
	VoicedUnvoicedCost float64 // cost of a change of voicing in 0.01 s; default 0.28

	// Strict leaves more frames unvoiced that are faint, low or breathy, and checks
	// repetition in all of the band. The shipped deepfake model was trained on such tracks.
	Strict bool
}

// withDefaults returns the settings with the defaults filled in.
func (o *PitchOptions) withDefaults() PitchOptions {
	var p PitchOptions
	if o != nil {
		p = *o
	}
	rules := p.rules()
	for _, f := range []struct {
		v *float64
		d float64
	}{
		{&p.Floor, 50}, {&p.Ceiling, 800}, {&p.SilenceThreshold, rules.silence}, {&p.VoicingThreshold, rules.voicing},
		{&p.OctaveCost, 0.055}, {&p.OctaveJumpCost, 0.35}, {&p.VoicedUnvoicedCost, 0.28},
	} {
		if *f.v == 0 {
			*f.v = f.d
		}
	}
	return p
}

// A Pitch estimates F0 by autocorrelation after P. Boersma, "Accurate
// short-term analysis of the fundamental frequency and the harmonics-to-noise
// ratio of a sampled sound", IFA Proceedings 17 (1993), 97–110, of a signal
// that is first low-passed by a Gaussian, which leaves a few partials and
// makes the method robust against noise and strong formants:
//
//  1. x is low-passed with exp(−½(f/fc)²), fc = 302 Hz, and decimated to about
//     2.8 kHz (see [lowpass]).
//  2. Of each frame (a Hann window of 3/Floor seconds centred on i·[Hop]) the
//     autocorrelation is divided by the window's own (Boersma, eq. 9). Its
//     maxima are the candidates (see [correlogram]).
//  3. The smaller a frame is relative to the loudest voice, or to the 0.1 s before it,
//     the more it tends to be unvoiced (see [Pitch.reference] and [pitchPath.unvoiced]).
//  4. The cheapest path through the candidates is found twice, the second time
//     with a preference for the range that the quartiles of the first path
//     give (see [pitchPath]). Weak high candidates are dropped (see [Pitch.doubt]).
//  5. A voiced frame becomes unvoiced if its samples, in a band of 5 kHz, do not
//     correlate at the lag found. The long window blurs the ends of the voiced stretches; the
//     single period after each end corrects them (see [Pitch.check] and
//     [Pitch.edges]).
//  6. The window smooths a moving F0. [Pitch.sharpen] reverses that.
//
// Step 1 is that of the Praat manual, page "pitch analysis by filtered
// autocorrelation". The reference voice of step 3, the second pass of step 4 (C. De
// Looze and S. Rauzy, Interspeech 2009) and steps 5 and 6 are additions.
//
// A Pitch owns its scratch memory, allocates nothing after a call with the longest
// recording, and is not safe for concurrent use.
type Pitch struct {
	sr   float64
	opts PitchOptions
	low  *lowpass
	corr *correlogram
	path pitchPath

	rules  voicingRules
	d      int        // factor of the decimation of the samples that are checked,
	box    []float64  // its filter
	band   []float64  // and its output
	bounds pathBounds // of the latest path

	frames  int     // of the recording
	next    int     // frame that candidates or correct takes next
	checked int     // frames that correct has checked
	inside  bool    // whether the frame before next was voiced when it was checked
	loudest float64 // largest magnitude of the periodic frames so far
}

// NewPitch returns a Pitch for mono samples at sr Hz. It panics unless
// sr ≥ 4·Ceiling and Floor < Ceiling, all positive.
func NewPitch(sr float64, opts *PitchOptions) *Pitch {
	o := opts.withDefaults()
	if !(o.Floor > 0) || !(o.Floor < o.Ceiling) || !(sr >= 4*o.Ceiling) || math.IsInf(sr, 0) {
		panic("dsp: pitch range or sample rate out of range")
	}
	p := &Pitch{sr: sr, opts: o}
	p.rules = o.rules()
	p.d = 1
	if !o.Strict {
		p.d = max(1, int(math.Round(sr/checkRate)))
	}
	p.box = boxes(p.d)
	p.low = newLowpass(sr, o.Ceiling)
	p.corr = newCorrelogram(p.low.rate(), o)
	return p
}

// Track returns F0 in Hz, within Floor to Ceiling, of the frames of x centred on
// i·[Hop], and 0 where unvoiced. There are ⌊len(x)/(sr·Hop)⌋ + 1 frames, and none
// if x is empty. The result is written from dst[0] on, in dst's memory where that
// is large enough; dst may be nil. x is not changed.
//
// A frame at an end of x is measured from the part of its window that lies in x.
// Silence, noise, recordings shorter than two periods and frames that hold NaN or
// infinities are unvoiced.
func (p *Pitch) Track(dst, x []float64) []float64 {
	if len(x) == 0 {
		return dst[:0]
	}
	all := whole(x)
	n := p.start(&all, floats.Sum(x)/float64(len(x)))
	p.candidates(&all, n)
	dst = p.solve(dst)
	p.correct(dst, &all, n)
	p.sharpen(dst)
	return dst
}

// start begins the track of an x that is not empty and whose mean is known, and returns
// the number of its frames. Then candidates is called with ascending limits up to that
// number, solve once, correct with ascending limits again, and sharpen.
func (p *Pitch) start(x *signal, mean float64) int {
	n := int(float64(x.n)/(p.sr*Hop)+frameSlack) + 1
	p.reset(x.n, n, mean)
	p.frames = n
	return n
}

// reset forgets the recording before, and makes room for so many frames of one of so
// many samples.
func (p *Pitch) reset(samples, frames int, mean float64) {
	p.path.reset(frames)
	p.low.start(samples, mean)
	p.corr.start(p.low)
	p.next, p.checked, p.loudest, p.inside = 0, 0, 0, false
}

// candidates finds the candidates of the frames before limit.
func (p *Pitch) candidates(x *signal, limit int) {
	for ; p.next < limit; p.next++ {
		p.corr.frame(float64(p.next)*Hop, x, &p.path)
		p.refer(x, p.next)
	}
	if limit == p.frames {
		p.low.fetch(x, p.low.n)
	}
}

// solve finds the path through the candidates of all frames.
func (p *Pitch) solve(dst []float64) []float64 {
	n := p.next
	p.next = 0
	p.bounds = pathBounds{least: p.path.silence(p.reference(), p.rules.local, p.opts), local: p.rules.local, hi: math.Inf(1)}
	dst = slices.Grow(dst[:0], n)[:n]
	p.path.solve(dst, p.opts, &p.bounds)
	if lo, hi, ok := p.path.speakerRange(dst, p.opts.Floor); ok {
		p.bounds.lo, p.bounds.hi, p.bounds.below = lo, hi, p.rules.below
		p.path.solve(dst, p.opts, &p.bounds)
	}
	if !p.rules.strict {
		p.doubt(dst)
	}
	return dst
}

// correct decides again, from the samples, which frames are voiced: of those before
// limit, but for the last two if more frames follow. It returns the number of frames
// that are decided.
func (p *Pitch) correct(f0 []float64, x *signal, limit int) int {
	p.check(f0[p.checked:limit], x, p.checked)
	p.checked = limit
	for ; p.next < limit && (p.next+1 < limit || limit == len(f0)); p.next++ {
		p.edge(f0, x, p.next)
	}
	if limit == len(f0) {
		return limit
	}
	return max(p.next-1, 0)
}

// frameSlack gives a recording of a whole number of hops the frame at its end,
// although sr·Hop is rounded. Chosen: far above rounding, far below one sample.
const frameSlack = 1e-9
