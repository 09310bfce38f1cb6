package dsp

import (
	"math"
	"slices"
)

const (
	// silentStrength is the strength of the unvoiced candidate of a frame without
	// a measurement. It is above every voiced one, as in silence (Boersma, eq. 23).
	silentStrength = 2.5
	// pathStep scales the transition costs, which hold for 0.01 s.
	pathStep = 0.01 / Hop
	// rangeLow and rangeHigh give the speaker's range from the quartiles of
	// F0 (C. De Looze and S. Rauzy, "Automatic detection and prediction of
	// topic changes through automatic detection of register variations and
	// pause duration", Interspeech 2009).
	rangeLow, rangeHigh = 0.75, 1.5
	// rangeCost is the cost of a candidate per octave above the speaker's range.
	// A limit instead would cut a wide glide. Chosen.
	rangeCost = 0.25
	// rangeFrames is the least number of voiced frames for quartiles; chosen, a
	// fifth of a second.
	rangeFrames = 20
)

// A pitchCandidate is one voiced candidate of a frame.
type pitchCandidate struct {
	f        float64 // Hz
	octave   float32 // log2 of f over the floor
	strength float32
}

// A pitchPath holds the candidates of all frames and finds the path through
// them that maximises the sum of the strengths less the transition costs
// (Boersma 1993, eq. 27), by Viterbi's algorithm.
type pitchPath struct {
	candidates []pitchCandidate
	base       int       // frames that were dropped; those below are the ones after them
	first      []int32   // of each frame, the index of its first candidate
	local      []float32 // of each frame, its largest magnitude; negative if it was not measured
	back       []uint8   // of each candidate, the unvoiced ones included, the best predecessor: 0 unvoiced, k+1 candidate k
	quartile   []float64
}

// usualCandidates is the number of candidates per frame for which memory is
// allocated first: speech has about two. Growing step by step would leave as much
// garbage again.
const usualCandidates = 3

// reset removes all frames and makes room for n.
func (p *pitchPath) reset(n int) {
	p.base = 0
	p.candidates = emptied(p.candidates, usualCandidates*n)
	p.first = emptied(p.first, n)
	p.local = emptied(p.local, n)
	p.quartile = emptied(p.quartile, n)
}

// begin starts the next frame, without candidates and unvoiced.
func (p *pitchPath) begin() {
	p.first = append(p.first, int32(len(p.candidates)))
	p.local = append(p.local, -1)
}

// measured sets the largest magnitude of the latest frame.
func (p *pitchPath) measured(local float64) { p.local[len(p.local)-1] = float32(local) }

// magnitude is the largest magnitude of frame i; negative if it was not measured.
func (p *pitchPath) magnitude(i int) float32 { return p.local[i-p.base] }

const (
	// silenceReach is the number of frames before a frame beside which it is silent,
	// 0.1 s. Chosen: a room with a reverberation time of 0.3 s falls by 20 dB meanwhile.
	silenceReach = 10
	// humPercentile is the percentile of the magnitudes that is the level of pauses, and
	// humShare the share of it below which a frame is silent, +3.5 dB, so that the hum
	// of the mains in pauses is no voice. Chosen.
	humPercentile, humShare = 10, 1.5
)

// pathBounds are the magnitudes and the range that the strengths of the states depend on.
type pathBounds struct {
	least  float64 // magnitude of silence
	local  float64 // the same beside one of the silenceReach frames before, as a share of its magnitude; 0 for none
	lo, hi float64 // the speaker's range in octaves above the floor
	below  float64 // cost of a candidate per octave below it
}

// silence returns the magnitude below which a frame tends to be unvoiced, where peak is
// the largest magnitude of voice: the silence threshold, or a little more than the
// pauses have, but no more than the share local of peak.
func (p *pitchPath) silence(peak, local float64, o PitchOptions) float64 {
	least := peak * o.SilenceThreshold
	if local > 0 {
		least = max(least, min(humShare*p.faint(), local*peak))
	}
	return least
}

// unvoiced is the strength of the unvoiced candidate of frame i (Boersma, eq. 23). A frame
// that is much fainter than one shortly before tends to be unvoiced, too: that is the
// ringing of the vocal tract or of the room.
func (p *pitchPath) unvoiced(i int, b *pathBounds, o *PitchOptions) float32 {
	at := p.magnitude(i)
	if at < 0 {
		return silentStrength
	}
	least := b.least
	if b.local > 0 {
		for _, before := range p.local[max(0, i-p.base-silenceReach) : i-p.base] {
			least = max(least, b.local*float64(before))
		}
	}
	quiet := 2 - float64(at)*(1+o.VoicingThreshold)/least
	return float32(o.VoicingThreshold + max(0, quiet))
}

// faint returns the magnitude of the frames in pauses, 0 without measured frames.
func (p *pitchPath) faint() float64 {
	x := p.quartile[:0] // scratch
	for _, at := range p.local {
		if at >= 0 {
			x = append(x, float64(at))
		}
	}
	p.quartile = x
	if len(x) == 0 {
		return 0
	}
	slices.Sort(x)
	return PercentileSorted(x, humPercentile)
}

// periodic returns the candidate of frame i with the largest autocorrelation, and
// that autocorrelation; both are 0 for a frame without candidates.
func (p *pitchPath) periodic(i int, o PitchOptions) (f, r float64) {
	for _, c := range p.frame(i) {
		if v := float64(c.strength) - o.OctaveCost*float64(c.octave); v > r {
			f, r = c.f, v
		}
	}
	return f, r
}

