package models_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
)

// chords makes seconds of struck chords: voiced, loud, and no voice.
func chords(seconds float64, rate int) []float64 {
	x := make([]float64, int(seconds*float64(rate)))
	for i := range x {
		t := float64(i) / float64(rate)
		beat, since := math.Modf(4 * t)
		f := 220 * math.Pow(2, math.Mod(beat*5, 12)/12)
		for _, interval := range []float64{1, 1.26, 1.5} {
			for h := 1.0; h < 8; h++ {
				x[i] += 0.05 / h * math.Exp(-3*since) * math.Sin(2*math.Pi*f*interval*h*t)
			}
		}
	}
	return x
}

func TestCautionsOfWhatIsNoVoice(t *testing.T) {
	const rate = 16000
	rng := rand.New(rand.NewPCG(8, 8))
	noise, tone := make([]float64, 4*rate), make([]float64, 4*rate)
	for i := range noise {
		noise[i] = 0.1 * rng.NormFloat64()
		tone[i] = 0.3 * math.Sin(2*math.Pi*440*float64(i)/rate)
	}
	for name, c := range map[string]struct {
		x    []float64
		want screen.Caution
	}{
		"silence": {make([]float64, 4*rate), screen.LittleSpeech},
		"noise":   {noise, screen.LittleSpeech},
		"a tone":  {tone, screen.Unfamiliar},
		"music":   {chords(6, rate), screen.Unfamiliar},
	} {
		s := shippedDeepfake(t, &features.Recording{Native: c.x, NativeRate: rate})
		if !slices.Contains(s.Cautions, c.want) || s.Decision != screen.Indeterminate {
			t.Errorf("%s: got cautions %v and %v, want %v and no decision", name, s.Cautions, s.Decision, c.want)
		}
		half := 0.5
		if (&screen.Thresholds{Low: &half, High: &half}).Apply(&s); s.Decision != screen.Indeterminate {
			t.Errorf("%s: thresholds decided on it: %v", name, s.Decision)
		}
	}
}

func TestCautionsOfARecording(t *testing.T) {
	const rate = 16000
	x := make([]float64, 2*rate)
	for name, c := range map[string]struct {
		quality dsp.Quality
		want    screen.Caution
		is      bool
	}{
		"noise":               {dsp.Quality{SNR: 10, Bandwidth: 7000}, screen.Noisy, true},
		"a telephone":         {dsp.Quality{SNR: 40, Bandwidth: 3400}, screen.NarrowBand, true},
		"good":                {dsp.Quality{SNR: 40, Bandwidth: 7000}, screen.Noisy, false},
		"wide":                {dsp.Quality{SNR: 40, Bandwidth: 7000}, screen.NarrowBand, false},
		"noise not measured":  {dsp.Quality{SNR: math.NaN(), Bandwidth: math.NaN()}, screen.Noisy, false},
		"a band not measured": {dsp.Quality{SNR: math.NaN(), Bandwidth: math.NaN()}, screen.NarrowBand, false},
	} {
		s := shippedDeepfake(t, &features.Recording{Native: x, NativeRate: rate, Analysis: &dsp.Analysis{Quality: c.quality}})
		if got := slices.Contains(s.Cautions, c.want); got != c.is {
			t.Errorf("%s: got cautions %v, want %v among them: %v", name, s.Cautions, c.want, c.is)
		}
	}
}

// TestShortSpeechIsACaution checks that less speech than recommended is said with the
// score of a questionnaire, and changes no decision.
func TestShortSpeechIsACaution(t *testing.T) {
	for _, c := range []struct {
		speech float64
		want   bool
	}{{30, true}, {59.9, true}, {60, false}, {120, false}, {math.NaN(), false}} {
		s := scoreOf(t, bayes(t, bayesFile()), woman(map[string]float64{"pause.mean_s": 0.7, "speech.duration_s": c.speech}))
		if got := slices.Contains(s.Cautions, screen.ShortSpeech); got != c.want {
			t.Errorf("%v s of speech: got cautions %v, want %v among them: %v", c.speech, s.Cautions, screen.ShortSpeech, c.want)
		}
		if s.Doubtful() {
			t.Errorf("%v s of speech: got the doubtful cautions %v", c.speech, s.Cautions)
		}
	}
}

func TestCautionNames(t *testing.T) {
	for c := screen.LittleSpeech; c <= screen.Lossy; c++ {
		b, err := c.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var got screen.Caution
		if err := got.UnmarshalText(b); err != nil || got != c {
			t.Errorf("%s: got %v, %v, want %v", b, got, err, c)
		}
	}
	if _, err := (screen.Lossy + 1).MarshalText(); err == nil {
		t.Error("an unknown caution has a name")
	}
}
