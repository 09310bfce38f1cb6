package dsp

import "math"

// MFCCOptions are the settings of an [MFCC]. A nil pointer and zero fields mean the
// defaults: those of HTK's MFCC_0 as commonly configured, and of openSMILE's
// MFCC12_0_D_A.
type MFCCOptions struct {
	Filters      int     // triangular filters, evenly spaced in mel; 26
	Coefficients int     // cepstral coefficients, c0 included; 13
	Low, High    float64 // band of the filters in Hz; 0 to 8000, or to half the sampling rate if that is less
	Frame        float64 // length of a frame in seconds; 0.025
	PreEmphasis  float64 // share of the previous sample that is subtracted; 0.97, negative means none
}

// The HTK definition (Young et al., The HTK Book, version 3.4, sections 5.2 to
// 5.4 and 5.6).
const (
	mfccFrame       = 0.025 // s
	mfccPreEmphasis = 0.97
	mfccLifter      = 22
	mfccFullScale   = 32767 // HTK measures 16-bit integers
	mfccFloor       = 1     // of a filter's energy, so that its logarithm is ≥ 0
)

// An MFCC computes mel-frequency cepstral coefficients as HTK does (S. Young et al.,
// The HTK Book, version 3.4, sections 5.2 to 5.4 and 5.6):
//
//   - by default a frame has N = ⌊0.025·sr + ½⌋ samples, and frames are ⌊0.01·sr + ½⌋ apart;
//   - y[0] = 0.03·x[0], y[j] = x[j] − 0.97·x[j−1], within the frame alone;
//   - y is multiplied by a symmetric Hamming window and padded with zeros to the
//     next power of two, and P[k] = |Y[k]|²;
//   - E[m] = 32767²·Σ P[k]·triangle m at bin k, triangles of height 1 on the mel
//     scale 1127·ln(1 + f/700), not normalised by area;
//   - c[i] = √(2/M)·(1 + 11·sin(πi/22))·Σ ln max(E[m], 1)·cos(πi(m + ½)/M) for
//     the M filters m = 0 … M−1: natural logarithm, type II DCT with the same
//     factor for c0 as for the others, liftered.
//
// It owns its scratch, allocates nothing after [NewMFCC], and is not safe for
// concurrent use.
type MFCC struct {
	frameLen, hop int
	emphasis      float64
	window        []float64
	fft           *FFT
	buffer        []float64 // a frame padded with zeros
	power         []float64
	bank          *filterBank
	logs          []float64
	dct           []float64 // column j has the factors of filter j
	coefficients  int
}

// NewMFCC returns an MFCC for samples at sr Hz. It panics if sr or an option is
// impossible: a rate under 400 Hz, a negative number of filters, coefficients or hertz,
// a frame outside 2.5 ms to 1 s, a pre-emphasis above 1, or a band that is empty or
// reaches above half the rate.
func NewMFCC(sr float64, opts *MFCCOptions) *MFCC {
	var o MFCCOptions
	if opts != nil {
		o = *opts
	}
	if !(sr >= 400 && sr <= 1e9) {
		panic("dsp: MFCC at an impossible sampling rate")
	}
	if o.Frame == 0 {
		o.Frame = mfccFrame
	}
	switch {
	case o.PreEmphasis == 0:
		o.PreEmphasis = mfccPreEmphasis
	case o.PreEmphasis < 0:
		o.PreEmphasis = 0
	}
	if o.Filters == 0 {
		o.Filters = 26
	}
	if o.Coefficients == 0 {
		o.Coefficients = NumMFCC
	}
	if o.High == 0 {
		o.High = min(8000, sr/2)
	}
	if o.Filters < 1 || o.Coefficients < 1 || !(o.Frame >= 0.0025 && o.Frame <= 1 && o.PreEmphasis <= 1) || !(o.Low >= 0 && o.Low < o.High && o.High <= sr/2) {
		panic("dsp: MFCC with impossible options")
	}
	m := &MFCC{frameLen: int(o.Frame*sr + 0.5), emphasis: o.PreEmphasis, hop: int(Hop*sr + 0.5), coefficients: o.Coefficients}
	nfft := powerOfTwo(m.frameLen)
	m.window = Hamming(m.frameLen)
	for j := range m.window {
		m.window[j] *= mfccFullScale
	}
	m.fft = NewFFT(nfft).padded(m.frameLen)
	m.buffer = make([]float64, nfft)
	m.bank = newFilterBank(sr, nfft, o.Filters, o.Low, o.High, HzToMel)
	m.power = make([]float64, m.bank.lastBins)
	m.logs = make([]float64, o.Filters)
	m.dct = cosines(o.Coefficients, o.Filters)
	for i := range o.Coefficients {
		lift := math.Sqrt(2/float64(o.Filters)) * (1 + mfccLifter/2*math.Sin(math.Pi*float64(i)/mfccLifter))
		for j := range o.Filters {
			m.dct[j*o.Coefficients+i] *= lift
		}
	}
	return m
}

