package spoof

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
)

// The front end brings every recording to the same form: 16 kHz, 60 to 7400 Hz,
// one level. Otherwise a classifier learns which sites publish at which rate: a
// confound of the training data (see DEEPFAKE.md).
const (
	rateHz   = 16000
	bandLow  = 60.0   // Hz
	bandHigh = 7400.0 // Hz
	hopLen   = 160    // samples, 10 ms

	// frontLevel is the RMS of the active blocks after levelling. Chosen; its
	// value only fixes what the floors of the families are relative to.
	frontLevel = 0.05

	// frontDither is the standard deviation of the noise added afterwards, 68
	// dB below the active level. It covers the rounding to 16 bits, which
	// digital silence does not have.
	frontDither = 2e-5

	// frontRange is how many decibels an active block may lie below the 95th
	// percentile of the block powers.
	frontRange = 30.0

	// frontLimit is the largest magnitude of a sample, that of [dsp.Analyzer]:
	// 24 dB above full scale.
	frontLimit = 16
)

// A front brings recordings to the form that is measured.
type front struct {
	rate      int // that of resampler, in Hz
	resampler *dsp.Resampler
	clean     []float64 // samples that had to be changed
	y         []float64 // the result
	blocks    activity
	dither    []float64 // the noise of every recording, as far as one needed it
	next      *rand.Rand
}

func newFront() *front { return &front{next: rand.New(rand.NewPCG(1, 1))} }

// prepare returns x in the form that is measured, an empty slice if x is silent
// or shorter than one hop. The result is valid until the next call.
func (f *front) prepare(x []float64, rate int) []float64 {
	if f.resampler == nil || f.rate != rate {
		f.resampler, f.rate = dsp.NewResampler(rate, rateHz), rate
	}
	f.y = f.resampler.Resample(f.y, f.bounded(x))
	filtfilt(f.y, &bandPass, hasAVX2)
	rms := f.activeRMS(f.y)
	if !(rms > 0) || math.IsInf(rms, 0) {
		return nil
	}
	f.dither = slices.Grow(f.dither, max(len(f.y)-len(f.dither), 0))
	for len(f.dither) < len(f.y) {
		f.dither = append(f.dither, frontDither*f.next.NormFloat64())
	}
	gain, y := frontLevel/rms, f.y
	for i, d := range f.dither[:len(y)] {
		y[i] = y[i]*gain + d
	}
	return y
}

// bounded returns x if all its samples are numbers within ±frontLimit, else a
// copy in which they are: NaN becomes 0.
func (f *front) bounded(x []float64) []float64 {
	if dsp.Peak(x) <= frontLimit && !math.IsNaN(dsp.Sum(x)) {
		return x
	}
	y := append(f.clean[:0], x...)
	f.clean = y
	for i, v := range y {
		if y[i] = min(max(v, -frontLimit), frontLimit); math.IsNaN(v) {
			y[i] = 0
		}
	}
	return y
}

// activeRMS is the RMS over the blocks of one hop within frontRange of the
// 95th percentile, NaN if there is no whole block.
func (f *front) activeRMS(x []float64) float64 {
	f.blocks.reset(len(x) / hopLen)
	for b := range f.blocks.power {
		block := x[b*hopLen : (b+1)*hopLen]
		f.blocks.power[b] = dsp.Dot(block, block)
	}
	floor := f.blocks.percentile95() * math.Pow(10, -frontRange/10)
	var sum, n float64
	for _, p := range f.blocks.power {
		if p >= floor {
			sum += p
			n++
		}
	}
	return math.Sqrt(sum / n / hopLen) // 0/0 is NaN
}

// butterworth6 and butterworth4 are the Q of the second-order sections of
// Butterworth filters of order 6 and 4, 1/(2·cos θ) of the pole angles.
var (
	butterworth6 = [...]float64{0.51763809, 0.70710678, 1.93185165}
	butterworth4 = [...]float64{0.54119610, 1.30656296}
)

// biquad is a second-order section b/a with a0 = 1.
type biquad struct{ b0, b1, b2, a1, a2 float64 }

// section designs a low or high pass at the frequency f in Hz by the bilinear
// transform with the frequency warped to fit (R. Bristow-Johnson, "Cookbook
// formulae for audio EQ biquad filter coefficients").
func section(f, q float64, high bool) biquad {
	s, c := math.Sincos(2 * math.Pi * f / rateHz)
	alpha := s / (2 * q)
	a0 := 1 + alpha
	edge := (1 - c) / 2
	sign := 1.0
	if high {
		edge, sign = (1+c)/2, -1
	}
	return biquad{edge / a0, sign * 2 * edge / a0, edge / a0, -2 * c / a0, (1 - alpha) / a0}
}

// bandPass is the cascade of the sections that limit the band.
var bandPass = func() (c [5]biquad) {
	for i, q := range butterworth4 {
		c[i] = section(bandLow, q, true)
	}
	for i, q := range butterworth6 {
		c[len(butterworth4)+i] = section(bandHigh, q, false)
	}
	return c
}()
