package signals

import "math"

// A Trajectory is F0 in Hz as a function of the time in seconds.
type Trajectory func(t float64) float64

// Constant is a trajectory of constant f Hz.
func Constant(f float64) Trajectory { return func(float64) float64 { return f } }

// Glide changes exponentially, linearly in semitones, from f0 to f1 Hz in dur seconds.
func Glide(f0, f1, dur float64) Trajectory {
	return func(t float64) float64 { return f0 * math.Pow(f1/f0, t/dur) }
}

// Vibrato varies sinusoidally by ±cents around f Hz, at rate Hz.
func Vibrato(f, cents, rate float64) Trajectory {
	return func(t float64) float64 { return f * math.Exp2(cents/1200*math.Sin(2*math.Pi*rate*t)) }
}

// Step is f0 Hz before the time at, f1 Hz from then on.
func Step(f0, f1, at float64) Trajectory {
	return func(t float64) float64 {
		if t < at {
			return f0
		}
		return f1
	}
}

// Intonation falls from f Hz as exp(−decline·t), with decline in 1/s. Two sines of slow and
// fast Hz modulate it, with amplitudes of semitones and fastSemitones.
func Intonation(f, decline, semitones, slow, fastSemitones, fast float64) Trajectory {
	return func(t float64) float64 {
		s := semitones*math.Sin(2*math.Pi*slow*t) + fastSemitones*math.Sin(2*math.Pi*fast*t+1)
		return f * math.Exp(-decline*t) * math.Exp2(s/12)
	}
}

// IntonationMale is the low-pitched intonation contour of the reference set.
func IntonationMale() Trajectory { return Intonation(115, 0.12, 2, 0.9, 1, 2.3) }

// IntonationFemale is the high-pitched intonation contour of the reference set.
func IntonationFemale() Trajectory { return Intonation(215, 0.10, 3, 0.8, 1.5, 2.1) }

// A Resonance is a formant: its frequency and bandwidth in Hz.
type Resonance struct{ F, B float64 }

// neutral are the resonances of [Harmonic], of a neutral vowel.
var neutral = []Resonance{{600, 90}, {1300, 110}, {2500, 170}, {3500, 250}}

const (
	harmonicTop   = 8000.0 // Hz, the upper limit of the partials
	harmonicEdge  = 200.0  // Hz, the width of the fade-out below harmonicTop
	harmonicPhase = 0.37   // rad; partial k starts at harmonicPhase·k², so that the partials are not in phase
	gainStep      = 0.25   // Hz between the entries of the gain table
)

// Harmonic returns a harmonic complex of peak 1 whose F0 is exactly f0, for dur seconds. Its
// partials reach up to the lower of 8 kHz and 0.45·sr, fall by 3 dB per octave, and pass
// four resonances of a neutral vowel (with zero phase).
func Harmonic(sr float64, f0 Trajectory, dur float64) []float64 {
	top := min(harmonicTop, 0.45*sr)
	gain := make([]float64, int(top/gainStep)+2)
	for i := range gain {
		f := float64(i) * gainStep
		g := min(max((top-f)/harmonicEdge, 0), 1)
		for _, r := range neutral {
			g *= r.F * r.F / math.Hypot(r.F*r.F-f*f, r.B*f)
		}
		gain[i] = g
	}
	n := samples(sr, dur)
	x := make([]float64, n)
	phase := 0.0 // cycles
	var chirp []complex128
	for i := range x {
		t := float64(i) / sr
		f := f0(t)
		s, c := math.Sincos(2 * math.Pi * phase)
		step, z := complex(c, s), complex(1, 0)
		for k := 1; float64(k)*f < top; k++ {
			if k > len(chirp) {
				s, c := math.Sincos(harmonicPhase * float64(k*k))
				chirp = append(chirp, complex(c, s)/complex(math.Sqrt(float64(k)), 0))
			}
			z *= step
			p := float64(k) * f / gainStep
			j := int(p)
			w := p - float64(j)
			x[i] += ((1-w)*gain[j] + w*gain[j+1]) * imag(z*chirp[k-1])
		}
		// Simpson's rule for the integral of f0 to the next sample
		phase += (f + 4*f0(t+0.5/sr) + f0(t+1/sr)) / (6 * sr)
		phase -= math.Floor(phase)
	}
	return Normalize(x, 1)
}

// Partials returns Σ amp[k]·sin(2πk·f0·t + 0.7k²), scaled to peak 1, for k from 1 to
// len(amp)−1. With weak or missing partials it provokes octave errors.
func Partials(sr, f0 float64, amp []float64, dur float64) []float64 {
	x := make([]float64, samples(sr, dur))
	for k := 1; k < len(amp); k++ {
		if amp[k] == 0 {
			continue
		}
		for i := range x {
			x[i] += amp[k] * math.Sin(2*math.Pi*float64(k)*f0*float64(i)/sr+0.7*float64(k*k))
		}
	}
	return Normalize(x, 1)
}

// MissingFundamental returns partials 2 to 11 of f0 Hz, the kth of amplitude 1/k.
func MissingFundamental(sr, f0, dur float64) []float64 {
	amp := make([]float64, 12)
	for k := 2; k < len(amp); k++ {
		amp[k] = 1 / float64(k)
	}
	return Partials(sr, f0, amp, dur)
}

// StrongSecond returns a complex whose second partial is five times its first.
func StrongSecond(sr, f0, dur float64) []float64 {
	return Partials(sr, f0, []float64{0, 0.2, 1, 0.2, 0.5, 0.1, 0.2}, dur)
}

// WeakSubharmonic returns 14 partials of f0 Hz (the kth of amplitude 1/k) and,
// between them, the odd multiples of f0/2 at −30 dB.
func WeakSubharmonic(sr, f0, dur float64) []float64 {
	amp := make([]float64, 29)
	for k := 1; k < 15; k++ {
		amp[2*k] = 1 / float64(k)
		amp[2*k-1] = 0.03 / float64(k)
	}
	return Partials(sr, f0/2, amp, dur)
}
