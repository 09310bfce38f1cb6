package dsp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	// checkTime is the least time in seconds over which repetition is checked:
	// at 0 dB SNR the correlation is 0.5 ± 0.05 over this many samples at
	// 44.1 kHz. Chosen.
	checkTime = 0.010
	// checkThreshold is the least correlation of a voiced frame: between 0 for
	// noise and 0.5 for voice in as much white noise. Chosen in the middle.
	checkThreshold = 0.25
	// checkReach is the largest difference of the next period, as a share of the
	// period: three standard deviations of 4 % jitter.
	checkReach = 0.12
	// checkStep is the step in seconds of that search, half the width of the
	// shortest glottal pulses.
	checkStep = 0.0001
	// edgeThreshold is the least correlation of the first period of a voiced
	// stretch with the second: that of half voice, half noise. Chosen.
	edgeThreshold = 0.5
	// edgeRise is the least ratio of their energies, −20 dB; chosen.
	edgeRise = 0.01
	// edgeJump is the largest ratio of F0 in a frame added at an edge to F0 in the
	// neighbouring frame; chosen.
	edgeJump = 1.2
)

// check makes a voiced frame unvoiced if x does not repeat around its centre: if
// the normalised correlation of two stretches one period apart is below
// checkThreshold.
// first is the frame of f0[0].
func (p *Pitch) check(f0 []float64, x *signal, first int) {
	for i, f := range f0 {
		if !(f > 0) {
			continue
		}
		from, n, lag, ok := p.stretch(x.n, first+i, f)
		if !ok || !p.repeats(x, from, n, lag, checkThreshold) {
			f0[i] = 0
		}
	}
}

// reference returns the magnitude relative to which a frame is silent: the largest
// magnitude of the periodic frames. In a periodic frame the low-passed signal has an
// autocorrelation above the voicing threshold, and the unfiltered signal repeats at
// least as well as half voice, half noise. Boersma takes the largest magnitude of
// all frames, relative to which speech is silent after a touch of the microphone or
// a breath on it. Without periodic frames that is the result here too.
func (p *Pitch) reference() float64 {
	if p.loudest == 0 {
		return p.low.peak
	}
	return p.loudest
}

// refer takes frame i, the latest one, into the magnitude that reference returns.
func (p *Pitch) refer(x *signal, i int) {
	local := float64(p.path.local[i])
	if local <= p.loudest {
		return
	}
	f, r := p.path.periodic(i, p.opts)
	if r < p.opts.VoicingThreshold {
		return
	}
	if from, n, lag, ok := p.stretch(x.n, i, f); ok && p.repeats(x, from, n, lag, edgeThreshold) {
		p.loudest = local
	}
}

// stretch returns the n samples from the index from on, and the lag of a period of
// f Hz, with which [Pitch.repeats] checks the centre of frame i in a recording of
// the given number of samples. ok is false if that is too short.
func (p *Pitch) stretch(samples, i int, f float64) (from, n, lag int, ok bool) {
	lag = int(math.Round(p.sr / f))
	most := samples - lag - int(checkReach*float64(lag))
	n = min(max(lag, int(checkTime*p.sr)), most)
	if n < lag/2 {
		return 0, 0, 0, false
	}
	// at an end of x the stretches move inwards
	c := int(math.Round(float64(i) * Hop * p.sr))
	return min(max(c-(n+lag)/2, 0), most-n), n, lag, true
}

// edge sets the ends of voiced stretches, one frame after the other: the frame at t is
// voiced if the period that begins at t is. The frame before a stretch is added if the
// period after its centre is like the next period. The last frame of a stretch is
// removed if the period after its centre is unlike the period before. Frame i and the
// next one must have been checked.
func (p *Pitch) edge(f0 []float64, x *signal, i int) {
	if !(f0[i] > 0) {
		p.inside = false
		return
	}
	if !p.inside && i > 0 {
		f0[i-1] = p.onset(x, i-1, f0[i])
	}
	p.inside = i+1 < len(f0) && f0[i+1] > 0
	if p.inside {
		return
	}
	t := int(math.Round(float64(i) * Hop * p.sr))
	lag := int(math.Round(p.sr / f0[i]))
	reach := int(checkReach * float64(lag))
	if t >= lag && t+lag+reach <= x.n && !p.repeats(x, t-lag, lag, lag, checkThreshold) {
		f0[i] = 0
	}
}

// onset returns the F0 of frame i if the voice begins there, and 0 otherwise. next
// is the F0 of the following, voiced frame.
func (p *Pitch) onset(x *signal, i int, next float64) float64 {
	var f float64
	for _, c := range p.path.frame(i) {
		if f == 0 || math.Abs(math.Log(c.f/next)) < math.Abs(math.Log(f/next)) {
			f = c.f
		}
	}
	if f == 0 || max(f, next) > edgeJump*min(f, next) {
		return 0
	}
	t := int(math.Round(float64(i) * Hop * p.sr))
	lag := int(math.Round(p.sr / f))
	reach := int(checkReach * float64(lag))
	if t+2*lag+reach > x.n || !p.repeats(x, t, lag, lag, edgeThreshold) {
		return 0
	}
	y := x.part(t, t+2*lag)
	mean := floats.Sum(y) / float64(2*lag)
	if energy(y[:lag], mean) < edgeRise*energy(y[lag:], mean) {
		return 0
	}
	return f
}

// repeats reports whether the n samples of x from the index from on and those lag
// later, less the mean of both, have a normalised correlation of at least the
// threshold at a lag within checkReach of the given one. Jitter can move a short
// pulse of the next period wholly off its place in the mean period.
func (p *Pitch) repeats(x *signal, from, n, lag int, threshold float64) bool {
	y := x.part(from, from+n+lag+int(checkReach*float64(lag)))
	mean := floats.Sum(y[:lag+n]) / float64(lag+n)
	a := y[:n]
	sa, m := floats.Sum(a), float64(n)*mean*mean
	aa := energy(a, mean)
	try := func(lag int) bool {
		b := y[lag : lag+n]
		ab := floats.Dot(a, b) - mean*(sa+floats.Sum(b)) + m
		return ab > 0 && ab >= threshold*math.Sqrt(aa*energy(b, mean))
	}
	// outwards from the lag, in steps shorter than a glottal pulse
	step := max(1, int(checkStep*p.sr))
	for d := 0; d <= int(checkReach*float64(lag)); d += step {
		if try(lag-d) || (d > 0 && try(lag+d)) {
			return true
		}
	}
	return false
}

// energy is the sum of squares of a less mean.
func energy(a []float64, mean float64) float64 {
	return floats.Dot(a, a) - 2*mean*floats.Sum(a) + float64(len(a))*mean*mean
}
