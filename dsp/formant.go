package dsp

import (
	"math"
	"slices"
)

// The frame of a formant analysis, in samples at formantRate: 21.3 ms under a
// Gaussian window with a standard deviation of 3.4 ms. Windows of 2.5 to 7 ms
// gave the same accuracy on the Klatt vowels of the tests.
const (
	formantFrame = 235
	formantSigma = 38
)

// steLength is the number of samples, 1.8 ms, whose energy weighs the next
// one. Measured on the Klatt vowels: 16 to 24 do equally well, 36 loses F1.
const steLength = 20

// preEmphasisFrom is the frequency, in Hz, from which the spectrum is lifted
// by 6 dB an octave to undo the fall of the voice source. Customary is 50; in
// the free ringing that the weights select the source is silent anyway, and
// the least that it leaves at F0 gives the best F1.
const preEmphasisFrom = 5

// Limits of a resonance that counts as a formant. A pole below minFormant is
// the voice source's; one wider than maxFormantWidth shapes the spectrum's
// tilt and is no resonance. Chosen: the widest third formants measured in
// vowels are about 400 Hz (Fant, Acoustic Theory of Speech Production, 1960).
const (
	minFormant      = 90   // Hz
	maxFormant      = 5300 // Hz, clear of the decimation's edge
	maxFormantWidth = 700  // Hz
)

// formantChunk is the longest stretch, in frames, that is decimated at once;
// it bounds the scratch memory.
const formantChunk = 200

// A FormantTracker finds the first three resonances of the vocal tract in the
// voiced frames of a recording: decimation to 11025 Hz, pre-emphasis from
// 50 Hz, a robust predictor of order 10 and the roots of its polynomial. It
// owns its scratch and is not safe for concurrent use.
type FormantTracker struct {
	quarter *quarter
	lpc     *robustLPC
	y       []float64 // decimated and pre-emphasised
	ste     []float64 // energy of the steLength samples before each
	tail    []float64 // scratch of energies
	roots   [][2]float64
}

// NewFormantTracker returns a FormantTracker of mono samples at [SampleRate].
func NewFormantTracker() *FormantTracker {
	return &FormantTracker{
		quarter: newQuarter(),
		lpc:     newRobustLPC(formantFrame, formantSigma),
		roots:   make([][2]float64, 0, lpcOrder),
	}
}

// Track fills dst with the formants of each frame of x - offset: frame i is
// centred on i·[Hop]. f0 says which frames are voiced (greater than 0); the
// others, and formants that a frame does not have, are NaN. F1, F2 and F3 are the
// lowest three resonances of a frame that can be these formants of a human voice
// (see [assign]); no continuity between frames is imposed.
//
// dst must have the length of f0, or be nil to have it allocated. x is not
// changed and must be finite.
func (t *FormantTracker) Track(dst []Formants, x []float64, offset float64, f0 []float64) []Formants {
	if dst == nil {
		dst = make([]Formants, len(f0))
	}
	if len(dst) != len(f0) {
		panic("dsp: formants and pitch differ in length")
	}
	nan := math.NaN()
	for i := 0; i < len(f0); {
		if !(f0[i] > 0) {
			dst[i] = Formants{[3]float64{nan, nan, nan}, [3]float64{nan, nan, nan}}
			i++
			continue
		}
		j := i + 1
		for j < len(f0) && f0[j] > 0 && j-i < formantChunk {
			j++
		}
		t.stretch(dst[i:j], x, offset, i)
		i = j
	}
	return dst
}

// stretch fills dst with the formants of the voiced frames first, first+1, ….
func (t *FormantTracker) stretch(dst []Formants, x []float64, offset float64, first int) {
	const before = formantFrame/2 + lpcHistory + steLength
	start := formantCentre(first) - before - 1 // the 1 is for pre-emphasis
	n := formantCentre(first+len(dst)-1) + formantFrame/2 + 1 - start
	t.y = sized(t.y, n)
	t.quarter.run(t.y, x, start, offset)
	alpha := math.Exp(-2 * math.Pi * preEmphasisFrom / formantRate)
	for i := n - 1; i > 0; i-- {
		t.y[i] -= alpha * t.y[i-1]
	}
	y := t.y[1:]
	t.energies(y)
	for k := range dst {
		c := formantCentre(first+k) - start - 1 - formantFrame/2
		a, ok := t.lpc.fit(y[c-lpcHistory:], t.ste[c:c+formantFrame])
		t.roots = t.roots[:0]
		if ok {
			t.resonances(a)
		}
		dst[k] = assign(t.roots)
	}
}

