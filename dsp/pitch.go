package dsp

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// PitchOptions are the settings of a [Pitch]. A nil *PitchOptions and zero
// fields mean the defaults, which are those of the filtered autocorrelation
// method as published with its range of 50 to 800 Hz.
type PitchOptions struct {
	Floor              float64 // Hz, lowest F0; default 50
	Ceiling            float64 // Hz, highest F0; default 800
	SilenceThreshold   float64 // share of the largest magnitude below which a frame tends to be unvoiced; default 0.09
	VoicingThreshold   float64 // strength of the unvoiced candidate; default 0.50
	OctaveCost         float64 // preference for higher candidates per octave; default 0.055
	OctaveJumpCost     float64 // cost of moving by an octave in 0.01 s; default 0.35
	VoicedUnvoicedCost float64 // cost of a change of voicing in 0.01 s; default 0.14
}

// withDefaults returns the settings with the defaults filled in.
func (o *PitchOptions) withDefaults() PitchOptions {
	var p PitchOptions
	if o != nil {
		p = *o
	}
	for _, f := range []struct {
		v *float64
		d float64
	}{
		{&p.Floor, 50}, {&p.Ceiling, 800}, {&p.SilenceThreshold, 0.09}, {&p.VoicingThreshold, 0.50},
		{&p.OctaveCost, 0.055}, {&p.OctaveJumpCost, 0.35}, {&p.VoicedUnvoicedCost, 0.14},
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
//  3. The cheapest path through the candidates is found twice, the second time
//     with a preference for the range that the quartiles of the first path
//     give (see [pitchPath]).
//  4. A voiced frame whose unfiltered samples do not correlate at the lag found
//     is made unvoiced (see [Pitch.repeats]).
//
// A Pitch owns its scratch memory, allocates nothing once it has seen the
// longest recording, and is not safe for concurrent use.
type Pitch struct {
	sr   float64
	opts PitchOptions
	low  *lowpass
	corr *correlogram
	path pitchPath
}

// NewPitch returns a Pitch for mono samples at sr Hz. It panics unless
// sr ≥ 4·Ceiling and Floor < Ceiling, all positive.
func NewPitch(sr float64, opts *PitchOptions) *Pitch {
	o := opts.withDefaults()
	if !(o.Floor > 0) || !(o.Floor < o.Ceiling) || !(sr >= 4*o.Ceiling) || math.IsInf(sr, 0) {
		panic("dsp: pitch range or sample rate out of range")
	}
	p := &Pitch{sr: sr, opts: o}
	p.low = newLowpass(sr, o.Ceiling)
	p.corr = newCorrelogram(p.low.rate(), o)
	return p
}

// Track returns F0 in Hz of the frames centred on i·[Hop] of x, 0 where
// unvoiced: floor(len(x)/(sr·Hop)) + 1 frames, none if x is empty. The result
// is appended to dst[:0], so that dst's memory is used where it suffices; dst
// may be nil. x is not changed.
//
// A frame at an end of x is measured from the half of its window that lies in
// x. Silence, noise and recordings shorter than two periods are unvoiced, as
// are frames that hold NaN or infinities.
func (p *Pitch) Track(dst, x []float64) []float64 {
	dst = dst[:0]
	if len(x) == 0 {
		return dst
	}
	n := int(float64(len(x))/(p.sr*Hop)+frameSlack) + 1
	mean := floats.Sum(x) / float64(len(x))
	y := p.low.filter(x, mean)
	p.path.reset()
	p.corr.start(y, p.low.offset/float64(p.low.d1*p.low.d2))
	for i := range n {
		p.corr.frame(float64(i)*Hop, &p.path)
	}
	dst = slices.Grow(dst, n)[:n]
	p.path.solve(dst, p.opts, 0, math.Inf(1))
	if lo, hi, ok := p.path.speakerRange(dst, p.opts.Floor); ok {
		p.path.solve(dst, p.opts, lo, hi)
	}
	for i, f0 := range dst {
		if f0 > 0 && !p.repeats(x, mean, float64(i)*Hop, f0) {
			dst[i] = 0
		}
	}
	return dst
}

const (
	// frameSlack makes a recording of a whole number of hops give the frame at
	// its end although sr·Hop rounds; chosen, far above rounding and far below
	// one sample.
	frameSlack = 1e-9
	// checkTime is the least time in seconds over which repetition is checked:
	// at 0 dB SNR the correlation is 0.5 ± 0.05 over this many samples at
	// 44.1 kHz. Chosen.
	checkTime = 0.010
	// checkThreshold is the least correlation of a voiced frame: between 0 for
	// noise and 0.5 for voice in as much white noise. Chosen in the middle.
	checkThreshold = 0.25
	// checkReach is how far, as a share of the period, the next one may lie off
	// it: three standard deviations of 4 % jitter.
	checkReach = 0.12
	// checkStep is the step in seconds of that search, half the width of the
	// shortest glottal pulses.
	checkStep = 0.0001
)

// repeats tells whether the unfiltered x, less mean, round the time t in
// seconds repeats after one period of f0 Hz: whether the normalised
// correlation of two stretches that lie one period apart, evenly round t, is
// at least checkThreshold. As jitter moves the next period of a voice with
// short pulses wholly off the mean one, the periods within checkReach of it
// are also tried. At an end of x the stretches move inwards.
func (p *Pitch) repeats(x []float64, mean, t, f0 float64) bool {
	lag := int(math.Round(p.sr / f0))
	reach := int(checkReach * float64(lag))
	n := max(lag, int(checkTime*p.sr))
	n = min(n, len(x)-lag-reach)
	if n < lag/2 {
		return false
	}
	from := min(max(int(math.Round(t*p.sr))-(n+lag)/2, 0), len(x)-lag-reach-n)
	a := x[from : from+n]
	sa, m := floats.Sum(a), float64(n)*mean*mean
	aa := floats.Dot(a, a) - 2*mean*sa + m
	try := func(lag int) bool {
		b := x[from+lag : from+lag+n]
		sb := floats.Sum(b)
		ab := floats.Dot(a, b) - mean*(sa+sb) + m
		bb := floats.Dot(b, b) - 2*mean*sb + m
		return ab > 0 && ab >= checkThreshold*math.Sqrt(aa*bb)
	}
	// outwards from the lag itself, in steps that a glottal pulse does not slip through
	step := max(1, int(checkStep*p.sr))
	for d := 0; d <= reach; d += step {
		if try(lag-d) || (d > 0 && try(lag+d)) {
			return true
		}
	}
	return false
}
