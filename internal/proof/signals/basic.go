package signals

import (
	"math"
	"math/rand/v2"
)

// newRand returns the random generator for a seed.
func newRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) // the golden ratio; any fixed stream would do
}

// samples is the number of samples in dur seconds.
func samples(sr, dur float64) int { return int(dur * sr) }

// Tone returns amp·sin(2πft), for dur seconds.
func Tone(sr, f, amp, dur float64) []float64 {
	x := make([]float64, samples(sr, dur))
	for i := range x {
		x[i] = amp * math.Sin(2*math.Pi*f*float64(i)/sr)
	}
	return x
}

// Noise returns white Gaussian noise of expected RMS rms, for dur seconds.
func Noise(sr, rms, dur float64, seed uint64) []float64 {
	r := newRand(seed)
	x := make([]float64, samples(sr, dur))
	for i := range x {
		x[i] = rms * r.NormFloat64()
	}
	return x
}

// Power is the mean square of x, 0 if x is empty.
func Power(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	if len(x) == 0 {
		return 0
	}
	return s / float64(len(x))
}

// AddNoise returns a copy of x plus white Gaussian noise. The power of the noise over all
// samples is exactly snr dB below that of x.
func AddNoise(x []float64, snr float64, seed uint64) []float64 {
	return AddNoiseRef(x, Power(x), 0, len(x), snr, seed)
}

// AddNoiseRef returns a copy of x plus white Gaussian noise. The power of the noise over
// the samples in [from, to) is exactly snr dB below power.
func AddNoiseRef(x []float64, power float64, from, to int, snr float64, seed uint64) []float64 {
	r := newRand(seed)
	z := make([]float64, len(x))
	for i := range z {
		z[i] = r.NormFloat64()
	}
	g := math.Sqrt(power / math.Pow(10, snr/10) / Power(z[from:to]))
	for i, v := range x {
		z[i] = v + g*z[i]
	}
	return z
}

// Normalize scales x in place to a peak magnitude of peak and returns it. Silence stays as
// it is.
func Normalize(x []float64, peak float64) []float64 {
	var m float64
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	if m == 0 {
		return x
	}
	return Scale(x, peak/m)
}

// Scale multiplies x in place by g and returns it.
func Scale(x []float64, g float64) []float64 {
	for i := range x {
		x[i] *= g
	}
	return x
}

// Fade applies raised-cosine ramps of dur seconds to both ends of x, in place,
// and returns it.
func Fade(x []float64, sr, dur float64) []float64 {
	n := min(samples(sr, dur), len(x))
	for i := range n {
		w := 0.5 - 0.5*math.Cos(math.Pi*float64(i)/float64(n))
		x[i] *= w
		x[len(x)-1-i] *= w
	}
	return x
}

// Clip limits x in place to ±limit and returns it.
func Clip(x []float64, limit float64) []float64 {
	for i, v := range x {
		x[i] = min(max(v, -limit), limit)
	}
	return x
}

// Quantize rounds x in place to 16 bits, with triangular dither of one step, and returns it.
// The sample 1 becomes 32767/32768. Digital silence gets no dither.
func Quantize(x []float64, seed uint64) []float64 {
	r := newRand(seed)
	silent := true
	for _, v := range x {
		silent = silent && v == 0
	}
	for i, v := range x {
		y := v * 32767
		if !silent {
			y += r.Float64() - r.Float64()
		}
		x[i] = min(max(math.RoundToEven(y), -32768), 32767) / 32768
	}
	return x
}
