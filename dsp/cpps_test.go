package dsp

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// ranks returns the rank of each of v.
func ranks(v []float64) []float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	r := make([]float64, len(v))
	for i, x := range v {
		k, _ := slices.BinarySearch(s, x)
		r[i] = float64(k)
	}
	return r
}

// correlation is Pearson's coefficient of a and b.
func correlation(a, b []float64) float64 {
	ma, mb := meanOf(a), meanOf(b)
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - ma) * (b[i] - mb)
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
	}
	return ab / math.Sqrt(aa*bb)
}

// CPPS orders recordings as Praat 6.3.07 does (its values are in the reference
// set), within voices of the same pitch; the scale differs with the windows.
func TestCPPSOrdersAsPraat(t *testing.T) {
	var praat map[string]struct {
		Praat struct {
			CPPS float64 `json:"cpps"`
		} `json:"praat"`
	}
	readJSON(t, sharedFile(t, "reference/functionals_praat_egemaps.json"), &praat)
	for _, pitch := range []string{"_110_", "_210_"} {
		var ours, theirs []float64
		for name, v := range praat {
			file, synthetic := strings.CutPrefix(name, "synth/")
			if !synthetic || !strings.Contains(file, pitch) || !(strings.HasPrefix(file, "jit_") || strings.HasPrefix(file, "hnr_")) {
				continue
			}
			x, rate := readWAV(t, sharedFile(t, "reference/synthetic/"+file+".wav"), 32768)
			f0 := NewPitch(float64(rate), nil).Track(nil, x)
			ours = append(ours, NewCPPS(float64(rate)).Measure(x, f0))
			theirs = append(theirs, v.Praat.CPPS)
		}
		const least = 0.85 // of the rank correlation over 18 signals, of which those with 0 and 0.5 % jitter are nearly equal
		if len(ours) < 10 {
			t.Fatalf("got %d signals", len(ours))
		}
		r := correlation(ranks(ours), ranks(theirs))
		t.Logf("%s: rank correlation %.3f", pitch, r)
		if !(r >= least) {
			t.Errorf("%s: got a rank correlation of %.3f, want at least %g", pitch, r, least)
		}
	}
}