// formantCentre is the sample at formantRate nearest to the centre of frame i.
func formantCentre(i int) int { return (i*hopSamples + 2) / 4 }

// energies fills ste[n] with the energy of y[n-steLength:n], by sums within
// blocks from either side, so that nothing is subtracted and a loud sample
// leaves no error behind.
func (t *FormantTracker) energies(y []float64) {
	t.ste = sized(t.ste, len(y))
	t.tail = sized(t.tail, len(y))
	ste, tail := t.ste, t.tail
	const m = steLength
	for b := 0; b < len(y); b += m {
		e := min(b+m, len(y))
		var s float64
		for n := e - 1; n >= b; n-- { // tail[n]: from n to the block's end
			s += y[n] * y[n]
			tail[n] = s
		}
	}
	var head float64 // from the block's start to n-1
	for n := range y {
		if n%m == 0 {
			head = 0
		}
		ste[n] = head
		if n >= m {
			ste[n] += tail[n-m]
		}
		head += y[n] * y[n]
	}
}

// resonances replaces t.roots by the resonances of the predictor a, ascending:
// frequency and width in Hz.
func (t *FormantTracker) resonances(a []float64) {
	t.roots = upperRoots(t.roots[:0], a)
	found := t.roots[:0]
	for _, z := range t.roots {
		// A root r·exp(iθ) is a resonance at θ·sr/2π with the -3 dB width
		// -ln(r)·sr/π; one outside the unit circle has the same spectrum as
		// its mirror image inside.
		f := math.Atan2(z[1], z[0]) * (formantRate / (2 * math.Pi))
		b := math.Abs(math.Log(z[0]*z[0]+z[1]*z[1])) * (formantRate / (2 * math.Pi))
		if f >= minFormant && f <= maxFormant && b <= maxFormantWidth {
			found = append(found, [2]float64{f, b})
		}
	}
	slices.SortFunc(found, func(p, q [2]float64) int {
		if p[0] < q[0] {
			return -1
		}
		return 1
	})
	t.roots = found
}

// slots are the limits in Hz within which F1, F2 and F3 are looked for. The
// averages of vowels of men, women and children lie in 270 to 1030, 840 to 3200
// and 1690 to 3730 Hz (Peterson & Barney, "Control methods used in a study of the
// vowels", JASA 24, 1952, table II); the limits are a quarter wider at least,
// for the single speaker and for nasals and glides.
var slots = [3][2]float64{{150, 1300}, {500, 4000}, {1300, 4700}}

// maxFirstToThird is the largest ratio of F1 to F3. In the most open vowels of
// the same averages it is 0.30 or 0.31 for men, women and children alike; that
// and a quarter.
const maxFirstToThird = 0.38

// assign returns the lowest three of the ascending resonances found as F1 to F3,
// but none where it cannot be: a frame whose first resonance was missed, as too
// wide or too near the second, has no F1 rather than F2 in its place.
func assign(found [][2]float64) Formants {
	out := assignFrom(0, found)
	if out.F[0] > maxFirstToThird*out.F[2] { // false without either
		return assignFrom(1, found)
	}
	return out
}

// assignFrom puts every resonance in turn, from formant k on, into the first
// free slot that it does not lie above; one below that slot is left out.
func assignFrom(k int, found [][2]float64) Formants {
	nan := math.NaN()
	out := Formants{[3]float64{nan, nan, nan}, [3]float64{nan, nan, nan}}
	for _, v := range found {
		for k < len(slots) && v[0] > slots[k][1] {
			k++
		}
		if k == len(slots) {
			break
		}
		if v[0] >= slots[k][0] {
			out.F[k], out.B[k] = v[0], v[1]
			k++
		}
	}
	return out
}
