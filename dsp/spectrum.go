package dsp

import "math"

// spectrumFrame is the length of the frames whose spectral measures are taken,
// at [SampleRate]: 23.2 ms, the power of two nearest to the 20 ms of GeMAPS.
const spectrumFrame = 1024

// The bands of the spectral measures in Hz. Slopes, alpha ratio and Hammarberg
// index are those of GeMAPS (Eyben et al., 2016, section 3.1).
const (
	slopeLow, slopeMid, slopeHigh         = 0, 500, 1500
	alphaLow, alphaMid, alphaHigh         = 50, 1000, 5000
	hammarbergMid, hammarbergHigh         = 2000, 5000
	flatnessLow, flatnessHigh             = 50, 5000 // chosen: the band that every usual recording has
	rolloffShare                          = 0.85
	silentPower                           = 1e-24 // of the power of the mean: the rest of a constant by rounding
	decibel                       float64 = 10
)

// A spectrometer takes the spectral measures of successive frames.
//
// The mean Σwx/Σw is subtracted from the frame, so that an offset has no effect, and
// the frame is multiplied by a periodic Hann window w. With P[k] its power spectrum
// and f[k] = k·sr/N, over all bins but 0:
//
//	centroid    Σ f·P / Σ P
//	roll-off    the frequency below which 85 % of Σ P lies, with the power of
//	            bin k spread evenly over f[k] ± sr/2N
//	flux        √Σ (a[k] − a′[k])², a = √P / √ΣP and a′ of the previous frame
//	            (Tzanetakis and Cook, 2002, on magnitudes)
//	flatness    geometric over arithmetic mean of P in 50 to 5000 Hz; a wider
//	            band would measure the bandwidth of the recording
//	slopes      least-squares slope of 10·log10 P over 0 to 500 and 500 to 1500 Hz
//	alpha       10·log10 of Σ P in 50 to 1000 Hz over Σ P in 1 to 5 kHz
//	Hammarberg  10·log10 of max P in 0 to 2 kHz over max P in 2 to 5 kHz
type spectrometer struct {
	hz          float64 // from bin to bin
	window      []float64
	windowSum   float64
	fft         *FFT
	frame       []float64
	power       []float64
	total       float64   // Σ P
	moment      float64   // Σ k·P[k]
	magnitude   []float64 // of the previous frame, of unit norm
	hasPrevious bool      // whether magnitude is valid
	first       bool
}

// newSpectrometer returns a spectrometer for frames of n samples, a power of two
// of at least 4, at sr Hz.
func newSpectrometer(sr float64, n int) *spectrometer {
	s := &spectrometer{
		hz:        sr / float64(n),
		window:    PeriodicHann(n),
		fft:       NewFFT(n),
		frame:     make([]float64, n),
		power:     make([]float64, n/2+1),
		magnitude: make([]float64, n/2+1),
		first:     true,
	}
	s.windowSum = sum(s.window)
	return s
}

// reset makes the next frame the first.
func (s *spectrometer) reset() { s.first, s.hasPrevious = true, false }

// analyze fills s.power and s.total from a frame x, which may be s.frame, and reports
// whether the frame has power. It overwrites s.frame.
func (s *spectrometer) analyze(x []float64) bool {
	weighted := dotProduct(x, s.window, hasAVX)
	taper(s.frame, x, s.window, weighted/s.windowSum, hasAVX)
	s.fft.Power(s.power, s.frame)
	s.power[0] = 0
	s.total, s.moment = moments(s.power, hasAVX)
	return s.total > silentPower*weighted*weighted
}

// band is the range lo ≤ k < hi of the bins with low < f[k] ≤ high, without 0.
func (s *spectrometer) band(low, high float64) (lo, hi int) {
	lo = max(int(low/s.hz), 0) + 1
	hi = min(int(high/s.hz)+1, len(s.power))
	return min(lo, hi), hi
}

// measure returns the measures of the frame that analyze handled last. silent is
// whether that frame has no power.
func (s *spectrometer) measure(silent bool) Spectrum {
	first := s.first
	s.first = false
	if silent {
		s.hasPrevious = false
		return noSpectrum
	}
	var m Spectrum
	m.Centroid = s.moment / s.total * s.hz
	m.Rolloff85 = s.rolloff(rolloffShare * s.total)
	m.Flux = s.flux(1 / math.Sqrt(s.total))
	switch {
	case first:
		m.Flux = 0
	case !s.hasPrevious:
		m.Flux = math.NaN()
	}
	s.hasPrevious = true
	m.Flatness = s.flatness(s.band(flatnessLow, flatnessHigh))
	m.Slope500 = s.slope(s.band(slopeLow, slopeMid))
	m.Slope1500 = s.slope(s.band(slopeMid, slopeHigh))
	low := total(s.bins(s.band(alphaLow, alphaMid)), hasAVX)
	high := total(s.bins(s.band(alphaMid, alphaHigh)), hasAVX)
	m.Alpha = ratioDB(low, high)
	low = highest(s.bins(s.band(0, hammarbergMid)), allBits, hasAVX)
	high = highest(s.bins(s.band(hammarbergMid, hammarbergHigh)), allBits, hasAVX)
	m.Hammarberg = ratioDB(low, high)
	return m
}

