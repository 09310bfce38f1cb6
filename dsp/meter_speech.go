package dsp

import "math"

const (
	// levelBins is the number of bins for a dB of level; chosen.
	levelBins = 10
	// levelMoves is by how many dB the speech level or the noise floor may move before
	// what was counted is counted again; chosen, far below the range of the thresholds.
	levelMoves = 0.25
	// loudnessGrows is by which factor the magnitude of the voice may grow before its
	// threshold is applied again to what came before; chosen.
	loudnessGrows = 1.05
	// settledGap is how many frames of a pause separate what is settled from what may
	// still change, twice what is closed.
	settledGap = 2 * shortPause
)

// A speechMeter counts speech while a recording goes on. At any time the count is about
// that of [activity.detect] for the frames so far. Stretches before a pause are counted
// once, and again only if the levels move.
type speechMeter struct {
	voiced, away  levelCount // of the frames with voice and of those away from it
	nv, na        int        // frames that were counted
	loudest       float64    // magnitude of the voice when frames were counted first
	view          activity   // of the frames from the settled ones on
	out           Analysis   // what it detects
	settled       float64    // s of speech before them
	from          int        // the first of them
	speech, floor float64    // levels for which settled holds
}

func newSpeechMeter() speechMeter {
	return speechMeter{voiced: newLevelCount(), away: newLevelCount(), speech: math.NaN()}
}

// add counts the levels of the frames that are final.
func (s *speechMeter) add(p *runningPitch, level []float64) {
	if p.p.loudest > loudnessGrows*s.loudest {
		s.loudest = p.p.loudest
		p.silence()
		s.voiced.clear()
		s.away.clear()
		s.nv, s.na, s.speech = 0, 0, math.NaN()
	}
	n := p.final()
	for ; s.nv < n; s.nv++ {
		if p.f0[s.nv] > 0 {
			s.voiced.add(level[s.nv])
		}
	}
	for ; s.na+noiseGuard < n; s.na++ {
		if !anyVoiced(p.f0[max(s.na-noiseGuard, 0) : s.na+noiseGuard+1]) {
			s.away.add(level[s.na])
		}
	}
}

func anyVoiced(f0 []float64) bool {
	for _, f := range f0 {
		if f > 0 {
			return true
		}
	}
	return false
}

// voice is the speech level in dBFS, NaN without voice.
func (s *speechMeter) voice() float64 { return s.voiced.rank(speechTop, voicedRun) }

// noise is the noise floor in dBFS, NaN if too few frames are away from voices.
func (s *speechMeter) noise() float64 { return s.away.rank(noiseBottom, leastNoise) }

// seconds is the time in speech of the frames with the track f0.
func (s *speechMeter) seconds(f0 []float64, all *activity) float64 {
	speech, floor := s.voice(), s.noise()
	if math.IsNaN(speech) {
		return 0
	}
	if math.IsNaN(floor) {
		floor = silence
	}
	if !(math.Abs(speech-s.speech) <= levelMoves && math.Abs(floor-s.floor) <= levelMoves) {
		s.speech, s.floor, s.settled, s.from = speech, floor, 0, 0
	}
	v, out := &s.view, &s.out
	v.level, v.speech, v.noise = all.level[s.from:len(f0)], s.speech, s.floor
	v.state = filled(v.state, len(v.level), false)
	out.F0 = f0[s.from:]
	out.IsSpeech = filled(out.IsSpeech, len(v.level), false)
	out.reset()
	v.mark(out.F0)
	v.segments(out, float64(len(v.level))*Hop, true)
	total := s.settled + out.SpeechDuration()
	s.settle()
	return total
}

// settle counts the stretches before the latest pause for good.
func (s *speechMeter) settle() {
	gap := 0
	for i := len(s.view.state) - 1; i >= 0; i-- {
		if gap++; s.view.state[i] {
			gap = 0
		}
		if gap < settledGap {
			continue
		}
		middle := i + settledGap/2
		for _, p := range s.out.Speech {
			if p.End <= float64(middle)*Hop {
				s.settled += p.Duration()
			}
		}
		s.from += middle
		return
	}
}

// A levelCount counts frames by their level.
type levelCount struct {
	n    int
	bins []int // from silence on
}

func newLevelCount() levelCount {
	most := level(maxSample * maxSample)
	return levelCount{bins: make([]int, int((most-silence)*levelBins)+2)}
}

func (c *levelCount) clear() {
	c.n = 0
	clear(c.bins)
}

func (c *levelCount) add(l float64) {
	c.bins[min(int((l-silence)*levelBins+0.5), len(c.bins)-1)]++
	c.n++
}

// rank is [nearestRank] of the levels, rounded, and NaN of fewer than least.
func (c *levelCount) rank(p float64, least int) float64 {
	if c.n < least {
		return math.NaN()
	}
	rank, b := int(p*float64(c.n-1)+0.5), 0
	for below := c.bins[0]; below <= rank; below += c.bins[b] {
		b++
	}
	return (silence*levelBins + float64(b)) / levelBins
}
