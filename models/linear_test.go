package models_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

// tolerance is what a few roundings may move a number of order 1.
const tolerance = 1e-12

// voice is a vector of voice/1 in which only the given features were measured.
func voice(features map[string]float64) features.Vector {
	v := constant(math.NaN())
	for name, x := range features {
		v.Values[v.Schema.Index(name)] = x
	}
	return v
}

func sigma(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func linear(t *testing.T, f *models.File) *models.Linear {
	t.Helper()
	l, err := models.NewLinear(f)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestScoreVector(t *testing.T) {
	const z90 = 1.6448536269514722
	both := map[string]float64{"f0.sd_st": 5, "hnr.mean_db": 12.5} // z = 1 and 0.5
	cases := []struct {
		name      string
		change    func(*models.File)
		features  map[string]float64
		eta, half float64 // after calibration, and less the threshold
		coverage  float64
		decision  screen.Decision
		severity  screen.Severity
		first     string
	}{
		{"both features", nil, both, 0.5 + 1 - 1, z90 * 0.1, 1, screen.Positive, 0, "f0.sd_st"},
		{"a missing feature counts as unknown", nil, map[string]float64{"f0.sd_st": 5}, 1.5, z90 * math.Sqrt(0.01+4), 1. / 3, screen.Positive, 0, "f0.sd_st"},
		{"nothing measured", nil, nil, 0.5, z90 * math.Sqrt(1.01+4), 0, screen.Positive, 0, ""},
		{"a value far out is held at the clip", nil, map[string]float64{"f0.sd_st": 1000, "hnr.mean_db": 10}, 3.5, z90 * 0.3, 1, screen.Positive, 0, "f0.sd_st"},
		{"the larger contribution comes first", nil, map[string]float64{"f0.sd_st": 2, "hnr.mean_db": 15}, -2, z90 * 0.05, 1, screen.Negative, 0, "hnr.mean_db"},
		{"inside the band", func(f *models.File) { f.Intercept = 0 }, both, 0, z90 * 0.1, 1, screen.Indeterminate, 0, "f0.sd_st"},
		{"calibrated", func(f *models.File) { f.Calibration = &models.Calibration{A: 2, B: -3} }, both, -2, 2 * z90 * 0.1, 1, screen.Negative, 0, "f0.sd_st"},
		{"common uncertainty", func(f *models.File) { f.LogitSD = 0.3 }, both, 0.5, z90 * math.Sqrt(0.09+0.01), 1, screen.Positive, 0, "f0.sd_st"},
		{"ordinal, lowest class", func(f *models.File) { f.Link = small(models.Ordinal).Link; f.Intercept = 0 }, both, -1, z90 * 0.1, 1, screen.Negative, 1, "f0.sd_st"},
		{"ordinal, a value at the cut is in the upper class", func(f *models.File) { f.Link = small(models.Ordinal).Link }, both, -0.5, z90 * 0.1, 1, screen.Negative, 2, "f0.sd_st"},
		{"ordinal, highest class", func(f *models.File) { f.Link = small(models.Ordinal).Link; f.Intercept = 4 }, both, 3, z90 * 0.1, 1, screen.Positive, 3, "f0.sd_st"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := small(models.Logit)
			if c.change != nil {
				c.change(f)
			}
			s := linear(t, f).ScoreVector(voice(c.features))
			for what, pair := range map[string][2]float64{
				"probability": {s.Probability, sigma(c.eta)}, "low": {s.Low, sigma(c.eta - c.half)},
				"high": {s.High, sigma(c.eta + c.half)}, "coverage": {s.Coverage, c.coverage},
			} {
				if math.Abs(pair[0]-pair[1]) > tolerance {
					t.Errorf("%s: got %v, want %v", what, pair[0], pair[1])
				}
			}
			if s.Decision != c.decision || s.Severity != c.severity {
				t.Errorf("got %v, class %v, want %v, class %v", s.Decision, s.Severity, c.decision, c.severity)
			}
			if len(s.Contributions) != len(c.features) {
				t.Errorf("got %d contributions, want %d", len(s.Contributions), len(c.features))
			}
			if c.first != "" && s.Contributions[0].Feature != c.first {
				t.Errorf("got %s first, want %s", s.Contributions[0].Feature, c.first)
			}
			if _, err := json.Marshal(s); err != nil {
				t.Error(err)
			}
		})
	}
}

// With further predictors any of them makes the score high, and a feature contributes
// its z times what the logit grows by with it.
func TestFurtherPredictors(t *testing.T) {
	x := map[string]float64{"f0.sd_st": 5, "hnr.mean_db": 12.5} // z = 1 and 0.5
	of := func(intercept, second, third float64) screen.Score {
		f := small(models.Logit)
		f.Intercept, f.Features[0].WeightSD = intercept, 0
		f.Others = []models.Predictor{{Of: "a", Intercept: second}, {Of: "b", Intercept: third}}
		f.Features[0].Others, f.Features[1].Others = []float64{0, 2}, []float64{3, 0}
		return linear(t, f).ScoreVector(voice(x))
	}
	logit := func(s screen.Score) float64 { return math.Log(s.Probability / (1 - s.Probability)) }
	for _, c := range []struct{ intercept, second, third, want float64 }{
		{0.5, -50, -50, 0.5}, // 0.5 + 1 − 1, −50 + 1.5 and −50 + 2
		{-50, 0.5, -50, 2},
		{-50, -50, 0.5, 2.5},
		{0, 0, 0, math.Log(1 + math.Exp(1.5) + math.Exp(2))},
		{700, 700, -700, 701.5},
	} {
		s := of(c.intercept, c.second, c.third)
		if got := logit(s); math.Abs(got-c.want) > 1e-9 && s.Probability != 1 { // 1 − p keeps 16 digits
			t.Errorf("intercepts %v, %v and %v: got the logit %v, want %v", c.intercept, c.second, c.third, got, c.want)
		}
	}
	const step = 1e-6
	s := of(0, 0, 0)
	for _, part := range s.Contributions {
		before := x[part.Feature]
		scale, z := 2.0, 1.0
		if part.Feature == "hnr.mean_db" {
			scale, z = 5, 0.5
		}
		x[part.Feature] = before + step*scale
		if want := (logit(of(0, 0, 0)) - logit(s)) / step * z; math.Abs(part.Logits-want) > 1e-5 { // of the difference quotient
			t.Errorf("%s: contributes %v, want %v", part.Feature, part.Logits, want)
		}
		x[part.Feature] = before
	}
	if len(s.Contributions) != 2 {
		t.Errorf("got %d contributions, want 2", len(s.Contributions))
	}
}

func TestScoreRefusesAnotherSchema(t *testing.T) {
	l := linear(t, small(models.Logit))
	if _, err := l.Score(context.Background(), &features.Recording{}); err == nil {
		t.Error("got no error for a recording without features")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Score(ctx, &features.Recording{Features: voice(nil)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// TestShippedScoresAreNumbers scores vectors at the edges of everything.
func TestShippedScoresAreNumbers(t *testing.T) {
	scorers, err := shipped.Scorers()
	if err != nil {
		t.Fatal(err)
	}
	var got []screen.Category
	for _, s := range scorers {
		got = append(got, s.Info().Categories...)
		if info := s.Info(); info.Calibrated != (info.Categories[0] == screen.Deepfake) || info.Calibrated != (info.CalibratedOn != "") {
			t.Errorf("%s: got calibrated %v on %q", info.Name, info.Calibrated, info.CalibratedOn)
		}
		for _, x := range []float64{math.NaN(), 0, 1, math.Inf(1), math.Inf(-1), 1e300, -1e300} {
			if l, ok := s.(*models.Linear); ok && l.File().Schema != "voice/1" {
				continue
			}
			in := &features.Recording{Features: constant(x)}
			scores, err := s.Score(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := json.Marshal(scores); err != nil {
				t.Errorf("%s, all features %v: %v", s.Info().Name, x, err)
			}
			again, _ := s.Score(context.Background(), in)
			if !reflect.DeepEqual(scores, again) {
				t.Errorf("%s: got %v, then %v", s.Info().Name, scores, again)
			}
		}
	}
	want := []screen.Category{screen.Depression, screen.Anxiety, screen.Deepfake}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got categories %v, want %v", got, want)
	}
}

// BenchmarkScoreVector scores one segment with the shipped deepfake model.
func BenchmarkScoreVector(b *testing.B) {
	l, err := models.LoadFile("shipped/files/deepfake.json")
	if err != nil {
		b.Fatal(err)
	}
	schema := spoof.Schema()
	v := features.Vector{Schema: schema, Values: make([]float64, schema.Len())}
	b.ReportAllocs()
	for b.Loop() {
		l.(*models.Linear).ScoreVector(v)
	}
}

func BenchmarkLoadDeepfake(b *testing.B) {
	for b.Loop() {
		if _, err := models.LoadFile("shipped/files/deepfake.json"); err != nil {
			b.Fatal(err)
		}
	}
}
