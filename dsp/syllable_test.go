package dsp_test

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// syllableTolerance is how far, in seconds, a nucleus may lie from the top of
// the envelope: a quarter of the contour's window and one frame.
const syllableTolerance = 0.025

// modulated returns a voice of f0 Hz with the envelope 1 - d·sin²(π·rate·t),
// which has a top at every multiple of 1/rate and dips of depth dB.
func modulated(f0, rate, depth, dur float64) []float64 {
	x := signals.Scale(signals.Harmonic(dsp.SampleRate, signals.Constant(f0), dur), 0.3)
	d := 1 - math.Pow(10, -depth/20)
	for i := range x {
		s := math.Cos(math.Pi * rate * float64(i) / dsp.SampleRate)
		x[i] *= 1 - d*s*s
	}
	return x
}

func TestSyllablesOfModulatedVoice(t *testing.T) {
	for _, c := range []struct {
		name            string
		f0, rate, depth float64
		noise           float64
		want            int
	}{
		{"three a second, clean", 120, 3, 12, 0, 6},
		{"five a second, clean", 120, 5, 12, 0, 10},
		{"seven a second, high voice", 230, 7, 12, 0, 14},
		{"five a second, shallow", 120, 5, 5, 0, 10},
		{"five a second in noise", 120, 5, 12, 0.005, 10},
		{"ripple under 2 dB is one syllable", 120, 5, 1.5, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := modulated(c.f0, c.rate, c.depth, 2)
			for i, v := range signals.Noise(dsp.SampleRate, c.noise, 2, 5) {
				x[i] += v
			}
			out := dsp.NewAnalyzer().Analyze(x)
			if got := len(out.Syllables); got != c.want {
				t.Fatalf("got %d nuclei, want %d", got, c.want)
			}
			if c.want == 1 {
				return
			}
			for k, at := range out.Syllables {
				if want := (float64(k) + 0.5) / c.rate; math.Abs(at-want) > syllableTolerance {
					t.Errorf("nucleus %d: got %.3f s, want %.3f ± %g", k, at, want, syllableTolerance)
				}
			}
		})
	}
}

// A loud fricative between two vowels is a peak of the intensity, but no
// nucleus.
func TestFricativeIsNoSyllable(t *testing.T) {
	vowel := signals.Scale(signals.Harmonic(dsp.SampleRate, signals.Constant(120), 0.3), 0.2)
	gap := make([]float64, 3*dsp.SampleRate/100)
	var x []float64
	for _, part := range [][]float64{vowel, gap, signals.Noise(dsp.SampleRate, 0.1, 0.12, 9), gap, vowel} {
		x = append(x, part...)
	}
	if got := dsp.NewAnalyzer().Analyze(x).Syllables; len(got) != 2 {
		t.Errorf("got nuclei at %.3f, want the two vowels", got)
	}
}

// A vowel with the intonation of a question or a statement is one syllable.
func TestGlideIsOneSyllable(t *testing.T) {
	for _, c := range [][2]float64{{90, 115}, {130, 105}, {180, 230}, {260, 330}, {320, 270}} {
		x := signals.Fade(signals.Scale(signals.Harmonic(dsp.SampleRate, signals.Glide(c[0], c[1], 0.4), 0.4), 0.3), dsp.SampleRate, 0.02)
		if got := dsp.NewAnalyzer().Analyze(x).Syllables; len(got) != 1 {
			t.Errorf("%g to %g Hz: got nuclei at %.3f, want one", c[0], c[1], got)
		}
	}
}

// syllableError is the largest error of the number of syllables of a spoken text, as
// a share of it; one syllable is always allowed. De Jong and Wempe's counts correlate
// with counts by hand at 0.71 to 0.82 in spontaneous speech, and synthetic speech is
// clearer.
const syllableError = 0.05

// The number of nuclei in synthetic speech is that of the text's syllables,
// counted by hand.
func TestSyllablesOfSpokenTexts(t *testing.T) {
	for _, c := range []struct {
		name      string
		syllables float64
	}{
		{"short_en", 20},      // I am fine, thank you (5) … (15)
		{"spoken_en", 15},     // Please move the whole amount (6) to the new account (5) this afternoon (4)
		{"female_en", 32},     // The morning was cold (5) … before noon (8) … along the river (11) … that went by (8)
		{"interview_en", 183}, // 11 22 15 17 16 12 19 7 26 5 18 15, sentence by sentence
	} {
		x, sr := readWAV(t, "../testdata/"+c.name+".wav", 32768)
		if sr != dsp.SampleRate {
			t.Fatalf("%s: got %d Hz, want %d", c.name, sr, dsp.SampleRate)
		}
		got := float64(len(dsp.NewAnalyzer().Analyze(x).Syllables))
		if math.Abs(got-c.syllables) > max(1, syllableError*c.syllables) {
			t.Errorf("%s: got %g nuclei, want %g within %g", c.name, got, c.syllables, syllableError)
		}
	}
}
