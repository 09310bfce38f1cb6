package main

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// A set is the signals to measure on, mono at dsp.SampleRate, by what is known about them.
type set struct {
	clean, vibrato, noisy, voices, voices5dB, voicing        []pitched
	jitterPulses, jitterVowels, shimmerPulses, shimmerVowels []perturbed
	hnr                                                      []noisyVowel
	vowels                                                   []klatt
	mfcc                                                     []cepstrum
	cpps                                                     []prominent
	spoken                                                   []spoken
	speakers                                                 [3][]speech // clean, at 10 dB and at 0 dB
}

// speech is the speech of a speaker, and x the same with noise.
type speech struct {
	signals.Speech
	x []float64
}

// pitched is a signal and its F0 in every frame, in Hz; 0 is unvoiced.
type pitched struct{ x, f0 []float64 }

type perturbed struct {
	x     []float64
	truth signals.Perturbation
}

type noisyVowel struct {
	x  []float64
	db float64 // harmonics-to-noise ratio
}

type klatt struct {
	x        []float64
	formants [3]float64 // Hz
}

const (
	seed     = 20 // of all random numbers; chosen
	fade     = 0.010
	duration = 2.0 // s of most signals
)

// makeSet makes signals of the same kinds as the reference set, with other settings.
func makeSet() *set {
	s := new(set)
	sr := float64(dsp.SampleRate)
	harmonic := func(f signals.Trajectory, dur, peak float64) []float64 {
		return signals.Fade(signals.Scale(signals.Harmonic(sr, f, dur), peak), sr, fade)
	}
	for _, f := range []signals.Trajectory{
		signals.Constant(75), signals.Constant(97.3), signals.Constant(180), signals.Constant(262.6), signals.Constant(420),
		signals.Glide(90, 220, 3), signals.Glide(300, 140, 2), signals.Intonation(130, 0.1, 2.5, 0.7, 1, 1.9), signals.Intonation(240, 0.12, 2, 1, 1, 2),
	} {
		s.clean = append(s.clean, pitched{signals.Quantize(harmonic(f, duration, 0.5), seed), frames(f, duration)})
	}
	for _, f0 := range []float64{95, 170, 230} {
		for _, trap := range []func(sr, f0, dur float64) []float64{signals.MissingFundamental, signals.StrongSecond} {
			x := signals.Fade(signals.Scale(trap(sr, f0, duration), 0.5), sr, fade)
			s.clean = append(s.clean, pitched{x, frames(signals.Constant(f0), duration)})
		}
	}
	vib := signals.Vibrato(180, 40, 5)
	s.vibrato = []pitched{{harmonic(vib, 3, 0.5), frames(vib, 3)}}
	for i, f := range []signals.Trajectory{signals.Intonation(105, 0.1, 2, 0.8, 1, 2.1), signals.Intonation(200, 0.1, 3, 0.9, 1.5, 2)} {
		s.noisy = append(s.noisy, pitched{signals.AddNoise(harmonic(f, 3, 0.3), 0, seed+uint64(i)), frames(f, 3)})
	}
	parts := []signals.Part{
		{Kind: signals.Silence, Duration: 0.3}, {Kind: signals.Voiced, Duration: 0.5, F0: 105, F1: 135}, {Kind: signals.Unvoiced, Duration: 0.15},
		{Kind: signals.Voiced, Duration: 0.3, F0: 170, F1: 120}, {Kind: signals.Silence, Duration: 0.2}, {Kind: signals.Voiced, Duration: 0.45, F0: 220, F1: 280},
		{Kind: signals.Unvoiced, Duration: 0.1}, {Kind: signals.Voiced, Duration: 0.35, F0: 230, F1: 190}, {Kind: signals.Silence, Duration: 0.3},
	}
	var length float64
	for _, p := range parts {
		length += p.Duration
	}
	s.voicing = []pitched{{signals.Sequence(sr, parts, seed), frames(func(t float64) float64 { return signals.SequenceF0(parts, t) }, length)}}
	s.perturb()
	for _, f0 := range []float64{95, 150, 250} {
		for _, db := range []float64{5, 8, 12, 18, 22, 27, 30} {
			s.hnr = append(s.hnr, noisyVowel{signals.Quantize(signals.HNR(sr, f0, db, duration, seed), seed), db})
		}
	}
	for _, f0 := range []float64{90, 110, 140, 165, 180} {
		for _, name := range []string{"a", "i", "u", "ae", "schwa"} {
			for _, scale := range []float64{0.95, 1.08} {
				s.vowels = append(s.vowels, vowel(f0, signals.Vowels[name], scale))
			}
		}
	}
	s.addCPPS()
	s.speak()
	return s
}

// speak adds 16 speakers, none of whom was used to choose a setting.
func (s *set) speak() {
	const first, speakers, seconds = 200, 16, 6
	for i := range uint64(speakers) {
		v := signals.NewSpeaker(first+i).Speak(dsp.SampleRate, seconds)
		s.speakers[0] = append(s.speakers[0], speech{v, v.X})
		s.speakers[1] = append(s.speakers[1], speech{v, signals.AddNoise(v.X, 10, seed+i)})
		s.speakers[2] = append(s.speakers[2], speech{v, signals.AddNoise(v.X, 0, seed+i)})
	}
}

// perturb adds pulse trains and vowels with up to 4 % jitter, 12 % shimmer and 250 Hz.
func (s *set) perturb() {
	sr := float64(dsp.SampleRate)
	render := func(f0, jitter, shimmer float64, n uint64) (pulses, vowel perturbed) {
		t := signals.NewTrain(f0, duration, jitter, shimmer, seed+n)
		finish := func(x []float64) perturbed {
			return perturbed{signals.Quantize(signals.Normalize(x, 0.5), seed+n), t.Truth()}
		}
		return finish(t.Pulses(sr, duration)), finish(t.Vowel(sr, duration))
	}
	n := uint64(0)
	for _, f0 := range []float64{90, 130, 180, 250} {
		for _, r := range []float64{0.005, 0.01, 0.02, 0.04} {
			p, v := render(f0, r, 0, n)
			s.jitterPulses, s.jitterVowels = append(s.jitterPulses, p), append(s.jitterVowels, v)
			p, v = render(f0, 0, 3*r, n+1)
			s.shimmerPulses, s.shimmerVowels = append(s.shimmerPulses, p), append(s.shimmerVowels, v)
			n += 2
		}
	}
}

// frames returns the values of a trajectory at the times of the frames.
func frames(f signals.Trajectory, dur float64) []float64 {
	v := make([]float64, int(math.Round(dur/dsp.Hop))+1)
	for i := range v {
		v[i] = f(float64(i) * dsp.Hop)
	}
	return v
}
