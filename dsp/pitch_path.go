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
	// rangeCost is the cost of a candidate per octave outside the speaker's range.
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
	first      []int     // of each frame, the index of its first candidate
	unvoiced   []float32 // of each frame, the strength of the unvoiced candidate
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
	p.candidates = emptied(p.candidates, usualCandidates*n)
	p.first = emptied(p.first, n)
	p.unvoiced = emptied(p.unvoiced, n)
	p.local = emptied(p.local, n)
	p.quartile = emptied(p.quartile, n)
}

// begin starts the next frame, without candidates and unvoiced.
func (p *pitchPath) begin() {
	p.first = append(p.first, len(p.candidates))
	p.unvoiced = append(p.unvoiced, silentStrength)
	p.local = append(p.local, -1)
}

// measured sets the largest magnitude of the latest frame.
func (p *pitchPath) measured(local float64) { p.local[len(p.local)-1] = float32(local) }

// silence sets the strength of the unvoiced candidates of the measured frames
// (Boersma, eq. 23), where peak is the largest magnitude of all.
func (p *pitchPath) silence(peak float64, o PitchOptions) {
	for i, local := range p.local {
		if local >= 0 {
			quiet := 2 - float64(local)/peak*(1+o.VoicingThreshold)/o.SilenceThreshold
			p.unvoiced[i] = float32(o.VoicingThreshold + max(0, quiet))
		}
	}
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
	if i+1 < len(p.first) {
		return p.candidates[p.first[i]:p.first[i+1]]
	}
	return p.candidates[p.first[i]:]
}

// solve writes the F0 of the best path to dst. lo and hi are the speaker's
// range in octaves above the floor.
func (p *pitchPath) solve(dst []float64, o PitchOptions, lo, hi float64) {
	n := len(p.first)
	p.back = sized(p.back, len(p.candidates)+n)
	jump, change := float32(o.OctaveJumpCost*pathStep), float32(o.VoicedUnvoicedCost*pathStep)
	var a, b [maxCandidates + 1]float32 // scores, relative to the best of the frame before
	score, next := &a, &b
	var before []pitchCandidate
	score[0] = 0
	for i := range n {
		now := p.frame(i)
		back := p.back[p.first[i]+i:]
		best, from := score[0], 0
		for k := range before {
			if v := score[k+1] - change; v > best {
				best, from = v, k+1
			}
		}
		next[0], back[0] = best+p.unvoiced[i], uint8(from)
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
			out := max(0, float32(lo)-c.octave, c.octave-float32(hi))
			next[j+1], back[j+1] = best+c.strength-rangeCost*out, uint8(from)
		}
		top := next[0]
		for _, v := range next[1 : len(now)+1] {
			top = max(top, v)
		}
		for j := range now {
			next[j+1] -= top
		}
		next[0] -= top
		before = now
		score, next = next, score
	}
	state := 0
	for k := range before {
		if score[k+1] > score[state] {
			state = k + 1
		}
	}
	for i := n - 1; i >= 0; i-- {
		dst[i] = 0
		if state > 0 {
			dst[i] = p.frame(i)[state-1].f
		}
		state = int(p.back[p.first[i]+i+state])
	}
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
