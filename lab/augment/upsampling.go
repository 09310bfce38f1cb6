package augment

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
)

// upsampling leaves in the recording what the layers of a neural vocoder that
// raise the rate leave (Pons et al. 2021), one or more of: tones at multiples of
// the rates of its layers, images of the band below, a gain that repeats from
// hop to hop, and phases of the upper band that follow no pulse.
func upsampling(x []float64, rate int, rng *rand.Rand) []float64 {
	hop := []int{128, 200, 256, 256, 300, 320}[rng.IntN(6)]
	y := slices.Clone(x)
	changed := false
	for !changed {
		if rng.IntN(3) == 0 {
			addTones(y, hop, rng)
			changed = true
		}
		if rng.IntN(3) == 0 {
			y = images(y, rate, rng)
			changed = true
		}
		if rng.IntN(3) == 0 {
			repeatGain(y, hop, rng)
			changed = true
		}
		if rng.IntN(2) == 0 {
			y = looseHighBand(y, rate, rng)
			changed = true
		}
	}
	return y
}

// addTones adds tones at multiples of 1/stride of the rate, where the stride is
// a part of the hop, that follow the envelope of x 30 to 50 dB below it.
func addTones(x []float64, hop int, rng *rand.Rand) {
	stride := hop
	for stride > 24 {
		stride /= []int{2, 4, 8}[rng.IntN(3)]
	}
	stride = max(stride, 2)
	gain := math.Pow(10, -(30+20*rng.Float64())/20)
	pattern := make([]float64, stride)
	for i := range pattern {
		pattern[i] = gain * rng.NormFloat64()
	}
	constant := rng.IntN(2) == 0 // a bias of the layer rather than its gain
	level, mean := 0.0, math.Sqrt(energy(x)/float64(max(len(x), 1)))
	for i, v := range x {
		level += 0.005 * (math.Abs(v) - level)
		l := level
		if constant {
			l = 0.3 * mean
		}
		x[i] += l * pattern[i%stride]
	}
}

// repeatGain multiplies x by a gain that repeats every hop: ±1 to 6 %.
func repeatGain(x []float64, hop int, rng *rand.Rand) {
	depth := 0.01 + 0.05*rng.Float64()
	pattern := colouredNoise(hop, 0.9, rng)
	scale := depth / math.Sqrt(energy(pattern)/float64(hop))
	for i := range x {
		x[i] *= 1 + scale*pattern[i%hop]
	}
}

// images adds the mirror of the spectrum at a half or a quarter of the rate, 20
// to 45 dB below: samples put between zeros, and a filter that is too wide.
func images(x []float64, rate int, rng *rand.Rand) []float64 {
	factor := 2 + 2*rng.IntN(2)
	if rate/factor < dsp.MinResampleRate {
		factor = 2
	}
	if rate/factor < dsp.MinResampleRate {
		return x
	}
	gain := math.Pow(10, -(20+25*rng.Float64())/20)
	low := dsp.NewResampler(rate, rate/factor).Resample(nil, x)
	y := slices.Clone(x)
	for i, v := range low {
		for j := range factor {
			if n := i*factor + j; n < len(y) {
				if j == 0 {
					y[n] += gain * v * float64(factor-1)
				} else {
					y[n] -= gain * v
				}
			}
		}
	}
	return y
}

// looseHighBand turns the phases above 2 to 5 kHz by random amounts that change
// from frame to frame.
func looseHighBand(x []float64, rate int, rng *rand.Rand) []float64 {
	s := newSTFT(powerOfTwo(0.016, rate))
	from := 2000 + 3000*rng.Float64()
	depth := 0.5 + rng.Float64()
	frames := s.frames(x)
	for _, f := range frames {
		for k := range f {
			hz := float64(k*rate) / float64(s.n)
			if over := min(max((hz-from)/1000, 0), 1); over > 0 {
				f[k] *= cmplx.Rect(1, over*depth*rng.NormFloat64())
			}
		}
	}
	return s.signal(frames, len(x))
}
