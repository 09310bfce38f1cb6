package dsp

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestPerturbationReference(t *testing.T) {
	truth := syntheticTruth(t)
	var names []string
	for k, v := range truth {
		if v.Kind == "jitter" || v.Kind == "shimmer" || v.Kind == "jitter+shimmer" {
			names = append(names, k)
		}
	}
	slices.Sort(names)
	sums := map[string][]float64{}
	for _, k := range names {
		x, sr := referenceWAV(t, "synthetic", k+".wav")
		f0 := NewPitch(sr, nil).Track(nil, x)
		ps := NewPulses(sr)
		pulses := ps.Find(nil, x, f0)
		j, s := MeasureJitter(pulses), MeasureShimmer(pulses, ps.Amplitudes())
		w := truth[k]
		rel := func(a, b float64) float64 { return 100 * (a/b - 1) }
		voiced := 0
		for _, f := range f0 {
			if f > 0 {
				voiced++
			}
		}
		t.Logf("%-22s n %d voiced %d jit %.5f (%.5f) %+.2f%% rap %+.2f%% ppq5 %+.2f%% | shim %.5f (%.5f) %+.2f%% db %+.2f%% apq3 %+.2f%% apq5 %+.2f%% apq11 %+.2f%%", k, len(pulses), voiced,
			j.Local, w.JitterLocal, rel(j.Local, w.JitterLocal), rel(j.RAP, w.JitterRAP), rel(j.PPQ5, w.JitterPPQ5),
			s.Local, w.ShimLocal, rel(s.Local, w.ShimLocal), rel(s.LocalDB, w.ShimDB), rel(s.APQ3, w.ShimAPQ3), rel(s.APQ5, w.ShimAPQ5), rel(s.APQ11, w.ShimAPQ11))
		kind := strings.Split(k, "_")[1]
		if w.JitterLocal > 1e-6 && w.Kind == "jitter" {
			sums["jitter "+kind] = append(sums["jitter "+kind], math.Abs(rel(j.Local, w.JitterLocal)), math.Abs(rel(j.RAP, w.JitterRAP)), math.Abs(rel(j.PPQ5, w.JitterPPQ5)))
		}
		if w.Kind == "shimmer" {
			sums["shimmer "+kind] = append(sums["shimmer "+kind], math.Abs(rel(s.Local, w.ShimLocal)), math.Abs(rel(s.APQ3, w.ShimAPQ3)), math.Abs(rel(s.APQ5, w.ShimAPQ5)))
		}
	}
	for k, v := range sums {
		var m float64
		for _, e := range v {
			m += e / float64(len(v))
		}
		t.Logf("%s: mean relative error %.2f %%", k, m)
	}
}
