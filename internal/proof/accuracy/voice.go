package main

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// perturbationRows takes the mean relative error over the signals and over the local, the
// three-point and the five-point measure.
func perturbationRows(m map[string]float64, a *dsp.Analyzer, s *set) {
	jitter := func(v []perturbed) float64 {
		var e []float64
		for _, p := range v {
			j := a.Analyze(p.x).Jitter
			e = append(e, off(j.Local, p.truth.JitterLocal), off(j.RAP, p.truth.JitterRAP), off(j.PPQ5, p.truth.JitterPPQ5))
		}
		return dsp.Mean(e)
	}
	shimmer := func(v []perturbed) float64 {
		var e []float64
		for _, p := range v {
			h := a.Analyze(p.x).Shimmer
			e = append(e, off(h.Local, p.truth.ShimmerLocal), off(h.APQ3, p.truth.ShimmerAPQ3), off(h.APQ5, p.truth.ShimmerAPQ5))
		}
		return dsp.Mean(e)
	}
	m["jitter, pulses, mean error"] = jitter(s.jitterPulses)
	m["jitter, vowels, mean error"] = jitter(s.jitterVowels)
	m["shimmer, pulses, mean error"] = shimmer(s.shimmerPulses)
	m["shimmer, vowels, mean error"] = shimmer(s.shimmerVowels)
}

// off is the relative error in percent.
func off(got, want float64) float64 { return 100 * math.Abs(got/want-1) }

// hnrRows compares the mean of the HNR track with the truth.
func hnrRows(m map[string]float64, a *dsp.Analyzer, s *set) {
	var e []float64
	for _, h := range s.hnr {
		var v []float64
		for _, d := range a.Analyze(h.x).HNR {
			if !math.IsNaN(d) {
				v = append(v, d)
			}
		}
		e = append(e, math.Abs(dsp.Mean(v)-h.db))
	}
	m["HNR 5–30 dB, mean error"] = dsp.Mean(e)
	m["HNR 5–30 dB, largest error"] = worst(e, func(v float64) float64 { return v })
}

// formantRows compares the median of each track with the truth and takes the
// median over the vowels.
func formantRows(m map[string]float64, a *dsp.Analyzer, s *set) {
	var e [3][]float64
	for _, v := range s.vowels {
		tracks := a.Analyze(v.x).Formants
		for k := range 3 {
			var f []float64
			for _, t := range tracks {
				if !math.IsNaN(t.F[k]) {
					f = append(f, t.F[k])
				}
			}
			e[k] = append(e[k], off(median(f), v.formants[k]))
		}
	}
	for k, name := range []string{"F1", "F2", "F3"} {
		m[name+", f0 ≤ 180 Hz, median error"] = median(e[k])
	}
}

// vowel makes a Klatt vowel and its formants in Hz. The first three resonances must be in
// ascending order.
func vowel(f0 float64, resonances []signals.Resonance, scale float64) klatt {
	k := klatt{x: signals.Quantize(signals.Scale(signals.Klatt(dsp.SampleRate, f0, resonances, scale, 1), 0.5), seed)}
	for i := range k.formants {
		k.formants[i] = scale * resonances[i].F
	}
	return k
}
