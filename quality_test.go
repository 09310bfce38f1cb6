package voicescreen_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// degraded is what is done to 40 s of speech, and what must be said of it:
// refused with a code, or scored with a caution.
var degraded = map[string]struct {
	change  func(x []float64, rng *rand.Rand) []float64
	code    string
	caution screen.Caution
}{
	"as it is":        {func(x []float64, _ *rand.Rand) []float64 { return x }, "", 0},
	"noise at 40 dB":  {noisy(40), "", 0},
	"noise at 10 dB":  {noisy(10), "", screen.Noisy},
	"noise at −10 dB": {noisy(-10), "refused", 0}, // nobody can say whether somebody speaks
	"clipped by 30 dB": {func(x []float64, _ *rand.Rand) []float64 {
		return each(x, func(v float64) float64 { return min(max(30*v, -0.99), 0.99) })
	}, screen.CodeAudioQuality, 0},
	"a telephone":   {func(x []float64, _ *rand.Rand) []float64 { return lowpass(x, 3400) }, "", screen.NarrowBand},
	"behind a wall": {func(x []float64, _ *rand.Rand) []float64 { return lowpass(x, 1200) }, screen.CodeAudioQuality, 0},
	"a tone": {func(x []float64, _ *rand.Rand) []float64 {
		for i := range x {
			x[i] = 0.3 * math.Sin(2*math.Pi*440*float64(i)/dsp.SampleRate)
		}
		return x
	}, "refused", 0},
	"silence":            {func(x []float64, _ *rand.Rand) []float64 { clear(x); return x }, screen.CodeNoSpeech, 0},
	"twenty seconds":     {func(x []float64, _ *rand.Rand) []float64 { return x[:20*dsp.SampleRate] }, screen.CodeAudioLength, 0},
	"two people in turn": {twoVoices, "", screen.SeveralVoices},
}

func each(x []float64, f func(float64) float64) []float64 {
	for i, v := range x {
		x[i] = f(v)
	}
	return x
}

// noisy adds white noise so many dB below the speech as a whole.
func noisy(db float64) func([]float64, *rand.Rand) []float64 {
	return func(x []float64, rng *rand.Rand) []float64 {
		var p float64
		for _, v := range x {
			p += v * v / float64(len(x))
		}
		level := math.Sqrt(p) * math.Pow(10, -db/20)
		return each(x, func(v float64) float64 { return v + level*rng.NormFloat64() })
	}
}

// lowpass leaves nothing above hz: the spectra of blocks that overlap by half
// are cut there.
func lowpass(x []float64, hz float64) []float64 {
	const n = 4096
	fft := dsp.NewFFT(n)
	y, block := make([]float64, len(x)), make([]float64, n)
	for at := -n / 2; at < len(x); at += n / 2 {
		for i := range block {
			block[i] = 0
			if j := at + i; j >= 0 && j < len(x) {
				block[i] = x[j] * math.Sin(math.Pi*(float64(i)+0.5)/n)
			}
		}
		c := fft.Coefficients(nil, block)
		clear(c[int(hz*n/dsp.SampleRate):])
		for i, v := range fft.Sequence(nil, c) {
			if j := at + i; j >= 0 && j < len(x) {
				y[j] += v * math.Sin(math.Pi*(float64(i)+0.5)/n)
			}
		}
	}
	return y
}

// twoVoices gives every other four seconds to a voice a fifth and more higher:
// the same speech, played faster.
func twoVoices(x []float64, _ *rand.Rand) []float64 {
	const part = 4 * dsp.SampleRate
	higher := dsp.NewResampler(dsp.SampleRate, dsp.SampleRate*5/8).Resample(nil, x)
	var out []float64
	for at := 0; at+part <= len(higher); at += part {
		out = append(append(out, x[at:at+part]...), higher[at:at+part]...)
	}
	return out
}

func TestQualityOfDegradedSpeech(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/interview_en.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := features.ReadChannel(t.Context(), f, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if c.Rate != dsp.SampleRate {
		t.Fatalf("got a recording at %d Hz, want %d", c.Rate, dsp.SampleRate)
	}
	// Deepfake scores are TestCautionsOfWhatIsNoVoice of package models: here they would take
	// two fifths of the time.
	e := newEngine(t, newMemory(t), &voicescreen.Options{Workers: -1, Scoring: voicescreen.ScoringOptions{Models: []models.Scorer{&fakeScorer{categories: []screen.Category{screen.Deepfake}}}}})
	for _, name := range cost.Sized(slices.Collect(maps.Keys(degraded)), []string{"as it is", "noise at 10 dB", "silence"}) {
		d := degraded[name]
		x := d.change(slices.Clone(c.Samples), rand.New(rand.NewPCG(1, 2)))
		a, err := e.AnalyzeChannel(t.Context(), &features.Channel{Samples: x, Rate: dsp.SampleRate}, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		failure := a.Failures[screen.Depression]
		switch {
		case d.code == "" && failure != nil:
			t.Errorf("%s: got refused: %+v", name, failure)
		case d.code != "" && (failure == nil || d.code != "refused" && failure.Code != d.code):
			t.Errorf("%s: got %+v (%+v), want %s", name, failure, a.Quality, d.code)
		case d.code != "":
			continue
		}
		for _, s := range a.Scores {
			if s.Category == screen.Deepfake {
				continue
			}
			short := slices.Index(s.Cautions, screen.ShortSpeech)
			if (short >= 0) != (a.SpeechSeconds < 60) {
				t.Errorf("%s: %v: got cautions %v of %.1f s of speech, want %v below 60 s", name, s.Category, s.Cautions, a.SpeechSeconds, screen.ShortSpeech)
			}
			if short >= 0 {
				s.Cautions = slices.Delete(s.Cautions, short, short+1)
			}
			if d.caution == 0 && len(s.Cautions) > 0 || d.caution != 0 && !slices.Contains(s.Cautions, d.caution) {
				t.Errorf("%s: %v: got cautions %v, want %v", name, s.Category, s.Cautions, d.caution)
			}
		}
	}
}
