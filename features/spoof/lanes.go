package spoof

import (
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
)

// laneCount is how many frames are transformed at once, each in one lane of the registers.
// Such a group is an array of which the element i of frame l is number laneCount·i + l.
const laneCount = 4

// A laneFFT computes the discrete Fourier transforms of four real frames of n samples at
// once. As in [dsp.FFT], the samples are taken as n/2 complex ones, z[j] = x[2j] + i·x[2j+1];
// the transform is in place, by decimation in frequency in passes of radix 4 and a last one
// of radix 2 where needed (C. Van Loan, Computational Frameworks for the Fast Fourier
// Transform, 1992, section 1.9), and the symmetry of the halves separates the result. No
// operation mixes lanes, so the result is left in the order of reversed digits.
//
// It owns its scratch, allocates nothing after newLaneFFT, and is not safe for concurrent
// use.
type laneFFT struct {
	z       []float64 // the frames, then their transform
	factors [][]float64
	bins    []laneBin // of k = 0 … n/4
	avx2    bool
}

// A laneBin says where the numbers are that the bins k and n/2−k are computed from.
type laneBin struct {
	at, mirror int     // of Z[k] and Z[n/2−k], in elements of z
	re, im     float64 // exp(−2πi·k/n)
}

// newLaneFFT returns a laneFFT of frames of n samples, a power of two of at least 16.
func newLaneFFT(n int) *laneFFT {
	h := n / 2
	f := &laneFFT{z: make([]float64, laneCount*n), bins: make([]laneBin, h/2+1), avx2: hasAVX2}
	for m := h; m > 4; m /= 4 {
		w := make([]float64, 0, 6*m/4)
		for j := range m / 4 {
			for r := 1; r <= 3; r++ {
				re, im := unitRoot(r*j, m)
				w = append(w, re, im)
			}
		}
		f.factors = append(f.factors, w)
	}
	for k := range f.bins {
		re, im := unitRoot(k, n)
		f.bins[k] = laneBin{2 * laneCount * reversed(k, h), 2 * laneCount * reversed((h-k)%h, h), re, im}
	}
	return f
}

// unitRoot is exp(−2πi·k/n) for 0 ≤ k < n.
func unitRoot(k, n int) (re, im float64) {
	// to the first half quadrant: exact on the axes
	quarter := 4 * k / n
	k -= quarter * n / 4
	s, c := 0.0, 1.0
	if 8*k <= n {
		s, c = math.Sincos(2 * math.Pi * float64(k) / float64(n))
	} else {
		c, s = math.Sincos(2 * math.Pi * float64(n-4*k) / float64(4*n))
	}
	for range quarter {
		s, c = c, -s
	}
	return c, -s
}

// reversed is the place of coefficient k of m after the passes.
func reversed(k, m int) int {
	at := 0
	for ; m > 1; m /= 4 {
		radix := min(m, 4)
		at += k % radix * (m / radix)
		k /= radix
	}
	return at
}

// load sets z to the frames under a window of at most n samples, 0 behind. The frames are
// as long as the window, a multiple of 4.
func (f *laneFFT) load(frames *[laneCount][]float64, window []float64) {
	laneLoad(f.z, frames, window, f.avx2)
	clear(f.z[laneCount*len(window):])
}

// transform replaces z by Z in the order of reversed digits. After the first pass the
// quarters are transformed one by one, because they fit into the first cache.
func (f *laneFFT) transform() {
	if len(f.z) <= 2*laneCount*4 {
		f.passes(f.z, 0)
		return
	}
	q := len(f.z) / 4
	laneStage(f.z, f.factors[0], 1, f.avx2)
	for i := range 4 {
		f.passes(f.z[i*q:(i+1)*q], 1)
	}
}

// passes does the passes from the given one on, of which z is one block.
func (f *laneFFT) passes(z []float64, pass int) {
	blocks, m := 1, len(z)/(2*laneCount)
	for ; m > 4; m /= 4 {
		laneStage(z, f.factors[pass], blocks, f.avx2)
		blocks *= 4
		pass++
	}
	switch m {
	case 4:
		laneLast4(z, f.avx2)
	case 2:
		laneLast2(z, f.avx2)
	}
}