// FrameLen is the number of samples of a frame, by default ⌊0.025·sr + ½⌋.
func (m *MFCC) FrameLen() int { return m.frameLen }

// HopLen is the number of samples from one frame to the next, ⌊0.01·sr + ½⌋.
func (m *MFCC) HopLen() int { return m.hop }

// FrameCount is the number of whole frames in n samples, the first of which
// starts at sample 0.
func (m *MFCC) FrameCount(n int) int {
	if n < m.frameLen {
		return 0
	}
	return (n-m.frameLen)/m.hop + 1
}

// Coefficients computes the coefficients c[0], c[1], … of one frame of
// FrameLen samples in [-1, 1) into dst and returns it; a nil dst is allocated.
// It panics if dst or frame has another length. The frame is not changed.
// Digital silence gives zeros, a NaN or infinite sample NaN.
func (m *MFCC) Coefficients(dst, frame []float64) []float64 {
	if dst == nil {
		dst = make([]float64, m.coefficients)
	}
	if len(dst) != m.coefficients || len(frame) != m.frameLen {
		panic("dsp: MFCC of a frame or into a slice of the wrong length")
	}
	m.measure(dst, frame, 0)
	return dst
}

// measure computes the coefficients of frame − offset into dst.
func (m *MFCC) measure(dst, frame []float64, offset float64) {
	emphasize(m.buffer, frame, m.window, m.emphasis, (1-m.emphasis)*offset, hasAVX)
	m.fft.Power(m.power, m.buffer)
	m.bank.energies(m.logs, m.power, hasAVX)
	undefined := false
	for j, e := range m.logs {
		if e < mfccFloor {
			m.logs[j] = mfccFloor
		}
		undefined = undefined || !(e <= math.MaxFloat64)
	}
	if undefined {
		for j, e := range m.logs {
			m.logs[j] = math.Log(e)
		}
	} else {
		logs(m.logs, m.logs, hasAVX2)
	}
	combine(dst, m.dct, m.logs, hasAVX)
}

// cosines is the matrix cos(πi(j+½)/n), i < rows, j < n, column by column.
func cosines(rows, n int) []float64 {
	c := make([]float64, rows*n)
	for i := range rows {
		for j := range n {
			c[j*rows+i] = real(UnitRoot(i*(2*j+1), 4*n))
		}
	}
	return c
}

// combine computes dst = A·x for a matrix A of len(dst) rows and len(x) columns, column
// by column. With avx it runs in assembly, which gives the same bits.
func combine(dst, a, x []float64, avx bool) {
	rows, i := len(dst), 0
	if avx && rows >= 8 && len(x) > 0 {
		_ = a[rows*len(x)-1]
		for ; i+8 <= rows; i += 8 {
			combineAVX(&dst[i], &a[i], &x[0], rows, len(x))
		}
		if i < rows { // the last eight, some of them again
			combineAVX(&dst[rows-8], &a[rows-8], &x[0], rows, len(x))
		}
		return
	}
	clear(dst)
	for j, v := range x {
		for i, f := range a[j*rows : (j+1)*rows] {
			dst[i] += f * v
		}
	}
}

// powerOfTwo is the least power of two of at least n and at least 4.
func powerOfTwo(n int) int {
	p := 4
	for p < n {
		p *= 2
	}
	return p
}
