package dsp

// A Cepstrum transforms a piece of a log spectrum into quefrency: it says how
// strongly the spectrum ripples, and how finely. Coefficient j belongs to a
// ripple of j/(m·Δf) seconds, with Δf the distance of the bins in Hz and m the
// size of the transform (B. Bogert, M. Healy and J. Tukey, "The quefrency
// alanysis of time series for echoes", 1963: their cepstrum, of a band).
//
//	C[j] = Σ_k h[k]·(L[k] − mean L)·exp(−2πi·jk/m),  h a periodic Hann window
//
// over the n bins L[k] of the band. The mean goes first, so that the level does
// not count; the window keeps the ends of the band from ringing.
//
// A Cepstrum owns its scratch memory, allocates nothing after [NewCepstrum],
// and is not safe for concurrent use.
type Cepstrum struct {
	fft   *FFT
	taper []float64
	y     []float64
}

// NewCepstrum returns a Cepstrum of n bins by a transform of m points. It
// panics unless m is a power of two of at least 4 and 1 ≤ n ≤ m.
func NewCepstrum(n, m int) *Cepstrum {
	if n < 1 || n > m {
		panic("dsp: number of bins out of range")
	}
	return &Cepstrum{fft: NewFFT(m), taper: PeriodicHann(n), y: make([]float64, m)}
}

// Coefficients computes the m/2+1 coefficients of the log spectrum x into dst
// and returns it; a nil dst is allocated. It panics if x has not n bins or dst
// another length. x is not changed.
func (c *Cepstrum) Coefficients(dst []complex128, x []float64) []complex128 {
	if len(x) != len(c.taper) {
		panic("dsp: log spectrum has the wrong length")
	}
	mean := total(x, hasAVX) / float64(len(x))
	shift(c.y[:len(x)], x, mean, hasAVX)
	product(c.y[:len(x)], c.y[:len(x)], c.taper, hasAVX)
	return c.fft.Coefficients(dst, c.y)
}
