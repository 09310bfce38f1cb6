package fit

import (
	"math"
	"math/rand/v2"

	"github.com/voicescreen/voicescreen/dsp"
)

// channel passes x, mono at rate Hz, through one random recording channel:
// always a tilt, for one recording in three a band limit, and one of noise, a
// small room, a telephone line (8 kHz, µ-law) or nothing. Training hears both
// classes through the same channels, so that no channel means either. The
// ranges are chosen to cover what recordings from the web and from telephones
// have. Low-rate codecs are missing: they need external programs.
func channel(x []float64, rate int, rng *rand.Rand) []float64 {
	tilt := rng.Float64()*0.7 - 0.35 // of 1 − tilt·z⁻¹: ±3 to 6 dB from one end to the other
	edge := math.Inf(1)
	if rng.Float64() < 0.35 {
		edge = []float64{3400, 4000, 5500, 7000}[rng.IntN(4)]
	}
	kind := rng.Float64()
	var room []float64
	if kind < 0.25 {
		room = roomTail(rate, rng)
	}
	y := filtered(x, rate, tilt, edge, room)
	switch {
	case kind < 0.25: // the room
	case kind < 0.65:
		addNoise(y, rng)
	case kind < 0.85 && rate >= dsp.MinResampleRate && rate <= dsp.MaxResampleRate:
		y = telephone(y, rate)
	}
	return y
}

// filtered applies the tilt, a Butterworth magnitude of order 8 at the edge
// and a room, all in the spectrum of the whole recording.
func filtered(x []float64, rate int, tilt, edge float64, room []float64) []float64 {
	n := 4
	for n < len(x)+len(room) {
		n *= 2
	}
	fft := dsp.NewFFT(n)
	buf := make([]float64, n)
	copy(buf, x)
	spectrum := fft.Coefficients(nil, buf)
	var tail []complex128
	if room != nil {
		clear(buf)
		copy(buf, room)
		tail = fft.Coefficients(nil, buf)
	}
	for k := range spectrum {
		w := 2 * math.Pi * float64(k) / float64(n)
		f := w / (2 * math.Pi) * float64(rate)
		h := complex(1-tilt*math.Cos(w), tilt*math.Sin(w))
		h *= complex(1/math.Sqrt(1+math.Pow(f/edge, 16)), 0)
		if tail != nil {
			h *= 1 + tail[k]
		}
		spectrum[k] *= h
	}
	return fft.Sequence(buf, spectrum)[:len(x)]
}

// roomTail is the reverberation of a small room: noise that decays by 60 dB in
// 93 to 350 ms, 6 to 16 dB below the direct sound.
func roomTail(rate int, rng *rand.Rand) []float64 {
	n := int(float64(rate) * (0.08 + 0.22*rng.Float64()))
	gain := 0.15 + 0.35*rng.Float64()
	h := make([]float64, n)
	var energy float64
	for i := 1; i < n; i++ {
		h[i] = rng.NormFloat64() * math.Exp(-6*float64(i)/float64(n))
		energy += h[i] * h[i]
	}
	for i := range h {
		h[i] *= gain / math.Sqrt(energy)
	}
	return h
}

// addNoise adds first-order low-pass noise 12 to 35 dB below the recording.
func addNoise(x []float64, rng *rand.Rand) {
	pole, level := 0.95*rng.Float64(), -(12 + 23*rng.Float64())
	noise := make([]float64, len(x))
	var last, signal, power float64
	for i := range noise {
		last = pole*last + rng.NormFloat64()
		noise[i] = last
		power += last * last
		signal += x[i] * x[i]
	}
	gain := math.Sqrt(signal/power) * math.Pow(10, level/20)
	for i := range x {
		x[i] += gain * noise[i]
	}
}

// telephone passes x through 8 kHz and 8 bits of µ-law (ITU-T G.711, by its
// formula), at a peak of 0.7.
func telephone(x []float64, rate int) []float64 {
	const line, mu = 8000, 255
	y := dsp.NewResampler(rate, line).Resample(nil, x)
	peak := 1e-9
	for _, v := range y {
		peak = max(peak, math.Abs(v))
	}
	for i, v := range y {
		c := math.Log1p(mu*math.Abs(v)/peak*0.7) / math.Log1p(mu)
		c = math.Round(c*127) / 127
		y[i] = math.Copysign(math.Expm1(c*math.Log1p(mu))/mu*peak/0.7, v)
	}
	return dsp.NewResampler(line, rate).Resample(nil, y)[:len(x)]
}
