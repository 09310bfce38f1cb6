package dsp

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp/internal/signals"
)

// The accuracy that formants of synthetic vowels must have: median over the
// vowels of the relative error of the median over the frames. They are the
// figures of robust Burg, the best of the field on the same vowels.
var formantGoal = [3]float64{0.012, 0.0013, 0.0025}

// voicedAt returns a pitch track of f0 for x, unvoiced in the 50 ms at either
// end, where the fades are.
func voicedAt(x []float64, f0 float64) []float64 {
	t := make([]float64, FrameCount(len(x)))
	for i := 5; i < len(t)-5; i++ {
		t[i] = f0
	}
	return t
}

// formantErrors is the relative error of the median track of F1 to F3.
func formantErrors(x []float64, f0 float64, want []float64) (e [3]float64) {
	track := NewFormantTracker().Track(nil, x, 0, voicedAt(x, f0))
	for j := range e {
		var f []float64
		for _, v := range track {
			if !math.IsNaN(v.F[j]) {
				f = append(f, v.F[j])
			}
		}
		slices.Sort(f)
		e[j] = f[len(f)/2]/want[j] - 1
	}
	return e
}

func medianOf(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}

func checkFormants(t *testing.T, errors [3][]float64) {
	t.Helper()
	for j, e := range errors {
		var sum float64
		for _, v := range e {
			sum += v
		}
		t.Logf("F%d: median error %.2f %%, mean %.2f %%, largest %.1f %% (%d vowels)", j+1, 100*medianOf(e), 100*sum/float64(len(e)), 100*slices.Max(e), len(e))
		if got := medianOf(e); !(got <= formantGoal[j]) {
			t.Errorf("F%d: got a median relative error of %.4f, want at most %.4f", j+1, got, formantGoal[j])
		}
	}
}

func TestFormantsOfKlattVowels(t *testing.T) {
	var errors [3][]float64
	k := 0
	for _, name := range []string{"a", "ae", "i", "schwa", "u"} {
		for _, f0 := range []float64{80, 95, 110, 130, 155, 180} {
			scale := [...]float64{0.95, 1, 1.08}[k%3]
			k++
			vowel := signals.Vowels[name]
			x := signals.Quantize(signals.Scale(signals.Klatt(SampleRate, f0, vowel, scale, 0.4), 0.5), 1)
			want := []float64{scale * vowel[0].F, scale * vowel[1].F, scale * vowel[2].F}
			e := formantErrors(x, f0, want)
			t.Logf("%-5s x %.2f %5.1f Hz: %+.2f %+.2f %+.2f %%", name, scale, f0, 100*e[0], 100*e[1], 100*e[2])
			for j := range e {
				errors[j] = append(errors[j], math.Abs(e[j]))
			}
		}
	}
	checkFormants(t, errors)
}

func TestFormantsOfTheReferenceVowels(t *testing.T) {
	var truth map[string]struct {
		Formants []float64
	}
	readJSON(t, sharedFile(t, "reference/synthetic/truth.json"), &truth)
	var errors [3][]float64
	for _, name := range []string{"a", "ae", "i", "schwa", "u"} {
		for _, f0 := range []float64{80, 120, 180} {
			file := fmt.Sprintf("klatt_%s_%g", name, f0)
			x, _ := readWAV(t, sharedFile(t, "reference/synthetic/"+file+".wav"), 32768)
			e := formantErrors(x, f0, truth[file].Formants)
			t.Logf("%-16s %+.2f %+.2f %+.2f %%", file, 100*e[0], 100*e[1], 100*e[2])
			for j := range e {
				errors[j] = append(errors[j], math.Abs(e[j]))
			}
		}
	}
	checkFormants(t, errors)
}

func BenchmarkFormants(b *testing.B) {
	x := signals.Klatt(SampleRate, 120, signals.Vowels["a"], 1, 10)
	f0 := voicedAt(x, 120)
	tr := NewFormantTracker()
	dst := tr.Track(nil, x, 0, f0)
	b.ReportAllocs()
	for b.Loop() {
		tr.Track(dst, x, 0, f0)
	}
	reportSpeed(b, len(x))
}
