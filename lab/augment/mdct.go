package augment

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
)

// An mdct is a modified discrete cosine transform of n coefficients (Princen,
// Johnson & Bradley 1987):
//
//	X[k] = Σ_{j<2n} w[j]·x[j]·cos(π/n·(j + ½ + n/2)·(k + ½))
//
// scaled by √(2/n), so that with a power-complementary window it is orthogonal:
// the inverse is its transpose, windowed and added up. gonum's FFT takes any
// length, and this one is of 288; it is not on the path of scoring.
type mdct struct {
	n      int
	window []float64 // 2n
	fft    *fourier.CmplxFFT
	twist  []complex128 // exp(−iπ(k+⅛)/n), n/2
	z      []complex128
	fold   []float64 // n
}

// newMDCT returns an mdct of n coefficients, a multiple of four, with the sine
// window of MPEG audio, which is power-complementary.
func newMDCT(n int) *mdct {
	m := &mdct{n: n, window: make([]float64, 2*n), fft: fourier.NewCmplxFFT(n / 2),
		twist: make([]complex128, n/2), z: make([]complex128, n/2), fold: make([]float64, n)}
	for j := range m.window {
		m.window[j] = math.Sin(math.Pi * (float64(j) + 0.5) / float64(2*n))
	}
	for k := range m.twist {
		m.twist[k] = cmplx.Exp(complex(0, -math.Pi*(float64(k)+0.125)/float64(n)))
	}
	return m
}

// dct4 replaces v, of n samples, by its DCT of type IV, scaled by √(2/n): it is
// its own inverse. A complex FFT of n/2 points does it (Britanak & Rao 2002).
func (m *mdct) dct4(v []float64) {
	n := m.n
	for k := range m.z {
		m.z[k] = complex(v[2*k], v[n-1-2*k]) * m.twist[k]
	}
	m.fft.Coefficients(m.z, m.z)
	scale := complex(math.Sqrt(2/float64(n)), 0)
	for k, z := range m.z {
		z *= m.twist[k] * scale
		v[2*k], v[n-1-2*k] = real(z), -imag(z)
	}
}

// forward transforms the 2n samples x into the n coefficients dst.
func (m *mdct) forward(dst, x []float64) {
	n, h := m.n, m.n/2
	w := m.window
	for j := range h {
		dst[j] = -w[3*h-1-j]*x[3*h-1-j] - w[3*h+j]*x[3*h+j]
		dst[h+j] = w[j]*x[j] - w[n-1-j]*x[n-1-j]
	}
	m.dct4(dst)
}

// add adds the windowed inverse of the n coefficients c to the 2n samples dst.
func (m *mdct) add(dst, c []float64) {
	n, h := m.n, m.n/2
	copy(m.fold, c)
	m.dct4(m.fold)
	w := m.window
	for j := range h {
		dst[3*h-1-j] -= w[3*h-1-j] * m.fold[j]
		dst[3*h+j] -= w[3*h+j] * m.fold[j]
		dst[j] += w[j] * m.fold[h+j]
		dst[n-1-j] -= w[n-1-j] * m.fold[h+j]
	}
}

// blocks passes x through the transform block by block: change alters the
// coefficients of one block in place. The result is as long as x.
func (m *mdct) blocks(x []float64, change func(c []float64)) []float64 {
	n := m.n
	padded := make([]float64, (len(x)+2*n-1)/n*n+2*n)
	copy(padded[n:], x)
	y := make([]float64, len(padded))
	c := make([]float64, n)
	for start := 0; start+2*n <= len(padded); start += n {
		m.forward(c, padded[start:start+2*n])
		change(c)
		m.add(y[start:start+2*n], c)
	}
	return y[n : n+len(x)]
}
