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
	n        int       // filters
	first    []int     // first[j] is the first bin at or above edge j, j = 0 … n+1
	rise     []float64 // rise[k−first[0]] is the weight of bin k in the filter that rises there
	fall     []float64 // and in the one that falls
	lastBins int       // bins of the power spectrum that are read
}

// newFilterBank returns n triangles from low to high Hz on the given scale for
// the power spectrum of an FFT of nfft samples at sr Hz. As in HTK no filter reads
// the bins at 0 and at half the sampling rate.
func newFilterBank(sr float64, nfft, n int, low, high float64, scale func(float64) float64) *filterBank {
	lo, width := scale(low), (scale(high)-scale(low))/float64(n+1)
	b := &filterBank{n: n, first: make([]int, n+2)}
	k := 1
	position := func(k int) float64 { return (scale(float64(k)*sr/float64(nfft)) - lo) / width }
	for k < nfft/2 && position(k) < 0 {
		k++
	}
	for j := range b.first {
		b.first[j] = k
		for k < nfft/2 && j <= n && position(k) < float64(j+1) {
			r := position(k) - float64(j)
			b.rise, b.fall = append(b.rise, r), append(b.fall, 1-r)
			k++
		}
	}
	b.lastBins = b.first[n+1]
	return b
}

// energies computes the n filters' sums of the power spectrum p into dst. It sums the
// bins between two pairs of neighbouring edges at a time, since an addition must wait for
// the one before.
func (b *filterBank) energies(dst, p []float64) {
	var rising float64
	for j := 0; j <= b.n; j += 2 {
		lo, mid := b.first[j], b.first[j+1]
		hi := mid
		if j < b.n {
			hi = b.first[j+2]
		}
		r0, f0, r1, f1 := b.sums(p, lo, mid, hi)
		if j > 0 {
			dst[j-1] = rising + f0
		}
		if j < b.n {
			dst[j] = r0 + f1
		}
		rising = r1
	}
}

// sums returns the sums of the bins lo to mid−1, as they rise and fall, and of the bins
// mid to hi−1.
func (b *filterBank) sums(p []float64, lo, mid, hi int) (r0, f0, r1, f1 float64) {
	k0 := b.first[0]
	x, y := p[lo:mid], p[mid:hi]
	xr, xf := b.rise[lo-k0 : mid-k0][:len(x)], b.fall[lo-k0 : mid-k0][:len(x)]
	yr, yf := b.rise[mid-k0 : hi-k0][:len(y)], b.fall[mid-k0 : hi-k0][:len(y)]
	n := min(len(x), len(y))
	for i := range n {
		u, v := x[i], y[i]
		r0 += xr[i] * u
		f0 += xf[i] * u
		r1 += yr[i] * v
		f1 += yf[i] * v
	}
	for i := n; i < len(x); i++ {
		r0 += xr[i] * x[i]
		f0 += xf[i] * x[i]
	}
	for i := n; i < len(y); i++ {
		r1 += yr[i] * y[i]
		f1 += yf[i] * y[i]
	}
	return r0, f0, r1, f1
}
