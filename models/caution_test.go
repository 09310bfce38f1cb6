package models_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
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

// sound makes 4 s of a sound from its value at each time in seconds.
func sound(rate int, at func(t float64) float64) []float64 {
	x := make([]float64, 4*rate)
	for i := range x {
		x[i] = at(float64(i) / float64(rate))
	}
	return x
}

func TestCautionsOfWhatIsNoVoice(t *testing.T) {
	const rate = 16000
	rng := rand.New(rand.NewPCG(8, 8))
	tone := func(hz float64) []float64 {
		return sound(rate, func(t float64) float64 { return 0.3 * math.Sin(2*math.Pi*hz*t) })
	}
	for name, c := range map[string]struct {
		x    []float64
		want screen.Caution
	}{
		"silence":    {make([]float64, 4*rate), screen.LittleSpeech},
		"noise":      {sound(rate, func(float64) float64 { return 0.1 * rng.NormFloat64() }), screen.LittleSpeech},
		"a tone":     {tone(440), screen.Unfamiliar},
		"a low tone": {tone(110), screen.Unfamiliar},
		"a hum": {sound(rate, func(t float64) float64 {
			return 0.2*math.Sin(2*math.Pi*50*t) + 0.1*math.Sin(2*math.Pi*150*t) + 0.01*rng.NormFloat64()
		}), screen.Unfamiliar},
		"a vibrato": {sound(rate, func(t float64) float64 {
			return 0.3 * math.Sin(2*math.Pi*440*t+3*math.Sin(2*math.Pi*5*t))
		}), screen.Unfamiliar},
		"a square wave": {sound(rate, func(t float64) float64 { return math.Copysign(0.2, math.Sin(2*math.Pi*150*t)) }), screen.Unfamiliar},
		"music":         {chords(6, rate), screen.Unfamiliar},
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

// A recording is unfamiliar from the share of measured features on that its file
// names: the share outside their ranges, each segment counting once.
func TestUnfamiliarByTheShareOutside(t *testing.T) {
	const rate = 16000
	x := chords(6, rate)
	scorers, err := shipped.Scorers()
	if err != nil {
		t.Fatal(err)
	}
	f := *scorers[2].(*models.Linear).File()
	var share, segments float64
	e := spoof.NewExtractor()
	for _, b := range spoof.SegmentBounds(len(x), rate) {
		v := e.Extract(nil, x[b[0]:b[1]], rate)
		var out, measured float64
		for _, feature := range f.Features {
			if y := v.Get(feature.Name); !math.IsNaN(y) {
				measured++
				if y < feature.Low || y > feature.High {
					out++
				}
			}
		}
		share += out / measured
		segments++
	}
	share /= segments
	if segments < 2 || !(share > 0.01 && share < 0.99) {
		t.Fatalf("got %v segments with a share of %v outside, want two or more, and some features outside", segments, share)
	}
	for most, want := range map[float64]bool{0: false, share * 0.999: true, share * 1.001: false} {
		f.Outside = most
		l, err := models.NewLinear(&f)
		if err != nil {
			t.Fatal(err)
		}
		s, err := l.Score(t.Context(), &features.Recording{Native: x, NativeRate: rate})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(s[0].Cautions, screen.Unfamiliar); got != want {
			t.Errorf("a share of %v outside, at most %v: got unfamiliar %v, want %v", share, most, got, want)
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
