package dsp

import (
	"math"
	"slices"
	"testing"
)

func TestHNRReference(t *testing.T) {
	truth := syntheticTruth(t)
	var praat map[string]struct {
		Praat map[string]float64 `json:"praat"`
	}
	readJSON(t, referenceFile(t, "functionals_praat_egemaps.json"), &praat)
	var names []string
	for k, v := range truth {
		if v.Kind == "hnr" || v.Kind == "klatt" || v.Kind == "jitter" {
			names = append(names, k)
		}
	}
	slices.Sort(names)
	for _, k := range names {
		x, sr := referenceWAV(t, "synthetic", k+".wav")
		f0 := NewPitch(sr, nil).Track(nil, x)
		h := NewHNR(sr).Track(nil, x, f0)
		m := meanOf(h)
		p := praat["synth/"+k].Praat
		t.Logf("%-22s want %4.0f got %.3f (%+.3f interior %+.3f) praat cc %.2f ac45 %.2f | cpps %.2f praat %.2f", k, truth[k].HNR, m, m-truth[k].HNR, meanOf(h[10:len(h)-10])-truth[k].HNR, p["hnr_cc_mean"], p["hnr_ac45_mean"], NewCPPS(sr).Measure(x, f0), p["cpps"])
	}
}

// meanOf is the mean of what is not NaN.
func meanOf(v []float64) float64 {
	var s float64
	var n int
	for _, x := range v {
		if !math.IsNaN(x) {
			s += x
			n++
		}
	}
	return s / float64(n)
}
