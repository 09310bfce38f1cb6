package dsp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// voicingRules are the thresholds of the voicing decision that the options leave open.
type voicingRules struct {
	silence, voicing float64 // defaults of the options of these names

	local  float64 // see pathBounds
	below  float64 // likewise
	check  float64 // least correlation of a voiced frame
	rise   float64 // least ratio of the energies at the beginning of a stretch; see Pitch.begins
	strict bool    // no frame is doubtful, nor is the first one of a stretch removed
}

// usualRules were chosen on synthetic speakers (signals.Speaker, seeds 100 to 115), with
// at most one frame of the resynthesised voices in another octave. The silence threshold
// is −34 dB, that beside a vowel −21 dB, and the rise −10 dB.
// strictRules are those of [PitchOptions.Strict].
var (
	usualRules  = voicingRules{silence: 0.02, voicing: 0.70, local: 0.09, below: 0.08, check: 0.30, rise: 0.10}
	strictRules = voicingRules{silence: 0.09, voicing: 0.75, below: rangeCost, check: 0.25, rise: 0.01, strict: true}
)

// rules returns the rules of the options.
func (o *PitchOptions) rules() voicingRules {
	if o.Strict {
		return strictRules
	}
	return usualRules
}

const (
	// checkRate is the rate in Hz aimed at for the samples in which repetition is
	// checked. Above 5 kHz a voice is mostly noise, and white noise up there hides
	// the voice: at 0 dB SNR the unfiltered samples miss 15 % of the voiced frames
	// that these find. Chosen.
	checkRate = 11025.0
	// checkTime is the least time in seconds over which repetition is checked: the
	// correlation of noise has a standard deviation of 0.1 over it. Chosen.
	checkTime = 0.010
	// doubtFrom and doubtTo, in Hz, are where the least autocorrelation of a candidate
	// begins to rise, from doubtLeast, and where it reaches the voicing threshold. The
	// window holds 7 periods of the first and 14 of the second. Chosen.
	doubtFrom, doubtTo = 120.0, 240.0
	doubtLeast         = 0.40
	// doubtMost is how many frames noise can make doubtful within a voice: those that
	// share most of a window of 60 ms. Chosen.
	doubtMost = 5
	// checkReach is the largest difference of the next period, as a share of the
	// period: three standard deviations of 4 % jitter.
	checkReach = 0.12
	// checkStep is the step in seconds of that search, half the width of the
	// shortest glottal pulses.
	checkStep = 0.0001
	// edgeThreshold is the least correlation of the first period of a voiced
	// stretch with the second: that of half voice, half noise. Chosen.
	edgeThreshold = 0.5
	// riseTime is the least time in seconds over which the energies are compared at
	// the beginning of a stretch: a voice reaches its level in 10 to 20 ms. Chosen.
	riseTime = 0.010
	// edgeJump is the largest ratio of F0 in a frame added at an edge to F0 in the
	// neighbouring frame, and of F0 before and after doubtful frames; chosen.
	edgeJump = 1.2
)

// check makes a voiced frame unvoiced if x does not repeat around its centre: if
// the normalised correlation of two stretches one period apart is below the threshold.
// first is the frame of f0[0].
func (p *Pitch) check(f0 []float64, x *signal, first int) {
	for i, f := range f0 {
		if !(f > 0) {
			continue
		}
		from, n, lag, ok := p.stretch(x.n, first+i, f)
		if !ok || !p.repeats(x, from, n, lag, p.rules.check) {
			f0[i] = 0
		}
	}
}

// doubt makes doubtful frames unvoiced, but for doubtMost and fewer between two frames
// of nearly equal F0 that are not.
func (p *Pitch) doubt(f0 []float64) {
	for i := 0; i < len(f0); i++ {
		if !p.doubtful(i, f0[i]) {
			continue
		}
		end := i + 1
		for end < len(f0) && p.doubtful(end, f0[end]) {
			end++
		}
		before, after := 0.0, 0.0
		if i > 0 && end < len(f0) && end-i <= doubtMost {
			before, after = f0[i-1], f0[end]
		}
		if lo, hi := min(before, after), max(before, after); lo == 0 || hi > edgeJump*lo {
			clear(f0[i:end])
		}
		i = end
	}
}