// candidate adds a candidate to the latest frame. It replaces the weakest if there
// are maxCandidates already.
func (p *pitchPath) candidate(f, octave, strength float64) {
	c := pitchCandidate{f, float32(octave), float32(strength)}
	frame := p.candidates[p.first[len(p.first)-1]:]
	if len(frame) < maxCandidates {
		p.candidates = append(p.candidates, c)
		return
	}
	weakest := 0
	for i, v := range frame {
		if v.strength < frame[weakest].strength {
			weakest = i
		}
	}
	if c.strength > frame[weakest].strength {
		frame[weakest] = c
	}
}

// frame returns the candidates of frame i.
func (p *pitchPath) frame(i int) []pitchCandidate {
	i -= p.base
	if i+1 < len(p.first) {
		return p.candidates[p.first[i]:p.first[i+1]]
	}
	return p.candidates[p.first[i]:]
}

// A pathScores has the scores of the states of one frame, relative to the best: of
// unvoiced, and of each candidate.
type pathScores [maxCandidates + 1]float32

// best is the state with the highest score in a frame with so many candidates.
func (s *pathScores) best(candidates int) int {
	state := 0
	for k := range candidates {
		if s[k+1] > s[state] {
			state = k + 1
		}
	}
	return state
}

// states is the index in back of the unvoiced candidate of frame i.
func (p *pitchPath) states(i int) int { return int(p.first[i-p.base]) + i - p.base }

// step finds the scores of the states of frame i from those of the frame before, and the
// best predecessor of each.
func (p *pitchPath) step(i int, score, next *pathScores, o *PitchOptions, b *pathBounds) {
	jump, change := float32(o.OctaveJumpCost*pathStep), float32(o.VoicedUnvoicedCost*pathStep)
	var before []pitchCandidate
	if i > p.base {
		before = p.frame(i - 1)
	}
	now := p.frame(i)
	back := p.back[p.states(i):]
	best, from := score[0], 0
	for k := range before {
		if v := score[k+1] - change; v > best {
			best, from = v, k+1
		}
	}
	next[0], back[0] = best+p.unvoiced(i, b, o), uint8(from)
	for j := range now {
		c := &now[j]
		best, from := score[0]-change, 0
		if i == 0 {
			best = 0 // no transition leads to the first frame
		}
		for k := range before {
			d := before[k].octave - c.octave
			if d < 0 {
				d = -d
			}
			if v := score[k+1] - jump*d; v > best {
				best, from = v, k+1
			}
		}
		out := max(0, float32(b.below)*(float32(b.lo)-c.octave), rangeCost*(c.octave-float32(b.hi)))
		next[j+1], back[j+1] = best+c.strength-out, uint8(from)
	}
	top := next[0]
	for _, v := range next[1 : len(now)+1] {
		top = max(top, v)
	}
	for j := range now {
		next[j+1] -= top
	}
	next[0] -= top
}

// walk follows the best predecessors from a state of frame from back to frame to, and
// writes the F0 of the frames to … from to dst.
func (p *pitchPath) walk(dst []float64, from, to, state int) {
	for i := from; i >= to; i-- {
		dst[i-to] = 0
		if state > 0 {
			dst[i-to] = p.frame(i)[state-1].f
		}
		state = int(p.back[p.states(i)+state])
	}
}

// strength returns the autocorrelation of the candidate of f Hz of frame i.
func (p *pitchPath) strength(i int, f float64, o PitchOptions) float64 {
	for _, c := range p.frame(i) {
		if c.f == f {
			return float64(c.strength) - o.OctaveCost*float64(c.octave)
		}
	}
	return 0
}

// solve writes the F0 of the best path to dst.
func (p *pitchPath) solve(dst []float64, o PitchOptions, bounds *pathBounds) {
	n := len(p.first)
	p.back = sized(p.back, len(p.candidates)+n)
	var a, b pathScores
	score, next := &a, &b
	for i := range n {
		p.step(i, score, next, &o, bounds)
		score, next = next, score
	}
	if n > 0 {
		p.walk(dst, n-1, 0, score.best(len(p.frame(n-1))))
	}
}

// drop forgets the first k frames that are kept.
func (p *pitchPath) drop(k int) {
	c := p.first[k]
	p.candidates = p.candidates[:copy(p.candidates, p.candidates[c:])]
	p.back = p.back[:copy(p.back, p.back[int(c)+k:])]
	p.first = p.first[:copy(p.first, p.first[k:])]
	for i := range p.first {
		p.first[i] -= c
	}
	p.local = p.local[:copy(p.local, p.local[k:])]
	p.base += k
}

// speakerRange returns the speaker's range in octaves above floor, from the
// quartiles of the voiced frames of f0. ok is false with fewer than rangeFrames.
func (p *pitchPath) speakerRange(f0 []float64, floor float64) (lo, hi float64, ok bool) {
	p.quartile = p.quartile[:0]
	for _, f := range f0 {
		if f > 0 {
			p.quartile = append(p.quartile, f)
		}
	}
	n := len(p.quartile)
	if n < rangeFrames {
		return 0, 0, false
	}
	slices.Sort(p.quartile)
	q1, q3 := p.quartile[n/4], p.quartile[3*n/4]
	return math.Log2(rangeLow * q1 / floor), math.Log2(rangeHigh * q3 / floor), true
}
