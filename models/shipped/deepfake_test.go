package shipped_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
)

// deepfake is the shipped deepfake model.
func deepfake(t *testing.T) models.Scorer {
	t.Helper()
	scorers, err := shipped.Scorers()
	if err != nil {
		t.Fatal(err)
	}
	return scorers[2]
}

// speech is a recording of testdata with synthetic speech.
func speech(t testing.TB) []float64 {
	t.Helper()
	f, err := os.Open("../../testdata/spoken_en.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := wav.Decode(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.SampleRate != dsp.SampleRate {
		t.Fatalf("got %d Hz, want %d", a.SampleRate, dsp.SampleRate)
	}
	return a.Samples
}

// TestShippedDeepfakeScoresAnything scores what is short, broken or odd: there
// is always a score, and it is made of numbers.
func TestShippedDeepfakeScoresAnything(t *testing.T) {
	s := deepfake(t)
	voice := speech(t)
	spoilt := slices.Clone(voice)
	spoilt[1000], spoilt[2000], spoilt[3000] = math.NaN(), math.Inf(1), 1e300
	for name, in := range map[string]*features.Recording{
		"nothing":            {},
		"silence":            {Samples: make([]float64, 44100), Native: make([]float64, 8000), NativeRate: 8000},
		"0.3 s":              {Samples: voice[44100 : 44100+13230]},
		"2 s":                {Samples: voice[:88200]},
		"samples not finite": {Samples: spoilt},
		"impossible rate":    {Samples: voice, Native: voice, NativeRate: 1},
		"constant":           {Samples: slices.Repeat([]float64{0.5}, 44100)},
		"full scale square":  {Samples: slices.Repeat([]float64{1, 1, 1, -1, -1, -1}, 20000)},
	} {
		got, err := s.Score(context.Background(), in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := json.Marshal(got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p := got[0]; !(0 < p.Low && p.Low <= p.Probability && p.Probability <= p.High && p.High < 1) {
			t.Errorf("%s: got %v in %v to %v", name, p.Probability, p.Low, p.High)
		}
	}
}

// TestSpoofIgnoresLevelAndRate scores one recording at several levels and
// rates. Level is exact but for the dither's rounding; of the rate there
// remains the resampler's slope above 7.2 kHz.
func TestSpoofIgnoresLevelAndRate(t *testing.T) {
	s := deepfake(t)
	l := s.(*models.Linear)
	logit := func(x []float64, rate int) float64 {
		p := l.ScoreVector(spoof.NewExtractor().Extract(nil, x, rate)).Probability
		return math.Log(p / (1 - p))
	}
	x := speech(t)
	want := logit(x, dsp.SampleRate)
	quiet := make([]float64, len(x))
	for i, v := range x {
		quiet[i] = v / 100
	}
	if got := logit(quiet, dsp.SampleRate); math.Abs(got-want) > 1e-6 {
		t.Errorf("40 dB quieter: got logit %v, want %v", got, want)
	}
	for _, rate := range []int{16000, 22050, 24000, 48000} {
		y := dsp.NewResampler(dsp.SampleRate, rate).Resample(nil, x)
		// A tenth of the standard deviation of the logit, 1.1, over the clips.
		const most = 0.11
		got := logit(y, rate)
		t.Logf("%d Hz: logit %+.3f off", rate, got-want)
		if math.Abs(got-want) > most {
			t.Errorf("%d Hz: got logit %.3f, want %.3f", rate, got, want)
		}
	}
}

// TestDeepfakeScoresAtTheSameTime scores recordings of several lengths at the same
// time, more of them than there are processors: each score is the one that the
// recording alone has.
func TestDeepfakeScoresAtTheSameTime(t *testing.T) {
	s, voice := deepfake(t), speech(t)
	score := func(seconds float64) string {
		got, err := s.Score(context.Background(), &features.Recording{Samples: voice[:int(seconds*dsp.SampleRate)]})
		if err != nil {
			t.Error(err)
		}
		b, err := json.Marshal(got)
		if err != nil {
			t.Error(err)
		}
		return string(b)
	}
	lengths := []float64{0.5, 1, 2.5, 4.5}
	var want []string
	for _, seconds := range lengths {
		want = append(want, score(seconds))
	}
	var wg sync.WaitGroup
	for i := range 3 * max(len(lengths), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			k := i % len(lengths)
			if got := score(lengths[k]); got != want[k] {
				t.Errorf("%v s: got %s, want %s", lengths[k], got, want[k])
			}
		})
	}
	wg.Wait()
}
