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

	// NoPreEmphasis leaves the pre-emphasis out: then y = x. False: 0.97.
	NoPreEmphasis bool
	// Floor is added to the energy of a filter before the logarithm; 2⁻⁵².
	Floor float64
}

// The defaults of the countermeasure baselines of ASVspoof 2019.
const (
	lfccFloor       = 0x1p-52 // the relative spacing of float64
	lfccPreEmphasis = 0.97
)

// An LFCC computes linear-frequency cepstral coefficients as the countermeasure
// baselines of ASVspoof do (M. Sahidullah, T. Kinnunen and C. Hanilçi, "A
// comparison of features for synthetic speech detection", Interspeech 2015; M.
// Todisco et al., "ASVspoof 2019: future horizons in spoofed and fake audio
// detection", Interspeech 2019). The band is free to choose:
//
//   - y[0] = 0.03·x[0], y[j] = x[j] − 0.97·x[j−1], within the frame alone. The
//     baseline of 2019 filters the whole recording, which differs in y[0] only.
//     That of 2021 has no pre-emphasis, and 70 filters in 30 ms.
//   - y is multiplied by a symmetric Hamming window and padded with zeros, and
//     P[k] = |Y[k]|².
//   - E[m] = Σ P[k]·triangle m at bin k, triangles of height 1 evenly spaced in
//     Hz from Low to High.
//   - c is the orthonormal type II DCT of log10(E[m] + Floor): c0 is multiplied by
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
	emphasis     float64
	floor        float64
}

// NewLFCC returns an LFCC for samples at sr Hz. It panics if sr or an option is
// impossible: a rate under 400 Hz, a negative number, an FFT shorter than the
// frame or not of a power of two, or a band that is empty or reaches above half
// the rate.
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
	if o.Floor == 0 {
		o.Floor = lfccFloor
	}
	if !(o.Floor > 0) || math.IsInf(o.Floor, 0) {
		panic("dsp: LFCC with impossible options")
	}
	l := &LFCC{floor: o.Floor, window: Hamming(n), fft: NewFFT(o.FFTLen).padded(n), buffer: make([]float64, o.FFTLen), coefficients: o.Coefficients}
	if !o.NoPreEmphasis {
		l.emphasis = lfccPreEmphasis
	}
	l.bank = newFilterBank(sr, o.FFTLen, o.Filters, o.Low, o.High, func(f float64) float64 { return f })
	l.power = make([]float64, l.bank.lastBins)
	l.logs = make([]float64, o.Filters)
	l.dct = cosines(o.Coefficients, o.Filters)
	for i := range l.dct {
		scale := 2.0
		if i%o.Coefficients == 0 {
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
	if l.emphasis == 0 {
		product(l.buffer, frame, l.window, hasAVX)
	} else {
		emphasize(l.buffer, frame, l.window, l.emphasis, 0, hasAVX)
	}
	l.fft.Power(l.power, l.buffer)
	l.bank.energies(l.logs, l.power, hasAVX)
	l.logarithms()
	combine(dst, l.dct, l.logs, hasAVX)
	return dst
}

// logarithms replaces the energies in logs by log10(E[m] + Floor).
func (l *LFCC) logarithms() {
	usual := true // all are numbers that logs takes
	for j, e := range l.logs {
		e += l.floor
		l.logs[j] = e
		usual = usual && e >= leastNormal && e <= math.MaxFloat64
	}
	if !usual {
		for j, e := range l.logs {
			l.logs[j] = math.Log10(e)
		}
		return
	}
	logs(l.logs, l.logs, hasAVX2)
	for j := range l.logs {
		l.logs[j] *= 1 / math.Ln10
	}
}

// LogEnergies returns log10(E[m] + Floor) of the filters of the latest frame, in
// ascending order of frequency. They are valid until the next call of
// [LFCC.Coefficients] and must not be changed.
func (l *LFCC) LogEnergies() []float64 { return l.logs }

// Spectrum returns the power spectrum P[0], P[1], … of the latest frame up to the
// last bin that a filter reads. Bin k is at k·sr/FFTLen Hz. The spectrum is valid
// until the next call of [LFCC.Coefficients] and must not be changed.
func (l *LFCC) Spectrum() []float64 { return l.power }