// power transforms z and computes |X[k]|² of the bins 0 … n/2 into dst.
func (f *laneFFT) power(dst []float64) {
	f.transform()
	h := len(f.z) / (2 * laneCount)
	for l := range laneCount {
		re, im := f.z[l], f.z[laneCount+l]
		dst[l] = (re + im) * (re + im)
		dst[laneCount*h+l] = (re - im) * (re - im)
	}
	lanePower(dst, f.z, f.bins, f.avx2)
}

// coefficients transforms z and computes X[k] of the bins 0 … n/2 into dst: four real and
// then four imaginary parts.
func (f *laneFFT) coefficients(dst []float64) {
	f.transform()
	h := len(f.z) / (2 * laneCount)
	for l := range laneCount {
		re, im := f.z[l], f.z[laneCount+l]
		dst[l], dst[laneCount+l] = re+im, 0
		dst[2*laneCount*h+l], dst[2*laneCount*h+laneCount+l] = re-im, 0
	}
	laneCoefficients(dst, f.z, f.bins, f.avx2)
}

// laneFrames sets frames to those of x that begin at the samples start, start + hop, …, as
// long as pads, which hold those that reach beyond x. From the frame count on, the last
// one is repeated.
func laneFrames(frames, pads *[laneCount][]float64, x []float64, start, hop, count int) {
	for l := range frames {
		frames[l] = frameAt(pads[l], x, start+min(l, count-1)*hop)
	}
}

// newPads returns four pads of n samples.
func newPads(n int) (pads [laneCount][]float64) {
	for l := range pads {
		pads[l] = make([]float64, n)
	}
	return pads
}

// A laneSpectrum computes the power spectra of four frames under a window at once.
type laneSpectrum struct {
	fft          *laneFFT
	window       []float64
	pads, frames [laneCount][]float64
	power        []float64
}

// newLaneSpectrum returns a laneSpectrum of transforms of n points, a power of two of at
// least 16 and of the length of the window, which is a multiple of 4.
func newLaneSpectrum(window []float64, n int) laneSpectrum {
	return laneSpectrum{fft: newLaneFFT(n), window: window, pads: newPads(len(window)), power: make([]float64, laneCount*(n/2+1))}
}

// measure sets power to that of the frames of x that begin at start, start + hop, …. From
// the frame count on, the last one is repeated.
func (s *laneSpectrum) measure(x []float64, start, hop, count int) {
	laneFrames(&s.frames, &s.pads, x, start, hop, count)
	s.fft.load(&s.frames, s.window)
	s.fft.power(s.power)
}

// bins returns the power of the bins lo ≤ k < hi of the four frames.
func (s *laneSpectrum) bins(lo, hi int) []float64 { return s.power[laneCount*lo : laneCount*hi] }

// bin is the first bin at or above f Hz.
func (s *laneSpectrum) bin(f float64) int {
	return int(math.Ceil(f * float64(len(s.power)/laneCount-1) * 2 / rateHz))
}

// anyOf says whether one of the four frames from t on is on.
func anyOf(on []bool, t int) bool { return slices.Contains(on[t:min(t+laneCount, len(on))], true) }

// A laneCepstrum is four of [dsp.Cepstrum].
type laneCepstrum struct {
	fft   *laneFFT
	taper []float64
}

func newLaneCepstrum(n, m int) *laneCepstrum {
	return &laneCepstrum{newLaneFFT(m), dsp.PeriodicHann(n)}
}

// load sets the frames of the transform to log spectra.
func (c *laneCepstrum) load(logs []float64) {
	mean := laneSum(logs, c.fft.avx2)
	for l := range mean {
		mean[l] /= float64(len(c.taper))
	}
	laneTaper(c.fft.z, logs, c.taper, &mean, c.fft.avx2)
	clear(c.fft.z[laneCount*len(c.taper):])
}
