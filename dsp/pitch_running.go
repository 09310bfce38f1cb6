package dsp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	// endless is the number of samples of a signal whose end is not known yet.
	endless = 1 << 40
	// pathLag is how many frames later the path is followed back: 30 ms. Chosen: the
	// latest that leaves the track less than 0.1 s behind.
	pathLag = 3
	// pathKept is how many frames of candidates are kept at most. Chosen: several times
	// what is read again.
	pathKept = 64
	// rangeStep is how many frames pass between estimates of the speaker's range; chosen.
	rangeStep = 10
	// octaveBins is the number of bins for an octave of F0; chosen, a quarter of a semitone.
	octaveBins = 48
)

// A runningPitch tracks F0 while a recording goes on, with the candidates, the path and the
// checks of its Pitch. What depends on all frames there depends on those so far here: the
// magnitudes of the voice and of the pauses, and the speaker's range. The path is followed
// back from pathLag frames later, and the contour is not sharpened.
type runningPitch struct {
	p             *Pitch
	f0            []float64  // Hz, of each frame that the path has reached
	decided       int        // frames of f0 that are checked; the doubtful ones after them may be cleared
	last          float64    // Hz, of the path in the latest of these, 0 if it was doubtful
	local         []float32  // of f0's frames, as in pitchPath
	magnitudes    levelCount // of all measured frames
	next          int        // frame whose candidates are next
	score, before *pathScores
	octaves       []int // voiced frames by their octave over the floor
	voiced        int   // their number
	ranged        int   // frames of f0 that are among them
	lo, hi        float64
}

func newRunningPitch(sr float64) *runningPitch {
	r := &runningPitch{p: NewPitch(sr, nil), magnitudes: newLevelCount(), score: new(pathScores), before: new(pathScores), hi: math.Inf(1)}
	r.p.low.exact = true
	r.octaves = make([]int, int(math.Ceil(octaveBins*math.Log2(r.p.opts.Ceiling/r.p.opts.Floor)))+1)
	return r
}

// final is the number of frames of f0 that do not change any more, but by silence.
func (r *runningPitch) final() int { return max(r.decided-2, 0) }

// follow takes what has come of x: the samples before end. They must reach back as far as
// signalMargin does from the frame that is next.
func (r *runningPitch) follow(x *signal, end int) {
	p := r.p
	for end >= p.low.reach(p.corr.limit(float64(r.next)*Hop)) {
		if r.next == 0 {
			first := x.part(0, end)
			p.reset(x.n, pathKept, floats.Sum(first)/float64(len(first)))
		}
		r.frame(x, r.next)
		r.next++
	}
}

// frame takes frame i, the next one.
func (r *runningPitch) frame(x *signal, i int) {
	p := r.p
	p.corr.frame(float64(i)*Hop, x, &p.path)
	p.refer(x, i)
	if at := p.path.magnitude(i); at >= 0 {
		r.magnitudes.add(max(level(float64(at)*float64(at)), silence))
	}
	for len(p.path.back) < len(p.path.candidates)+len(p.path.first) {
		p.path.back = append(p.path.back, 0)
	}
	r.score, r.before = r.before, r.score
	p.path.step(i, r.before, r.score, &p.opts,
		&pathBounds{r.silent(p.reference()), p.rules.local, r.lo, r.hi, p.rules.below})
	k := i - pathLag
	if k < 0 {
		return
	}
	var track [pathLag + 1]float64
	p.path.walk(track[:], i, k, r.score.best(len(p.path.frame(i))))
	r.f0 = append(r.f0, track[0])
	r.local = append(r.local, p.path.magnitude(k))
	if r.doubt(k) {
		for ; r.decided <= k; r.decided++ {
			i := r.decided
			p.check(r.f0[i:i+1], x, i)
			if i > 0 {
				p.edge(r.f0[:i+1], x, i-1)
			}
		}
	}
	if k%rangeStep == 0 {
		r.speakerRange()
	}
	if len(p.path.first) == pathKept {
		p.path.drop(pathKept / 2)
	}
}

// doubt is [Pitch.doubt] of frame k, the latest one. Doubtful frames wait for one that is
// not, or for more than doubtMost of them: at most 50 ms. It reports whether none waits.
func (r *runningPitch) doubt(k int) bool {
	f := r.f0[k]
	if r.p.doubtful(k, f) {
		if r.last > 0 && k-r.decided < doubtMost {
			return false
		}
		clear(r.f0[r.decided:])
		f = 0
	} else if lo, hi := min(r.last, f), max(r.last, f); lo == 0 || hi > edgeJump*lo {
		clear(r.f0[r.decided:k])
	}
	r.last = f
	return true
}

// silent is the magnitude below which a frame tends to be unvoiced, as pitchPath.silence
// has it, where peak is the largest magnitude of voice.
func (r *runningPitch) silent(peak float64) float64 {
	least := peak * r.p.opts.SilenceThreshold
	if faint := r.magnitudes.rank(humPercentile/100., 1); faint > silence { // not NaN
		least = max(least, min(humShare*math.Pow(10, faint/20), r.p.rules.local*peak))
	}
	return least
}

// speakerRange sets the speaker's range as that of pitchPath does, from the frames that
// are final.
func (r *runningPitch) speakerRange() {
	for ; r.ranged < r.final(); r.ranged++ {
		if f := r.f0[r.ranged]; f > 0 {
			r.octaves[int(octaveBins*math.Log2(f/r.p.opts.Floor))]++
			r.voiced++
		}
	}
	if r.voiced < rangeFrames {
		return
	}
	at := func(rank int) float64 { // octaves above the floor
		b := 0
		for below := r.octaves[0]; below <= rank; below += r.octaves[b] {
			b++
		}
		return (float64(b) + 0.5) / octaveBins
	}
	r.lo, r.hi = math.Log2(rangeLow)+at(r.voiced/4), math.Log2(rangeHigh)+at(3*r.voiced/4)
}

// silence makes frames unvoiced whose magnitude is below the silence threshold, relative
// to the magnitude of the voice that is known by now.
func (r *runningPitch) silence() {
	least := float32(r.silent(r.p.loudest))
	for i, v := range r.local[:r.final()] {
		if v < least {
			r.f0[i] = 0
		}
	}
}
