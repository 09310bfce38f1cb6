package dsp

import "math"

// LFCCOptions are the settings of an [LFCC]. A nil pointer and zero fields
// mean the defaults.
type LFCCOptions struct {
	Filters      int     // triangular filters, evenly spaced in Hz; 20
	Coefficients int     // cepstral coefficients, c0 included; 20
	Low, High    float64 // band of the filters in Hz; 0 to half the sampling rate
	Frame        float64 // length of a frame in seconds; 0.020
	FFTLen       int     // FFT length, a power of two of at least the frame; the next, but at least 512
}

// lfccFloor is added to a filter's energy before the logarithm: the relative
// spacing of float64, as the baselines of ASVspoof have it.
const lfccFloor = 0x1p-52

// lfccPreEmphasis is as in the baselines of ASVspoof.
const lfccPreEmphasis = 0.97

// An LFCC computes linear-frequency cepstral coefficients in the manner of the
// countermeasure baselines of ASVspoof (Sahidullah, Kinnunen and Hanilçi, 2015,
// A comparison of features for synthetic speech detection, Interspeech;
// Todisco et al., 2019, ASVspoof 2019), whose band here is free to choose:
//
//   - y[0] = 0.03·x[0], y[j] = x[j] − 0.97·x[j−1], within the frame alone (the
//     baseline of 2019 filters the whole recording: this differs in y[0] only;
//     that of 2021 does without, and has 70 filters in 30 ms);
//   - y is multiplied by a symmetric Hamming window and padded with zeros, and
//     P[k] = |Y[k]|²;
//   - E[m] = Σ P[k]·triangle m at bin k, triangles of height 1 evenly spaced in
//     Hz from Low to High;
//   - c is the orthonormal type II DCT of log10(E[m] + 2⁻⁵²): c0 is multiplied by
//     √(1/M), the others by √(2/M), for the M filters.
//
// It owns its scratch, allocates nothing after [NewLFCC], and is not safe for
// concurrent use.
type LFCC struct {
	window       []float64
	fft          *FFT
	buffer       []float64 // a frame padded with zeros
	power        []float64
	bank         *filterBank
	logs         []float64
	dct          []float64
	coefficients int
}

// NewLFCC returns an LFCC for samples at sr Hz. It panics if sr or an option
// makes no sense: a rate under 400 Hz, a negative number, an FFT shorter than
// the frame or not of a power of two, or a band that is empty or reaches above
// half the rate.
func NewLFCC(sr float64, opts *LFCCOptions) *LFCC {
	var o LFCCOptions
	if opts != nil {
		o = *opts
	}
	if !(sr >= 400 && sr <= 1e9) {
		panic("dsp: LFCC at an impossible sampling rate")
	}
	if o.Filters == 0 {
		o.Filters = 20
	}
	if o.Coefficients == 0 {
		o.Coefficients = 20
	}
	if o.High == 0 {
		o.High = sr / 2
	}
	if o.Frame == 0 {
		o.Frame = 0.020
	}
	n := int(o.Frame*sr + 0.5)
	if o.FFTLen == 0 {
		o.FFTLen = max(powerOfTwo(n), 512)
	}
	if o.Filters < 1 || o.Coefficients < 1 || !(o.Low >= 0 && o.Low < o.High && o.High <= sr/2) ||
		!(o.Frame > 0 && o.Frame <= 1) || n < 2 || o.FFTLen < n {
		panic("dsp: LFCC with impossible options")
	}
	l := &LFCC{window: Hamming(n), fft: NewFFT(o.FFTLen), buffer: make([]float64, o.FFTLen), coefficients: o.Coefficients}
	l.bank = newFilterBank(sr, o.FFTLen, o.Filters, o.Low, o.High, func(f float64) float64 { return f })
	l.power = make([]float64, l.bank.lastBins)
	l.logs = make([]float64, o.Filters)
	l.dct = cosines(o.Coefficients, o.Filters)
	for i := range l.dct {
		scale := 2.0
		if i < o.Filters {
			scale = 1
		}
		l.dct[i] *= math.Sqrt(scale / float64(o.Filters))
	}
	return l
}

// FrameLen is the number of samples of a frame.
func (l *LFCC) FrameLen() int { return len(l.window) }

// Coefficients computes the coefficients c[0], c[1], … of one frame of
// FrameLen samples in [-1, 1) into dst and returns it; a nil dst is allocated.
// It panics if dst or frame has another length. The frame is not changed.
// A NaN or infinite sample gives NaN.
func (l *LFCC) Coefficients(dst, frame []float64) []float64 {
	if dst == nil {
		dst = make([]float64, l.coefficients)
	}
	if len(dst) != l.coefficients || len(frame) != len(l.window) {
		panic("dsp: LFCC of a frame or into a slice of the wrong length")
	}
	emphasize(l.buffer, frame, l.window, lfccPreEmphasis, hasAVX)
	l.fft.Power(l.power, l.buffer)
	l.bank.energies(l.logs, l.power)
	for j, e := range l.logs {
		l.logs[j] = math.Log10(e + lfccFloor)
	}
	multiply(dst, l.dct, l.logs)
	return dst
}
