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

// steLength is the number of samples, 1.8 ms, whose energy is the weight of the next
// one. Measured on the Klatt vowels: 16 to 24 are equally good, 36 loses F1.
const steLength = 20

// preEmphasisFrom is the frequency, in Hz, above which the spectrum is raised by 6 dB
// an octave to compensate for the slope of the voice source. 50 is customary. The
// weights select the free ringing, in which the source is silent, so that less is
// enough; 5 gives the best F1 on the Klatt vowels.
const preEmphasisFrom = 5

// Limits of a resonance that counts as a formant. A pole below minFormant belongs to
// the voice source. A pole wider than maxFormantWidth models the tilt of the
// spectrum. Chosen: the widest third formants measured in vowels are about 400 Hz
// (G. Fant, Acoustic Theory of Speech Production, 1960).
const (
	minFormant      = 90   // Hz
	maxFormant      = 5300 // Hz, clear of the decimation's edge
	maxFormantWidth = 700  // Hz
)

// formantChunk is the longest stretch, in frames, that is decimated in one piece; it
// bounds the scratch memory. Chosen: two seconds.
const formantChunk = 200

// A FormantTracker finds the first three resonances of the vocal tract in the voiced
// frames of a recording, by linear prediction (J. Markel and A. Gray, Linear
// Prediction of Speech, 1976): decimation to 11025 Hz, pre-emphasis above 5 Hz, a
// predictor of order 10, and the roots of its polynomial. The predictor is weighted so
// that the pulses of the glottis do not pull the poles (C.-H. Lee, "On
// robust linear prediction of speech", IEEE Trans. ASSP 36, 1988; C. Ma, Y. Kamp and
// L. Willems, "Robust signal selection for linear prediction analysis of voiced
// speech", Speech Communication 12, 1993).
//
// It owns its scratch, allocates nothing after a call with a stretch of two seconds,
// and is not safe for concurrent use.
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

// Track fills dst with the formants of the frames of x − offset and returns it; a nil
// dst is allocated. Frame i is centred on i·[Hop]. The frames with f0 > 0 are voiced;
// in the others, and for formants that a frame does not have, frequency and
// bandwidth are NaN. F1, F2 and F3 are the lowest three resonances of a frame that
// can be these formants of a human voice: F1 in 150 to 1300 Hz and at most 0.38 of
// F3, F2 in 500 to 4000, F3 in 1300 to 4700. A frame does not depend on its
// neighbours.
//
// x is mono at [SampleRate], must be finite and is not changed; outside x the signal
// is 0. Track panics unless dst is nil or as long as f0.
func (t *FormantTracker) Track(dst []Formants, x []float64, offset float64, f0 []float64) []Formants {
	if dst == nil {
		dst = make([]Formants, len(f0))
	}
	if len(dst) != len(f0) {
		panic("dsp: formants and pitch differ in length")
	}
	all := whole(x)
	for i := 0; i < len(f0); {
		i += t.next(dst[i:], &all, offset, f0, i)
	}
	return dst
}

// next fills the beginning of dst with the formants of frame i and of those after it
// that are measured together, at most formantChunk, and returns their number.
func (t *FormantTracker) next(dst []Formants, x *signal, offset float64, f0 []float64, i int) int {
	if !(f0[i] > 0) {
		nan := math.NaN()
		dst[0] = Formants{[3]float64{nan, nan, nan}, [3]float64{nan, nan, nan}}
		return 1
	}
	j := i + 1
	for j < len(f0) && f0[j] > 0 && j-i < formantChunk {
		j++
	}
	t.stretch(dst[:j-i], x, offset, i)
	return j - i
}

// stretch fills dst with the formants of the voiced frames first, first+1, ….
func (t *FormantTracker) stretch(dst []Formants, x *signal, offset float64, first int) {
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

// energies fills ste[n] with the energy of y[n-steLength:n]. It adds sums within
// blocks from either side: a running sum would keep the rounding error of a loud
// sample.
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
		// -ln(r)·sr/π. A root outside the unit circle has the same spectrum as
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

// slots are the limits of F1, F2 and F3 in Hz. The averages of vowels of men, women
// and children are 270 to 1030, 840 to 3200 and 1690 to 3730 Hz (G. Peterson and H.
// Barney, "Control methods used in a study of the vowels", JASA 24, 1952, table II).
// The limits are at least a quarter wider, for single speakers, nasals and glides.
var slots = [3][2]float64{{150, 1300}, {500, 4000}, {1300, 4700}}

// maxFirstToThird is the largest ratio of F1 to F3. In the most open vowels of
// Peterson and Barney's averages the ratio is 0.30 or 0.31 for men, women and
// children alike; the limit is a quarter above.
const maxFirstToThird = 0.38

// assign returns the lowest three of the ascending resonances found as F1 to F3, each
// within its slot. If the first resonance was too wide or too near the second to be
// found, F1 is NaN, and F2 does not take its place.
func assign(found [][2]float64) Formants {
	out := assignFrom(0, found)
	if out.F[0] > maxFirstToThird*out.F[2] { // false without either
		return assignFrom(1, found)
	}
	return out
}

// assignFrom assigns the resonances in ascending order, from formant k on, each to
// the first free slot that does not end below it. A resonance below that slot is left
// out.
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
