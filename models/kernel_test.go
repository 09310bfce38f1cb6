package models_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

// smallKernel is small(Logit) with two support vectors over its two features.
func smallKernel() *models.File {
	f := small(models.Logit)
	f.Format = models.KernelFormat
	minus4, minus2 := -4, -2
	f.Kernel = &models.Kernel{
		Gamma: 0.25, Step: 0.5, Coefficients: []float64{2, -3},
		Vectors: []byte{2, byte(int8(minus2)), byte(int8(minus4)), 6}, // (1, −1) and (−2, 3)
	}
	return f
}

func TestKernelAddsToThePredictor(t *testing.T) {
	both := map[string]float64{"f0.sd_st": 5, "hnr.mean_db": 12.5} // z = 1 and 0.5
	plain := linear(t, small(models.Logit)).ScoreVector(voice(both))
	got := linear(t, smallKernel()).ScoreVector(voice(both))
	eta := math.Log(plain.Probability / (1 - plain.Probability))
	eta += 2*math.Exp(-0.25*(1.5*1.5)) - 3*math.Exp(-0.25*(3*3+2.5*2.5))
	if want := sigma(eta); math.Abs(got.Probability-want) > tolerance {
		t.Errorf("got probability %v, want %v", got.Probability, want)
	}
}

func TestKernelSum(t *testing.T) {
	k := smallKernel().Kernel
	for _, c := range []struct {
		z   []float64
		sum float64
	}{
		{[]float64{1, -1}, 2 - 3*math.Exp(-0.25*25)},
		{[]float64{-2, 3}, 2*math.Exp(-0.25*25) - 3},
		{[]float64{0, 0}, 2*math.Exp(-0.5) - 3*math.Exp(-0.25*13)},
	} {
		if sum := k.At(c.z); math.Abs(sum-c.sum) > tolerance {
			t.Errorf("at %v: got %v, want %v", c.z, sum, c.sum)
		}
	}
}

// TestKernelContributions compares them with what the score loses when the
// feature is at its centre, of which they are the first order in γ.
func TestKernelContributions(t *testing.T) {
	const gamma = 1e-4 // the second order is 1e-4 of the first
	f := smallKernel()
	f.Kernel.Gamma = gamma
	f.Calibration = &models.Calibration{A: 1.6, B: 0.2}
	l := linear(t, f)
	logit := func(x map[string]float64) float64 {
		p := l.ScoreVector(voice(x)).Probability
		return math.Log(p / (1 - p))
	}
	at := map[string]float64{"f0.sd_st": 4, "hnr.mean_db": 15}
	for _, c := range l.ScoreVector(voice(at)).Contributions {
		without := map[string]float64{"f0.sd_st": 4, "hnr.mean_db": 15}
		for _, x := range f.Features {
			if x.Name == c.Feature {
				without[c.Feature] = x.Center
			}
		}
		if want := logit(at) - logit(without); math.Abs(c.Logits-want) > 1e-3*math.Abs(want) {
			t.Errorf("%s: got %v logits, want %v", c.Feature, c.Logits, want)
		}
	}
}

func TestLoadRefusesKernels(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*models.File)
		path   string
	}{
		"a kernel in the former format": {func(f *models.File) { f.Format = models.FileFormat }, "kernel"},
		"none in the new format":        {func(f *models.File) { f.Kernel = nil }, "kernel"},
		"gamma":                         {func(f *models.File) { f.Kernel.Gamma = 0 }, "kernel.gamma"},
		"step":                          {func(f *models.File) { f.Kernel.Step = math.Inf(1) }, "kernel.step"},
		"a share outside":               {func(f *models.File) { f.Outside = 1.1 }, "outside"},
		"a range":                       {func(f *models.File) { f.Features[1].Low = 1 }, "features[1]"},
		"no coefficients":               {func(f *models.File) { f.Kernel.Coefficients = nil }, "kernel.coefficients"},
		"a coefficient":                 {func(f *models.File) { f.Kernel.Coefficients[1] = math.NaN() }, "kernel.coefficients[1]"},
		"a byte too few":                {func(f *models.File) { f.Kernel.Vectors = f.Kernel.Vectors[1:] }, "kernel.vectors"},
		"prior":                         {func(f *models.File) { f.Prior = 1 }, "prior"},
	} {
		f := smallKernel()
		c.change(f)
		var wrong *models.FileError
		if err := f.Check(); !errors.As(err, &wrong) || wrong.Path != c.path {
			t.Errorf("%s: got %v, want one at %s", name, err, c.path)
		}
	}
}

