package dsp_test

import (
	"math"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// The accuracy that formants of synthetic vowels must have: median over the
// vowels of the relative error of the median over the frames. They are the
// figures of robust Burg, the best of the field on the same vowels.
var formantGoal = [3]float64{0.012, 0.0013, 0.0025}

// voicedAt returns a pitch track of f0 for x, unvoiced in the 50 ms at either
// end, where the fades are.
func voicedAt(x []float64, f0 float64) []float64 {
	t := make([]float64, dsp.FrameCount(len(x)))
	for i := 5; i < len(t)-5; i++ {
		t[i] = f0
	}
	return t
}

// formantErrors is the relative error of the median track of F1 to F3.
func formantErrors(x []float64, f0 float64, want []float64) (e [3]float64) {
	track := dsp.NewFormantTracker().Track(nil, x, 0, voicedAt(x, f0))
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
			x := signals.Quantize(signals.Scale(signals.Klatt(dsp.SampleRate, f0, vowel, scale, 0.4), 0.5), 1)
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

// formantGross is the relative error from which a formant is wrong: another
// resonance.
const formantGross = 0.20

// noisyGross is the share of the frames of a sequence of vowels in which F1, F2
// and F3 may be wrong in 20 dB of white noise. With the lowest three resonances as
// formants, without limits, 10, 25 and 29 % are wrong in such a sequence.
var noisyGross = [3]float64{0.10, 0.20, 0.20}

// vowelSequence returns vowels of dur seconds each, in the order of names, and
// the formants that belong to each of its frames, zero near the joints.
func vowelSequence(names []string, f0, scale, dur float64) (x []float64, truth [][3]float64) {
	const joint = 0.03 // s, three frames: half the analysis window and the fade
	for k, name := range names {
		v := signals.Klatt(dsp.SampleRate, f0*(1+0.03*float64(k)), signals.Vowels[name], scale, dur)
		x = append(x, signals.Scale(v, 0.5)...)
	}
	truth = make([][3]float64, dsp.FrameCount(len(x)))
	for i := range truth {
		k, at := math.Modf(float64(i) * dsp.Hop / dur)
		if int(k) < len(names) && at*dur > joint && (1-at)*dur > joint {
			for j := range truth[i] {
				truth[i][j] = scale * signals.Vowels[names[int(k)]][j].F
			}
		}
	}
	return x, truth
}

// In a sequence of vowels every frame has the formants of its own vowel; noise
// leaves out more of them than it makes wrong.
func TestFormantsOfVowelSequence(t *testing.T) {
	for _, c := range []struct {
		name              string
		f0, scale, snr    float64
		wrong, misplacing [3]float64 // largest shares of frames: wrong, and wrong or absent
	}{
		{"man", 105, 1, math.Inf(1), [3]float64{}, [3]float64{}},
		{"woman", 170, signals.FemaleScale, math.Inf(1), [3]float64{}, [3]float64{}},
		{"child", 180, 1.3, math.Inf(1), [3]float64{}, [3]float64{}},
		{"man in noise", 105, 1, 20, noisyGross, [3]float64{0.12, 0.3, 0.35}},
		{"woman in noise", 170, signals.FemaleScale, 20, noisyGross, [3]float64{0.12, 0.3, 0.35}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, truth := vowelSequence([]string{"a", "i", "u", "ae", "schwa"}, c.f0, c.scale, 0.3)
			if !math.IsInf(c.snr, 1) {
				x = signals.AddNoise(x, c.snr, 7)
			}
			f0 := make([]float64, len(truth))
			var n float64
			for i := range truth {
				if truth[i][0] > 0 {
					f0[i] = c.f0
					n++
				}
			}
			var wrong, absent [3]float64
			for i, got := range dsp.NewFormantTracker().Track(nil, x, 0, f0) {
				for k := range got.F {
					switch {
					case f0[i] == 0:
					case math.IsNaN(got.F[k]):
						absent[k] += 1 / n
					case math.Abs(got.F[k]/truth[i][k]-1) > formantGross:
						wrong[k] += 1 / n
					}
				}
			}
			t.Logf("wrong %.3f, absent %.3f of %g frames", wrong, absent, n)
			for k := range wrong {
				if wrong[k] > c.wrong[k] || wrong[k]+absent[k] > c.misplacing[k] {
					t.Errorf("F%d: got %.3f wrong and %.3f absent, want at most %g wrong, %g in all", k+1, wrong[k], absent[k], c.wrong[k], c.misplacing[k])
				}
			}
		})
	}
}

func BenchmarkFormants(b *testing.B) {
	x := signals.Klatt(dsp.SampleRate, 120, signals.Vowels["a"], 1, 10)
	f0 := voicedAt(x, 120)
	tr := dsp.NewFormantTracker()
	dst := tr.Track(nil, x, 0, f0)
	b.ReportAllocs()
	for b.Loop() {
		tr.Track(dst, x, 0, f0)
	}
	reportSpeed(b, len(x))
}
