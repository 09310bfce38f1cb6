package dam

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
)

// tiny is the shape of a small network that reads whole chunks.
var tiny = Shape{Mels: melBands, Frames: melFrames / 2, Width: 8, Heads: 2, Inner: 8, Layers: 1, Hidden: 4, Shared: 4, Task: 4}

func tinyModel(t testing.TB) *Model {
	t.Helper()
	m, err := newModel(newNetwork(t, tiny, randomWeights(tiny, 5).read, &Options{Threads: 1}), &ScorerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The scores from a checkpoint of each form are those of PyTorch.
func TestCheckpointToScores(t *testing.T) {
	var golden struct {
		Mel   [][]float32
		Files map[string]struct{ Scores map[string]float64 }
	}
	if err := json.Unmarshal(testFile(t, "small.json"), &golden); err != nil {
		t.Fatal(err)
	}
	for name, want := range golden.Files {
		w, err := readAll(testFile(t, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		n := newNetwork(t, small, w.read, nil)
		mean := make([]float32, 2*small.Width)
		for _, mel := range golden.Mel {
			x, err := n.Embed(context.Background(), nil, mel)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range x {
				mean[i] += v / float32(len(golden.Mel))
			}
		}
		t.Log(name)
		compareScores(t, n.Score(mean), Scores{want.Scores["depression"], want.Scores["anxiety"]})
	}
}

// The published sensitivity, specificity, share of undecided and AUC follow
// from the two normal distributions that the probability assumes.
func TestDerivedProbability(t *testing.T) {
	const (
		m1, m0, sd = -0.5271, -1.2044, 0.6983
		prevalence = 0.39
		published  = 0.008 // the largest difference to a published figure of three decimals
	)
	ill, well := distuv.Normal{Mu: m1, Sigma: sd}, distuv.Normal{Mu: m0, Sigma: sd}
	o := operations[0]
	undecided := func(d distuv.Normal) float64 { return d.CDF(o.high) - d.CDF(o.low) }
	for name, c := range map[string]struct{ got, want float64 }{
		"sensitivity":                {ill.Survival(o.cuts[0]), 0.581},
		"specificity":                {well.CDF(o.cuts[0]), 0.778},
		"undecided":                  {prevalence*undecided(ill) + (1-prevalence)*undecided(well), 0.19},
		"AUC":                        {distuv.UnitNormal.CDF((m1 - m0) / sd / math.Sqrt2), 0.760},
		"sensitivity of the decided": {ill.Survival(o.high) / (1 - undecided(ill)), 0.714},
		"specificity of the decided": {well.CDF(o.low) / (1 - undecided(well)), 0.738},
	} {
		if math.Abs(c.got-c.want) > published {
			t.Errorf("%s: got %.4f, published %v", name, c.got, c.want)
		}
	}
	for _, raw := range []float64{-2, -1, -0.5, 0.5} {
		odds := o.share / (1 - o.share) * ill.Prob(raw) / well.Prob(raw)
		if got, want := o.score(raw, 1).Probability, odds/(1+odds); math.Abs(got-want) > 1e-4 {
			t.Errorf("raw score %v: got probability %v, want %v by Bayes", raw, got, want)
		}
	}
}

func TestPublishedThresholds(t *testing.T) {
	for _, c := range []struct {
		task     int
		raw      float64
		class    int // from 1 on
		decision screen.Decision
	}{
		{0, -1.034, 1, screen.Negative},
		{0, -1.033, 1, screen.Indeterminate},
		{0, -0.6699, 1, screen.Indeterminate}, // a score equal to a threshold is in the lower class
		{0, -0.6698, 2, screen.Indeterminate},
		{0, -0.654, 2, screen.Indeterminate},
		{0, -0.653, 2, screen.Positive},
		{0, -0.2908, 2, screen.Positive},
		{0, -0.2907, 3, screen.Positive},
		{1, -0.7939, 1, screen.Negative},
		{1, -0.7938, 2, screen.Negative},
		{1, -0.2173, 2, screen.Negative},
		{1, -0.2172, 3, screen.Positive},
		{1, 0.1521, 3, screen.Positive},
		{1, 0.1522, 4, screen.Positive},
	} {
		s := operations[c.task].score(c.raw, 1)
		if _, err := json.Marshal(s); err != nil { // the bounds are not known
			t.Error(err)
		}
		if s.Severity.Rank() != c.class || s.Decision != c.decision {
			t.Errorf("%v of %v: got class %v, %v, want %d, %v", c.raw, s.Category, s.Severity, s.Decision, c.class, c.decision)
		}
	}
}

// Pauses have no effect: a recording with a pause has the score of its speech alone.
func TestOnlySpeechIsHeard(t *testing.T) {
	m := tinyModel(t)
	voice := madeSignal()[:31*sampleRate]
	with := slices.Concat(voice[:16*sampleRate], make([]float64, 5*sampleRate), voice[16*sampleRate:])
	want, err := m.Score(t.Context(), &features.Recording{Native: voice, NativeRate: sampleRate})
	if err != nil {
		t.Fatal(err)
	}
	kept := slices.Clone(with)
	got, err := m.Score(t.Context(), &features.Recording{
		Native: with, NativeRate: sampleRate,
		Analysis: &dsp.Analysis{Speech: []dsp.Segment{{Start: 0, End: 16}, {Start: 21, End: 36}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got[i].Probability != want[i].Probability || got[i].Coverage != 1 {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
	if !slices.Equal(with, kept) {
		t.Error("the recording was changed")
	}
}

// Every recording has a score; a short one has a lower coverage.
func TestShortAndSilentRecordings(t *testing.T) {
	m := tinyModel(t)
	for name, c := range map[string]struct {
		in       features.Recording
		coverage float64
	}{
		"nothing":             {features.Recording{}, 0},
		"silence":             {features.Recording{Samples: make([]float64, 44100), NativeRate: 44100}, 1.0 / 30},
		"six seconds":         {features.Recording{Native: madeSignal()[:6*sampleRate], NativeRate: sampleRate}, 0.2},
		"a word":              {features.Recording{Native: madeSignal()[:6*sampleRate], NativeRate: sampleRate, Analysis: &dsp.Analysis{Speech: []dsp.Segment{{Start: 2, End: 3.5}}}}, 0.05},
		"speech past the end": {features.Recording{Native: madeSignal()[:6*sampleRate], NativeRate: sampleRate, Analysis: &dsp.Analysis{Speech: []dsp.Segment{{Start: 5, End: 9}}}}, 1.0 / 30},
	} {
		scores, err := m.Score(t.Context(), &c.in)
		if err != nil || len(scores) != 2 {
			t.Fatalf("%s: got %v, %v", name, scores, err)
		}
		for _, s := range scores {
			if little := slices.Contains(s.Cautions, screen.LittleSpeech); little != (name == "a word") || little && s.Decision != screen.Indeterminate {
				t.Errorf("%s: got %v with cautions %v", name, s.Decision, s.Cautions)
			}
			if !(s.Probability > 0 && s.Probability < 1) || math.Abs(s.Coverage-c.coverage) > 1e-6 || s.Calibrated || !math.IsNaN(s.Low) {
				t.Errorf("%s: got %+v, want coverage %v", name, s, c.coverage)
			}
		}
	}
}

func TestScoreEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tinyModel(t).Score(ctx, &features.Recording{Native: make([]float64, 100), NativeRate: sampleRate}); err == nil {
		t.Error("got no error, want the context's")
	}
}

func TestBaseRates(t *testing.T) {
	n := newNetwork(t, tiny, randomWeights(tiny, 5).read, &Options{Threads: 1})
	m, err := newModel(n, &ScorerOptions{Depression: 0.39})
	if err != nil || m.read[0].share != 0.39 || m.read[1].share != operations[1].share {
		t.Errorf("got %+v, %v", m, err)
	}
	for _, share := range []float64{-0.1, 1, math.NaN()} {
		if _, err := newModel(n, &ScorerOptions{Anxiety: share}); err == nil {
			t.Errorf("base rate %v: got no error", share)
		}
	}
}

// Whatever the base rate, a probability of one half or more is at least the class
// of 10 and positive, and the decision follows the probability.
func TestBaseRateAgreesWithClassAndDecision(t *testing.T) {
	for _, of := range operations {
		for _, of.share = range []float64{0.001, 0.061, 0.39, 0.8, 0.99} {
			b := of.band()
			for raw := -4.0; raw <= 3; raw += 0.01 {
				s := of.score(raw, 1)
				if s.Probability >= screen.Half && (s.Severity < screen.SeverityOf(of.category, 10) || s.Decision != screen.Positive) {
					t.Fatalf("%v, share %v: got %v, %v at a probability of %v", of.category, of.share, s.Severity, s.Decision, s.Probability)
				}
				if s.Decision != b.Decide(s.Probability) || s.Band != b || s.Prior != of.share {
					t.Fatalf("%v, share %v: got %+v, want the decision of its band", of.category, of.share, s)
				}
			}
		}
	}
}