func TestKernelFileReadsWhatItWrote(t *testing.T) {
	want := smallKernel()
	got, err := models.Read(strings.NewReader(encode(t, want)))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v and error %v, want %+v", got, err, want)
	}
}

func TestSegmentsOfARecording(t *testing.T) {
	const rate = 16000
	rng := rand.New(rand.NewPCG(3, 3))
	for _, seconds := range []float64{0, 0.5, 4, 4.1, 13} {
		x := make([]float64, int(seconds*rate))
		for i := range x {
			x[i] = 0.1 * rng.NormFloat64()
		}
		s := shippedDeepfake(t, &features.Recording{Native: x, NativeRate: rate})
		want := max(int(math.Ceil(seconds/spoof.SegmentSeconds)), 1)
		if len(s.Segments) != want {
			t.Errorf("%v s: got %d segments, want %d", seconds, len(s.Segments), want)
			continue
		}
		at := 0.0
		for _, p := range s.Segments {
			if p.Start != at || p.End-p.Start > spoof.SegmentSeconds {
				t.Errorf("%v s: got a segment from %v to %v, want one from %v", seconds, p.Start, p.End, at)
			}
			at = p.End
		}
		if math.Abs(at-seconds) > 1./rate {
			t.Errorf("%v s: the segments end at %v", seconds, at)
		}
		if _, err := json.Marshal(s); err != nil {
			t.Errorf("%v s: %v", seconds, err)
		}
	}
}

func shippedDeepfake(t *testing.T, in *features.Recording) screen.Score {
	t.Helper()
	all, err := shipped.Scorers()
	if err != nil {
		t.Fatal(err)
	}
	s, err := all[2].Score(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return s[0]
}

// same reports whether two numbers are equal or both undefined.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func TestSegmentJSON(t *testing.T) {
	for _, want := range []screen.Segment{{Start: 1, End: 2.5, Probability: 0.25}, {End: 4, Probability: math.NaN()}} {
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got screen.Segment
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if got.Start != want.Start || got.End != want.End || !same(got.Probability, want.Probability) {
			t.Errorf("got %+v from %s, want %+v", got, b, want)
		}
	}
}

func TestScoreJSON(t *testing.T) {
	whole := screen.Score{Category: screen.Anxiety, Model: "m", Version: "1", Calibrated: true, Prior: 0.1, Probability: 0.5, Low: 0.2, High: 0.8,
		Decision: screen.Positive, Severity: screen.MildToModerate, Coverage: 0.75, Baseline: 3, Contributions: []screen.Contribution{{Feature: "f", Value: 1, Unit: "s", Logits: 2}},
		Segments: []screen.Segment{{Start: 1, End: 2, Probability: 0.5}}, Cautions: []screen.Caution{screen.Noisy}}
	unbounded := whole
	unbounded.Low, unbounded.High = math.NaN(), math.NaN()
	for _, want := range []screen.Score{whole, unbounded} {
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got screen.Score
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if !same(got.Low, want.Low) || !same(got.High, want.High) {
			t.Errorf("got bounds %v and %v from %s, want %v and %v", got.Low, got.High, b, want.Low, want.High)
		}
		got.Low, got.High, want.Low, want.High = 0, 0, 0, 0
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v from %s, want %+v", got, b, want)
		}
	}
}

func TestSetPrior(t *testing.T) {
	s := screen.Score{Probability: 0.5, Low: 0.2, High: 0.8, Prior: 0.5, Segments: []screen.Segment{{Probability: 0.5}, {Probability: math.NaN()}}}
	former := s.Segments
	s.SetPrior(0.01)
	// Odds of 1 to 4 become 1 to 4·99.
	for _, c := range [][2]float64{{s.Probability, 0.01}, {s.Low, 1. / 397}, {s.High, 4. / 103}, {s.Prior, 0.01}, {s.Segments[0].Probability, 0.01}} {
		if math.Abs(c[0]-c[1]) > tolerance {
			t.Errorf("got %v, want %v", c[0], c[1])
		}
	}
	if !math.IsNaN(s.Segments[1].Probability) || former[0].Probability != 0.5 {
		t.Error("an undefined segment has a score, or the former segments changed")
	}
	for _, prior := range []float64{0, 1, -1, math.NaN()} {
		if same := s; true {
			same.SetPrior(prior)
			if same.Probability != s.Probability || same.Prior != s.Prior {
				t.Errorf("prior %v: got %v", prior, same.Probability)
			}
		}
	}
	unknown := screen.Score{Probability: 0.5}
	if unknown.SetPrior(0.1); unknown.Probability != 0.5 {
		t.Error("the prior of a score that supposes none was changed")
	}
}
