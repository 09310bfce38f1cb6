package dsp

// A Cepstrum transforms a band of a log spectrum into quefrency: the strength of
// the spectrum's ripples by their width. Coefficient j is that of the quefrency
// j/(m·Δf) seconds, with Δf the distance of the bins in Hz and m the size of the
// transform. The cepstrum is that of B. Bogert, M. Healy and J. Tukey, "The
// quefrency alanysis of time series for echoes", Proc. Symp. Time Series Analysis,
// 1963, taken of a band.
//
//	C[j] = Σ_k h[k]·(L[k] − mean L)·exp(−2πi·jk/m),  h a periodic Hann window
//
// over the n bins L[k] of the band. The mean is subtracted, so that the level has
// no effect. The window suppresses the ringing of the ends of the band.
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
	return &Cepstrum{fft: NewFFT(m).padded(n), taper: PeriodicHann(n), y: make([]float64, m)}
}

// Coefficients computes the m/2+1 coefficients C[0] … C[m/2] of the n bins x of a
// log spectrum into dst and returns it, in the unit of x; a nil dst is allocated. A
// bin that is NaN or infinite makes all NaN. It panics if x or dst has another
// length. x is not changed.
func (c *Cepstrum) Coefficients(dst []complex128, x []float64) []complex128 {
	if len(x) != len(c.taper) {
		panic("dsp: log spectrum has the wrong length")
	}
	mean := total(x, hasAVX) / float64(len(x))
	shift(c.y[:len(x)], x, mean, hasAVX)
	product(c.y[:len(x)], c.y[:len(x)], c.taper, hasAVX)
	return c.fft.Coefficients(dst, c.y)
}
