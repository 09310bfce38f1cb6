package dsp

import "math"

// The mel scale of HTK (Young et al., The HTK Book, version 3.4, section 5.4):
// mel = 1127·ln(1 + f/700). The other common scale (Slaney 1998) is linear to
// 1 kHz.
const (
	melFactor = 1127
	melCorner = 700 // Hz
)

// HzToMel converts a frequency f ≥ 0 in Hz to HTK mel, 1127·ln(1 + f/700) (The HTK
// Book 3.4, section 5.4).
func HzToMel(f float64) float64 { return melFactor * math.Log1p(f/melCorner) }

// MelToHz converts HTK mel to a frequency in Hz. It is the inverse of [HzToMel].
func MelToHz(m float64) float64 { return melCorner * math.Expm1(m/melFactor) }

// A filterBank is a row of triangular filters, each of height 1, evenly spaced
// on a scale: filter j rises from edge j to edge j+1 and falls to edge j+2,
// where the edges divide the band into len+1 equal parts. It is immutable.
type filterBank struct {
	n        int          // filters, at least 1
	first    int          // the first bin that a filter reads
	bins     []int        // between neighbouring edges, n+1 numbers
	weights  [][2]float64 // of each bin, in the filter that rises there and in the one that falls
	lastBins int          // bins of the power spectrum that are read
}

// newFilterBank returns n triangles from low to high Hz on the given scale for
// the power spectrum of an FFT of nfft samples at sr Hz. As in HTK no filter reads
// the bins at 0 and at half the sampling rate.
func newFilterBank(sr float64, nfft, n int, low, high float64, scale func(float64) float64) *filterBank {
	lo, width := scale(low), (scale(high)-scale(low))/float64(n+1)
	b := &filterBank{n: n, bins: make([]int, n+1)}
	k := 1
	position := func(k int) float64 { return (scale(float64(k)*sr/float64(nfft)) - lo) / width }
	for k < nfft/2 && position(k) < 0 {
		k++
	}
	b.first = k
	for j := range b.bins {
		for k < nfft/2 && position(k) < float64(j+1) {
			r := position(k) - float64(j)
			b.weights = append(b.weights, [2]float64{r, 1 - r})
			b.bins[j]++
			k++
		}
	}
	b.lastBins = k
	return b
}

// energies computes the n filters' sums of the power spectrum p into dst. With avx it
// runs in assembly, which gives the same bits.
func (b *filterBank) energies(dst, p []float64, avx bool) {
	dst, p = dst[:b.n], p[b.first:b.lastBins]
	if avx && len(p) > 0 {
		trianglesAVX(&dst[0], &p[0], &b.weights[0][0], &b.bins[0], b.n)
		return
	}
	var rising float64
	w := b.weights
	for j, n := range b.bins {
		var rise, fall float64
		for k, v := range p[:n] {
			rise += w[k][0] * v
			fall += w[k][1] * v
		}
		if j > 0 {
			dst[j-1] = rising + fall
		}
		rising, p, w = rise, p[n:], w[n:]
	}
}
