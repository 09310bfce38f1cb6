package dsp

import (
	"math"
	"strconv"
)

// An FFT computes the discrete Fourier transform of real signals of n samples,
//
//	X[k] = Σ x[j]·exp(−2πi·jk/n)   for j = 0 … n−1, k = 0 … n/2,
//
// and its inverse. It owns its twiddle factors and scratch, allocates nothing
// after [NewFFT], and is not safe for concurrent use.
//
// The n real samples are taken as h = n/2 complex ones, z[j] = x[2j] + i·x[2j+1]. A
// radix-4 Stockham FFT, which needs no bit reversal, transforms them (C. Van Loan,
// Computational Frameworks for the Fast Fourier Transform, 1992, section 1.7). The
// symmetry of the two halves separates the result (W. Press et al., Numerical
// Recipes, 3rd ed., section 12.3.2). On amd64 processors with AVX the same
// operations run in assembly and give the same bits.
type FFT struct {
	n      int
	stages []stage
	half   []complex128 // exp(−2πi·k/n), k = 0 … n/4
	a, b   []complex128 // h points each, the two sides of a Stockham pass
	avx    bool         // whether the passes run in assembly
	used   int          // samples of x behind which all are 0, but in Sequence
}

// A stage is one radix-4 pass over h = 4·m·s points.
type stage struct {
	m, s int
	w    []complex128 // w, w², w³ for w = exp(−2πi·p/4m), p = 0 … m−1
}

// NewFFT returns an FFT of n real samples. It panics unless n is a power of
// two of at least 4.
func NewFFT(n int) *FFT {
	if n < 4 || n&(n-1) != 0 {
		panic("dsp: FFT of " + strconv.Itoa(n) + " samples, want a power of two of at least 4")
	}
	h := n / 2
	f := &FFT{n: n, half: make([]complex128, n/4+1), a: make([]complex128, h), b: make([]complex128, h)}
	f.avx = hasAVX && h >= 8
	f.used = n
	for k := range f.half {
		f.half[k] = UnitRoot(k, n)
	}
	s := 1
	for rest := h; rest >= 4; rest /= 4 {
		st := stage{m: rest / 4, s: s, w: make([]complex128, 3*(rest/4))}
		for p := range st.m {
			for j := 1; j <= 3; j++ {
				st.w[3*p+j-1] = UnitRoot(j*p, rest)
			}
		}
		f.stages = append(f.stages, st)
		s *= 4
	}
	return f
}

// UnitRoot is exp(−2πi·k/n) for any k, reduced to the first octant so that it is
// accurate to the last place and exact on the axes.
func UnitRoot(k, n int) complex128 {
	k = ((k % n) + n) % n
	octant := 8 * k / n
	arg := func(k int) float64 { return 2 * math.Pi * float64(k) / float64(n) }
	var s, c float64
	switch octant {
	case 0:
		s, c = math.Sincos(arg(k))
	case 1, 2:
		// cos and sin about a quarter turn; 4k−n may be odd quarters of n
		s, c = math.Sincos(2 * math.Pi * float64(4*k-n) / float64(4*n))
		s, c = c, -s
	case 3, 4:
		s, c = math.Sincos(2 * math.Pi * float64(2*k-n) / float64(2*n))
		s, c = -s, -c
	case 5, 6:
		s, c = math.Sincos(2 * math.Pi * float64(4*k-3*n) / float64(4*n))
		s, c = -c, s
	default:
		s, c = math.Sincos(arg(k - n))
	}
	return complex(c, -s)
}

// padded promises that the samples from the given number on are 0 wherever Coefficients
// and Power are called, which saves the assembly a part of the first pass. It returns f.
func (f *FFT) padded(samples int) *FFT {
	f.used = samples
	return f
}

// Len is the number n of real samples.
func (f *FFT) Len() int { return f.n }

// Coefficients computes the n/2+1 coefficients X[0] … X[n/2] of the n samples
// x into dst and returns it; a nil dst is allocated. It panics if x or dst has
// another length. x is not changed.
func (f *FFT) Coefficients(dst []complex128, x []float64) []complex128 {
	h := f.n / 2
	if dst == nil {
		dst = make([]complex128, h+1)
	}
	if len(dst) != h+1 {
		panic("dsp: FFT coefficients have the wrong length")
	}
	z := f.transform(x, f.used)
	z0 := z[0]
	dst[0] = complex(real(z0)+imag(z0), 0)
	dst[h] = complex(real(z0)-imag(z0), 0)
	if f.avx {
		coefficientPairsAVX(&dst[1], &dst[h-2], &z[1], &z[h-2], &f.half[1], h/2)
		return dst
	}
	w := f.half[:h/2+1]
	for k := 1; k <= h/2; k++ {
		// With E and O the transforms of the even and odd samples,
		// Z[k] = E[k] + i·O[k], Z*[h−k] = E[k] − i·O[k], X[k] = E[k] + w^k·O[k].
		e, o := separate(z[k], z[h-k], w[k])
		dst[k] = e + o
		dst[h-k] = complex(real(e)-real(o), imag(o)-imag(e))
	}
	return dst
}

