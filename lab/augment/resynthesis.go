package augment

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/voicescreen/voicescreen/dsp"
)

// world takes the voice apart and puts it together again with the pulses of
// WORLD, pitch and formants as they were or moved.
func world(x []float64, rate int, rng *rand.Rand) []float64 {
	v := newVocoder(x, rate)
	v.vary(rng)
	return v.pulses(len(x), true, rng)
}

// sinusoidal does the same with harmonic sinusoids and noise (Stylianou 2001).
func sinusoidal(x []float64, rate int, rng *rand.Rand) []float64 {
	v := newVocoder(x, rate)
	v.vary(rng)
	y := v.harmonics(len(x), rng.Float64())
	for i, w := range v.pulses(len(x), false, rng) {
		y[i] += w
	}
	return y
}

// vary moves the pitch in one of two cases and the formants in one of three,
// and in one of three each smooths pitch and envelope, as statistical
// synthesis does, or takes noise out of the voice.
func (v *vocoder) vary(rng *rand.Rand) {
	factor, clean := 1.0, 1.0
	if rng.IntN(2) == 0 {
		factor = semitones(1, 6, rng)
	}
	if rng.IntN(3) == 0 {
		v.warp(semitones(1, 3, rng))
	}
	if rng.IntN(3) == 0 {
		v.smoothPitch(2 + rng.IntN(8))
		v.smoothEnvelope(1 + rng.IntN(3))
	}
	if rng.IntN(3) == 0 {
		clean = rng.Float64()
	}
	for t := range v.f0 {
		if v.f0[t] == 0 {
			continue
		}
		v.f0[t] *= factor
		for b := range v.noise[t] {
			v.noise[t][b] *= clean
		}
	}
}

// smoothPitch replaces the pitch by its mean over ±reach voiced frames.
func (v *vocoder) smoothPitch(reach int) {
	old := slices.Clone(v.f0)
	for i, f := range old {
		var sum, n float64
		for _, g := range old[max(i-reach, 0):min(i+reach+1, len(old))] {
			if g > 0 {
				sum += g
				n++
			}
		}
		if f > 0 {
			v.f0[i] = sum / n
		}
	}
}

// smoothEnvelope replaces the envelopes by their means over ±reach frames.
func (v *vocoder) smoothEnvelope(reach int) {
	old := v.envelope
	v.envelope = make([][]float64, len(old))
	for i := range old {
		near := old[max(i-reach, 0):min(i+reach+1, len(old))]
		mean := make([]float64, len(old[i]))
		for _, e := range near {
			for k, l := range e {
				mean[k] += l / float64(len(near))
			}
		}
		v.envelope[i] = mean
	}
}

// harmonics synthesises n samples of the periodic part as sinusoids at the
// multiples of the pitch, whose amplitudes follow the envelope. The kth starts
// at dispersion·k² radians: with 0 they are pulses.
func (v *vocoder) harmonics(n int, dispersion float64) []float64 {
	y := make([]float64, n)
	cycles := 0.0 // of the fundamental
	step := int(v.hop)
	for t := 0; t+1 < len(v.f0) && t*step < n; t++ {
		a, b := v.f0[t], v.f0[t+1]
		if a == 0 && b == 0 {
			continue
		}
		a, b = positiveOr(a, b), positiveOr(b, a)
		for k := 1; float64(k)*max(a, b) < 0.5*float64(v.rate); k++ {
			h := float64(k)
			from, to := v.amplitude(t, h*a), v.amplitude(t+1, h*b)
			for s := t * step; s < min((t+1)*step, n); s++ {
				u := float64(s-t*step) / float64(step)
				c := cycles + v.hop/float64(v.rate)*(a*u+(b-a)*u*u/2)
				y[s] += ((1-u)*from + u*to) * math.Cos(2*math.Pi*h*c+dispersion*h*h)
			}
		}
		_, cycles = math.Modf(cycles + (a+b)/2*v.hop/float64(v.rate))
	}
	return y
}

// amplitude is that of the periodic part of frame t at f Hz, of a harmonic
// that stands for a band as wide as the pitch; 0 where unvoiced.
func (v *vocoder) amplitude(t int, f float64) float64 {
	if v.f0[t] == 0 {
		return 0
	}
	k := min(int(f*float64(v.n)/float64(v.rate)+0.5), v.n/2)
	p, _ := v.shares(t, k)
	return 2 * p * math.Sqrt(math.Exp(v.envelope[t][k])*v.f0[t]/float64(v.rate))
}

// linearPrediction is the vocoder of old: a predictor every 10 ms, excited by
// pulses at the pitch or by noise. In one of three cases it is a formant
// synthesiser's: few poles that move slowly, a pitch that does too, and pulses
// that fall by 6 dB an octave.
func linearPrediction(x []float64, rate int, rng *rand.Rand) []float64 {
	order := rate/1000 + rng.IntN(9) - 2
	stylised := rng.IntN(3) == 0
	mix := 0.0 // noise in voiced frames
	if rng.IntN(2) == 0 {
		mix = 0.3 * rng.Float64()
	}
	v := &vocoder{rate: rate, hop: dsp.Hop * float64(rate), f0: dsp.NewPitch(float64(rate), &dsp.PitchOptions{Strict: true}).Track(nil, x)}
	reach := 0
	if stylised {
		order = min(order, rate/2000+4)
		v.smoothPitch(8)
		reach = 3
	}
	if rng.IntN(3) == 0 {
		factor := semitones(1, 6, rng)
		for i := range v.f0 {
			v.f0[i] *= factor
		}
	}
	k, level := reflections(x, rate, order, len(v.f0), reach)
	y := make([]float64, len(x))
	next, low := 0.0, 0.0
	for n := range y {
		t := min(int(float64(n)/v.hop+0.5), len(v.f0)-1)
		e := rng.NormFloat64()
		if f := v.f0[t]; f > 0 {
			e *= mix
			if float64(n) >= next {
				period := float64(rate) / f
				e += math.Sqrt(period * (1 - mix*mix))
				next = float64(n) + period
			}
			if stylised {
				low += 0.3 * (e - low)
				e = 2 * low
			}
		} else {
			next = float64(n)
		}
		s := e * level[t]
		for i, a := range k[t] {
			if j := n - 1 - i; j >= 0 {
				s -= a * y[j]
			}
		}
		y[n] = s
	}
	return y
}

// reflections returns, for each of n frames, the predictor of the given order
// and the RMS of its residual, both averaged over ±reach frames: the
// reflection coefficients, so that the filter stays stable.
func reflections(x []float64, rate, order, n, reach int) (a [][]float64, level []float64) {
	window := dsp.PeriodicHann(rate * 3 / 100)
	frame := make([]float64, len(window))
	ks, rms := make([][]float64, n), make([]float64, n)
	norm := energy(window)
	for t := range ks {
		dsp.CopyFrame(frame, x, int(float64(t*rate)*dsp.Hop)-len(frame)/2)
		for i, w := range window {
			frame[i] *= w
		}
		r := autocorrelation(frame, order)
		ks[t] = levinson(r)
		e := r[0]
		for _, k := range ks[t] {
			e *= 1 - k*k
		}
		rms[t] = math.Sqrt(max(e, 0) / norm)
	}
	a, level = make([][]float64, n), make([]float64, n)
	for t := range a {
		low, high := max(t-reach, 0), min(t+reach+1, n)
		k := make([]float64, order)
		for i := low; i < high; i++ {
			for j, v := range ks[i] {
				k[j] += v / float64(high-low)
			}
			level[t] += rms[i] / float64(high-low)
		}
		a[t] = predictor(k)
	}
	return a, level
}
