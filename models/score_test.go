package models_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/spoof"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

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