// separate returns E[k] and w^k·O[k] from Z[k] and Z[h−k].
func separate(zk, zh, w complex128) (e, o complex128) {
	er, ei := 0.5*(real(zk)+real(zh)), 0.5*(imag(zk)-imag(zh))
	or, oi := 0.5*(imag(zk)+imag(zh)), 0.5*(real(zh)-real(zk))
	return complex(er, ei), complex(or*real(w)-oi*imag(w), or*imag(w)+oi*real(w))
}

// squares returns |X[k]|² and |X[h−k]|² from Z[k] and Z[h−k].
func squares(zk, zh, w complex128) (low, high float64) {
	er, ei := real(zk)+real(zh), imag(zk)-imag(zh) // 2·E[k]
	ar, ai := imag(zk)+imag(zh), real(zh)-real(zk) // 2·O[k]
	or, oi := ar*real(w)-ai*imag(w), ar*imag(w)+ai*real(w)
	re, im := er+or, ei+oi
	low = 0.25 * (re*re + im*im)
	re, im = er-or, ei-oi
	return low, 0.25 * (re*re + im*im)
}

// Power computes |X[k]|² of the n samples x into dst and returns it. A nil dst is
// allocated with n/2+1 bins; a shorter dst receives the first bins only. It panics
// if x does not have n samples or dst has more than n/2+1 bins. x is not changed.
func (f *FFT) Power(dst []float64, x []float64) []float64 {
	h := f.n / 2
	if dst == nil {
		dst = make([]float64, h+1)
	}
	if len(dst) > h+1 {
		panic("dsp: FFT power has the wrong length")
	}
	z := f.transform(x, f.used)
	if len(dst) == 0 {
		return dst
	}
	dc := real(z[0]) + imag(z[0])
	dst[0] = dc * dc
	if len(dst) == h+1 {
		ny := real(z[0]) - imag(z[0])
		dst[h] = ny * ny
	}
	f.powerPairs(dst, z)
	return dst
}

// powerPairs fills those of the bins 1 to h−1 that dst has: bin k alone if dst does
// not have bin h−k, and otherwise both.
func (f *FFT) powerPairs(dst []float64, z []complex128) {
	h := f.n / 2
	end := min(len(dst), h/2+1)            // dst has the bins 1 ≤ k < end,
	both := min(max(h-len(dst)+1, 1), end) // bins h−k where also k ≥ both
	k := 1
	if n := (both - k) &^ 3; f.avx && n > 0 {
		powerLowAVX(&dst[k], &z[k], &z[h-k-3], &f.half[k], n)
		k += n
	}
	for ; k < both; k++ {
		dst[k], _ = squares(z[k], z[h-k], f.half[k])
	}
	if n := (end - k) &^ 3; f.avx && n > 0 {
		powerPairsAVX(&dst[k], &dst[h-k-3], &z[k], &z[h-k-3], &f.half[k], n)
		k += n
	}
	for ; k < end; k++ {
		dst[k], dst[h-k] = squares(z[k], z[h-k], f.half[k])
	}
}

// Sequence computes the n samples whose coefficients are c, X[0] … X[n/2],
// into dst and returns it; a nil dst is allocated. Its scale makes it the inverse of
// [FFT.Coefficients]. The imaginary parts of c[0] and c[n/2], which are 0 for every
// real signal, are ignored. It panics if c or dst has another length. c is not
// changed.
func (f *FFT) Sequence(dst []float64, c []complex128) []float64 {
	h := f.n / 2
	if dst == nil {
		dst = make([]float64, f.n)
	}
	if len(dst) != f.n || len(c) != h+1 {
		panic("dsp: FFT sequence has the wrong length")
	}
	// The inverse is the conjugate of the forward transform of the conjugate,
	// over h. x[2j] and x[2j+1] of dst serve as the real and imaginary parts of
	// conj Z[j].
	x0, xh := real(c[0]), real(c[h])
	scale := 1 / float64(f.n)
	dst[0], dst[1] = (x0+xh)*scale, -(x0-xh)*scale
	k := 1
	if f.avx {
		sequencePairsAVX(&dst[2], &dst[2*(h-2)], &c[1], &c[h-2], &f.half[1], scale, h/2)
		k += h / 2
	}
	for ; k <= h/2; k++ {
		a, b := c[k], c[h-k]
		er, ei := real(a)+real(b), imag(a)-imag(b) // 2·E[k]
		dr, di := real(a)-real(b), imag(a)+imag(b) // 2·w^k·O[k]
		w := f.half[k]
		or, oi := dr*real(w)+di*imag(w), di*real(w)-dr*imag(w)
		// Z[k] = E + i·O, Z[h−k] = E* + i·O*; stored conjugated.
		dst[2*k], dst[2*k+1] = (er-oi)*scale, -(ei+or)*scale
		if 2*k != h {
			dst[2*(h-k)], dst[2*(h-k)+1] = (er+oi)*scale, (ei-or)*scale
		}
	}
	z := f.transform(dst, f.n)
	if f.avx {
		conjugateAVX(&dst[0], &z[0], len(z))
		return dst
	}
	for j, v := range z {
		dst[2*j], dst[2*j+1] = real(v), -imag(v)
	}
	return dst
}
