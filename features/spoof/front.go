package spoof

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
)

// The deepfake front end hears every recording alike: at 16 kHz, from 60 to
// 7400 Hz, at one level. Without that a classifier learns which sites publish
// at which rate (confounds of the training data: see DEEPFAKE.md).
const (
	spoofRate = 16000
	spoofLow  = 60.0   // Hz
	spoofHigh = 7400.0 // Hz
	spoofHop  = 160    // samples, 10 ms

	// spoofLevel is the RMS of the active blocks after levelling. Chosen: any
	// value does, for nothing clips in float64.
	spoofLevel = 0.05

	// spoofDither is the standard deviation of the noise added afterwards, 68
	// dB below the active level: digital silence and the rounding of 16 bits
	// are then alike.
	spoofDither = 2e-5

	// activeRange is how far below the 95th percentile of the block powers, in
	// decibels, a block still counts as active.
	activeRange = 30.0
)

// butterworth6 and butterworth4 are the Q of the second-order sections of
// Butterworth filters of order 6 and 4, 1/(2·cos θ) of the pole angles.
var (
	butterworth6 = [...]float64{0.51763809, 0.70710678, 1.93185165}
	butterworth4 = [...]float64{0.54119610, 1.30656296}
)

// frontEnd returns the recording as the deepfake extractor hears it, nil if it
// is silent or shorter than one hop.
func frontEnd(x []float64, rate int) []float64 {
	y := dsp.NewResampler(rate, spoofRate).Resample(nil, bounded(x))
	filtfilt(y, &bandPass)
	rms := activeRMS(y)
	if !(rms > 0) || math.IsInf(rms, 0) {
		return nil
	}
	rng := rand.New(rand.NewPCG(1, 1)) // the same noise for every recording
	for i := range y {
		y[i] = y[i]*(spoofLevel/rms) + spoofDither*rng.NormFloat64()
	}
	return y
}

// bounded returns x if all its samples are numbers within ±16, else a copy in
// which they are: NaN becomes 0.
func bounded(x []float64) []float64 {
	const most = 16 // as dsp.Analyzer: 24 dB above full scale
	for i, v := range x {
		if v >= -most && v <= most {
			continue
		}
		y := slices.Clone(x)
		for j := i; j < len(y); j++ {
			if y[j] = min(max(y[j], -most), most); math.IsNaN(y[j]) {
				y[j] = 0
			}
		}
		return y
	}
	return x
}

// activeRMS is the RMS over the blocks of one hop within activeRange of the
// 95th percentile, 0 if there is no whole block.
func activeRMS(x []float64) float64 {
	power := make([]float64, len(x)/spoofHop)
	for b := range power {
		for _, v := range x[b*spoofHop : (b+1)*spoofHop] {
			power[b] += v * v
		}
	}
	if len(power) == 0 {
		return 0
	}
	floor := dsp.Percentile(power, 95) * math.Pow(10, -activeRange/10)
	active := power[:0]
	for _, p := range power {
		if p >= floor {
			active = append(active, p)
		}
	}
	return math.Sqrt(dsp.Mean(active) / spoofHop)
}

// biquad is a second-order section b/a with a0 = 1.
type biquad struct{ b0, b1, b2, a1, a2 float64 }

// section designs a low or high pass at the frequency f in Hz by the bilinear
// transform with the frequency warped to fit (Bristow-Johnson, Audio EQ
// Cookbook).
func section(f, q float64, high bool) biquad {
	s, c := math.Sincos(2 * math.Pi * f / spoofRate)
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
		c[i] = section(spoofLow, q, true)
	}
	for i, q := range butterworth6 {
		c[len(butterworth4)+i] = section(spoofHigh, q, false)
	}
	return c
}()

// filtfilt filters x in place forwards and backwards, so that the phase is
// zero and the attenuation is twice that of the cascade. One loop goes through
// all sections, for they then run side by side.
func filtfilt(x []float64, cascade *[5]biquad) {
	var z [5][2]float64 // transposed direct form II
	for i, v := range x {
		x[i] = step(v, cascade, &z)
	}
	z = [5][2]float64{}
	for i := len(x) - 1; i >= 0; i-- {
		x[i] = step(x[i], cascade, &z)
	}
}

// step passes one sample through the sections with the states z.
func step(v float64, cascade *[5]biquad, z *[5][2]float64) float64 {
	for s := range cascade {
		q := &cascade[s]
		y := q.b0*v + z[s][0]
		z[s][0] = q.b1*v - q.a1*y + z[s][1]
		z[s][1] = q.b2*v - q.a2*y
		v = y
	}
	return v
}