// doubtful reports whether the autocorrelation of the candidate of f Hz of frame i is too
// low for so high a voice. In low, irregular voice, whose own period is no maximum, a
// harmonic or a formant has such a maximum.
func (p *Pitch) doubtful(i int, f float64) bool {
	if !(f > doubtFrom) {
		return false
	}
	w := min(math.Log2(f/doubtFrom)/math.Log2(doubtTo/doubtFrom), 1)
	return p.path.strength(i, f, p.opts) < doubtLeast+w*(p.opts.VoicingThreshold-doubtLeast)
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
	local := float64(p.path.magnitude(i))
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
// period after its centre is like the next period. The first and the last frame of a
// stretch are removed if the period after their centre is unlike the period after or
// before. Frame i and the next one must have been checked.
func (p *Pitch) edge(f0 []float64, x *signal, i int) {
	if !(f0[i] > 0) {
		p.inside = false
		return
	}
	if !p.inside && i > 0 {
		if !p.rules.strict && !p.begins(x, i, f0[i], p.rules.check) {
			f0[i] = 0
			return
		}
		f0[i-1] = p.onset(x, i-1, f0[i])
	}
	p.inside = i+1 < len(f0) && f0[i+1] > 0
	if p.inside {
		return
	}
	t := int(math.Round(float64(i) * Hop * p.sr))
	lag := int(math.Round(p.sr / f0[i]))
	reach := int(checkReach * float64(lag))
	if t >= lag && t+lag+reach <= x.n && !p.repeats(x, t-lag, lag, lag, p.rules.check) {
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
	if f == 0 || max(f, next) > edgeJump*min(f, next) || !p.begins(x, i, f, edgeThreshold) {
		return 0
	}
	return f
}

// begins reports whether the period of f Hz after the centre of frame i is like the next
// one, by the threshold, and whether the voice does not begin only after it: whether
// the energy rises by no more than the rules have it.
func (p *Pitch) begins(x *signal, i int, f, threshold float64) bool {
	t := int(math.Round(float64(i) * Hop * p.sr))
	lag := int(math.Round(p.sr / f))
	reach := int(checkReach * float64(lag))
	if t+2*lag+reach > x.n || !p.repeats(x, t, lag, lag, threshold) {
		return false
	}
	n := lag
	if !p.rules.strict {
		n = max(lag, min(int(riseTime*p.sr), (x.n-t)/2))
	}
	y := x.part(t, t+2*n)
	mean := floats.Sum(y) / float64(2*n)
	before, after := y[:n], y[n:]
	return energy(before, floats.Sum(before), mean) >= p.rules.rise*energy(after, floats.Sum(after), mean)
}

// repeats reports whether the n samples of x from the index from on and those lag
// later, less the mean of both, have a normalised correlation of at least the
// threshold at a lag within checkReach of the given one. Jitter can move a short
// pulse of the next period wholly off its place in the mean period. Both are decimated
// to about checkRate first.
func (p *Pitch) repeats(x *signal, from, n, lag int, threshold float64) bool {
	all := x.part(from, from+n+lag+int(checkReach*float64(lag)))
	y := p.decimate(all)
	period := float64(lag) / float64(p.d)
	lag = int(math.Round(period))
	reach := int(checkReach * period)
	n = min(n/p.d, len(y)-lag-reach)
	if n < 1 {
		return false
	}
	mean := floats.Sum(y[:lag+n]) / float64(lag+n)
	a := y[:n]
	sa, nm := floats.Sum(a), float64(n)*mean*mean
	aa := energy(a, sa, mean)
	try := func(lag int) bool {
		b := y[lag : lag+n]
		sb := floats.Sum(b)
		ab := floats.Dot(a, b) - mean*(sa+sb) + nm
		return ab > 0 && ab >= threshold*math.Sqrt(aa*energy(b, sb, mean))
	}
	// outwards from the lag, in steps shorter than a glottal pulse
	step := max(1, int(checkStep*p.sr/float64(p.d)))
	for d := 0; d <= reach; d += step {
		if try(lag-d) || (d > 0 && try(lag+d)) {
			return true
		}
	}
	return false
}

// decimate returns x at about checkRate, without the samples at its ends of which the
// filter knows only a part.
func (p *Pitch) decimate(x []float64) []float64 {
	if p.d == 1 || len(x) < len(p.box) {
		return x[:len(x)/p.d]
	}
	n := (len(x)-len(p.box))/p.d + 1
	p.band = sized(p.band, n)
	reduce(p.band, x[:(n-1)*p.d+len(p.box)], p.box, p.d, 0, hasAVX)
	return p.band
}

// energy is the sum of squares of a less mean, where sum is that of a.
func energy(a []float64, sum, mean float64) float64 {
	return floats.Dot(a, a) - 2*mean*sum + float64(len(a))*mean*mean
}
