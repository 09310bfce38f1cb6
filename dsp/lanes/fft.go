package lanes

import (
	"strconv"

	"github.com/voicescreen/voicescreen/dsp"
)

// An FFT computes the discrete Fourier transforms of four real frames of n samples at
// once. As in [dsp.FFT], the samples are taken as n/2 complex ones, z[j] = x[2j] + i·x[2j+1];
// the transform is in place, by decimation in frequency in passes of radix 4 and a last one
// of radix 2 where needed (C. Van Loan, Computational Frameworks for the Fast Fourier
// Transform, 1992, section 1.9), and the symmetry of the halves separates the result. No
// operation mixes lanes, so the result is left in the order of reversed digits.
//
// It owns its scratch, allocates nothing after [NewFFT], and is not safe for concurrent
// use.
type FFT struct {
	z       []float64 // the frames, then their transform
	factors [][]float64
	bins    []bin // of k = 0 … n/4
	avx2    bool
}

// A bin says where the numbers are that the bins k and n/2−k are computed from.
type bin struct {
	at, mirror int     // of Z[k] and Z[n/2−k], in elements of z
	re, im     float64 // exp(−2πi·k/n)
}

// NewFFT returns an FFT of frames of n samples. It panics unless n is a power of two of at
// least 16.
func NewFFT(n int) *FFT {
	if n < 16 || n&(n-1) != 0 {
		panic("lanes: FFT of " + strconv.Itoa(n) + " samples, want a power of two of at least 16")
	}
	h := n / 2
	f := &FFT{z: make([]float64, Count*n), bins: make([]bin, h/2+1), avx2: hasAVX2}
	for m := h; m > 4; m /= 4 {
		w := make([]float64, 0, 6*m/4)
		for j := range m / 4 {
			for r := 1; r <= 3; r++ {
				root := dsp.UnitRoot(r*j, m)
				w = append(w, real(root), imag(root))
			}
		}
		f.factors = append(f.factors, w)
	}
	for k := range f.bins {
		root := dsp.UnitRoot(k, n)
		f.bins[k] = bin{2 * Count * reversed(k, h), 2 * Count * reversed((h-k)%h, h), real(root), imag(root)}
	}
	return f
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

// Load sets the samples to those of the frames under a window of at most n samples, and to 0
// behind. The frames are as long as the window, a multiple of 4. They are not changed.
func (f *FFT) Load(frames *[Count][]float64, window []float64) {
	load(f.z, frames, window, f.avx2)
	clear(f.z[Count*len(window):])
}

// transform replaces z by Z in the order of reversed digits. After the first pass the
// quarters are transformed one by one, because they fit into the first cache.
func (f *FFT) transform() {
	if len(f.z) <= 2*Count*4 {
		f.passes(f.z, 0)
		return
	}
	q := len(f.z) / 4
	stage(f.z, f.factors[0], 1, f.avx2)
	for i := range 4 {
		f.passes(f.z[i*q:(i+1)*q], 1)
	}
}

// passes does the passes from the given one on, of which z is one block.
func (f *FFT) passes(z []float64, pass int) {
	blocks, m := 1, len(z)/(2*Count)
	for ; m > 4; m /= 4 {
		stage(z, f.factors[pass], blocks, f.avx2)
		blocks *= 4
		pass++
	}
	switch m {
	case 4:
		last4(z, f.avx2)
	case 2:
		last2(z, f.avx2)
	}
}

// Power transforms the samples and computes |X[k]|² of the bins 0 … n/2 into dst, a group of
// lanes each. The samples are lost.
func (f *FFT) Power(dst []float64) {
	f.transform()
	h := len(f.z) / (2 * Count)
	for l := range Count {
		re, im := f.z[l], f.z[Count+l]
		dst[l] = (re + im) * (re + im)
		dst[Count*h+l] = (re - im) * (re - im)
	}
	powers(dst, f.z, f.bins, f.avx2)
}

// Coefficients transforms the samples and computes X[k] of the bins 0 … n/2 into dst: four
// real and then four imaginary parts. The samples are lost.
func (f *FFT) Coefficients(dst []float64) {
	f.transform()
	h := len(f.z) / (2 * Count)
	for l := range Count {
		re, im := f.z[l], f.z[Count+l]
		dst[l], dst[Count+l] = re+im, 0
		dst[2*Count*h+l], dst[2*Count*h+Count+l] = re-im, 0
	}
	coefficients(dst, f.z, f.bins, f.avx2)
}
