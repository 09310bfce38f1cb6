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
// magnitude of the voice and the speaker's range. The path is followed back from pathLag
// frames later, and the contour is not sharpened.
type runningPitch struct {
	p             *Pitch
	f0            []float64 // Hz, of each frame that is checked; the last two may still change
	local         []float32 // of these, as in pitchPath
	next          int       // frame whose candidates are next
	score, before *pathScores
	octaves       []int // voiced frames by their octave over the floor
	voiced        int   // their number
	ranged        int   // frames of f0 that are among them
	lo, hi        float64
}

func newRunningPitch(sr float64) *runningPitch {
	r := &runningPitch{p: NewPitch(sr, &PitchOptions{Strict: true}), score: new(pathScores), before: new(pathScores), hi: math.Inf(1)}
	r.p.low.exact = true
	r.octaves = make([]int, int(math.Ceil(octaveBins*math.Log2(r.p.opts.Ceiling/r.p.opts.Floor)))+1)
	return r
}

// final is the number of frames of f0 that do not change any more.
func (r *runningPitch) final() int { return max(len(r.f0)-2, 0) }

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
	for len(p.path.back) < len(p.path.candidates)+len(p.path.first) {
		p.path.back = append(p.path.back, 0)
	}
	r.score, r.before = r.before, r.score
	p.path.step(i, r.before, r.score, &p.opts,
		&pathBounds{p.reference() * p.opts.SilenceThreshold, p.rules.local, r.lo, r.hi, p.rules.below})
	k := i - pathLag
	if k < 0 {
		return
	}
	var track [pathLag + 1]float64
	p.path.walk(track[:], i, k, r.score.best(len(p.path.frame(i))))
	r.f0 = append(r.f0, track[0])
	r.local = append(r.local, p.path.magnitude(k))
	p.check(r.f0[k:], x, k)
	if k > 0 {
		p.edge(r.f0, x, k-1)
	}
	if k%rangeStep == 0 {
		r.speakerRange()
	}
	if len(p.path.first) == pathKept {
		p.path.drop(pathKept / 2)
	}
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
	least := float32(r.p.opts.SilenceThreshold * r.p.loudest)
	for i, v := range r.local[:r.final()] {
		if v < least {
			r.f0[i] = 0
		}
	}
}