func (s *spectrometer) bins(lo, hi int) []float64 { return s.power[lo:hi] }

// rolloff is the frequency below which the power is share.
func (s *spectrometer) rolloff(share float64) float64 {
	var below float64
	start := 0
	for block := 16; start+block <= len(s.power); start += block {
		sum := total(s.power[start:start+block], hasAVX)
		if below+sum >= share {
			break
		}
		below += sum
	}
	for i, p := range s.power[start:] {
		k := start + i
		if below+p >= share && p > 0 {
			return (float64(k) - 0.5 + (share-below)/p) * s.hz
		}
		below += p
	}
	return float64(len(s.power)-1) * s.hz
}

// flux returns the distance of the frame's magnitudes, times scale, to those of the
// previous frame, and keeps them.
func (s *spectrometer) flux(scale float64) float64 {
	return math.Sqrt(distance(s.magnitude, s.power, scale, hasAVX))
}

// flatness is the geometric over the arithmetic mean of the bins lo to hi−1.
func (s *spectrometer) flatness(lo, hi int) float64 {
	p := s.power[lo:hi]
	n := float64(len(p))
	all := total(p, hasAVX)
	if !(all > 0) {
		return math.NaN()
	}
	return math.Exp(sumLog(p)/n) / (all / n)
}

// sumLog is Σ ln p[k] for p ≥ 0, −Inf if one of them is 0. It multiplies the
// mantissas and adds the exponents, so that it needs one logarithm per block.
func sumLog(p []float64) float64 {
	const (
		mantissa = 1<<52 - 1
		one      = 1023 << 52 // the exponent of [1, 2)
		block    = 512        // mantissas below 2 multiply to less than 2⁵¹²
	)
	exponent, s := 0, 0.0
	for len(p) > 0 {
		part := p[:min(len(p), block)]
		p = p[len(part):]
		product := 1.0
		for _, v := range part {
			bits := math.Float64bits(v)
			if bits < 1<<52 { // 0 or subnormal
				s += math.Log(v)
				continue
			}
			exponent += int(bits>>52) - 1023
			product *= math.Float64frombits(bits&mantissa | one)
		}
		s += math.Log(product)
	}
	return s + float64(exponent)*math.Ln2
}

// slope is the slope in dB per Hz of the regression of 10·log10 P on f over the
// bins lo to hi−1.
func (s *spectrometer) slope(lo, hi int) float64 {
	slope, _ := logRegression(s.power[lo:hi])
	return slope * (decibel / math.Ln10) / s.hz
}

// logRegression is the regression line of ln p[k] on k, by its slope and its
// value in the middle, which is the mean; NaN if one of p is 0, or there are
// fewer than two.
//
// Like sumLog it needs few logarithms. With S the product of the mantissas from the
// last one down to k, the product of all S contains mantissa k k+1 times.
func logRegression(p []float64) (slope, middle float64) {
	const (
		mantissa = 1<<52 - 1
		one      = 1023 << 52 // the exponent of [1, 2)
		block    = 30         // mantissas below 2, so that T is below 2⁴⁶⁵
	)
	n := len(p)
	var exponents, moments int // Σ e[k] and Σ k·e[k]
	var y, ky float64          // the same of the logarithms of the mantissas
	for lo := 0; lo < n; lo += block {
		part := p[lo:min(lo+block, n)]
		S, T := 1.0, 1.0
		for k := len(part) - 1; k >= 0; k-- {
			bits, e := math.Float64bits(part[k]), -1023
			if bits-1 >= 0x7ff<<52-1 { // 0, infinite, NaN or negative
				return math.NaN(), math.NaN()
			}
			if bits < 1<<52 { // subnormal
				bits, e = math.Float64bits(part[k]*0x1p52), e-52
			}
			e += int(bits >> 52)
			exponents += e
			moments += (lo + k) * e
			S *= math.Float64frombits(bits&mantissa | one)
			T *= S
		}
		v := math.Log(S)
		y += v
		ky += math.Log(T) + float64(lo-1)*v
	}
	if n < 2 {
		return math.NaN(), math.NaN()
	}
	N := float64(n)
	centre := (N - 1) / 2
	middle = (y + float64(exponents)*math.Ln2) / N
	sxy := ky - centre*y + (float64(moments)-centre*float64(exponents))*math.Ln2
	return sxy / (N * (N*N - 1) / 12), middle
}

// ratioDB is 10·log10(a/b), NaN if either is not positive.
func ratioDB(a, b float64) float64 {
	if !(a > 0 && b > 0) {
		return math.NaN()
	}
	return decibel * math.Log10(a/b)
}
