package models_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// stage is a scorer of known scores.
type stage struct {
	info  models.Info
	score screen.Score
	err   error
	calls int
}

func (s *stage) Info() models.Info { return s.info }
func (s *stage) Score(context.Context, *features.Recording) ([]screen.Score, error) {
	s.calls++
	return []screen.Score{s.score}, s.err
}

func TestCascade(t *testing.T) {
	broken := errors.New("broken")
	deepfake := []screen.Category{screen.Deepfake}
	for name, c := range map[string]struct {
		margin, p float64
		decision  screen.Decision
		caution   screen.Caution // 0 for none
		sent      bool
	}{
		"decided":               {0, 0.55, screen.Positive, 0, false},
		"open":                  {0, 0.4, screen.Indeterminate, 0, true},
		"open and far":          {0, 0.99, screen.Indeterminate, screen.Unfamiliar, true},
		"within the margin":     {1, 0.7, screen.Positive, 0, true},
		"outside the margin":    {1, 0.75, screen.Positive, 0, false},
		"below the margin":      {1, 0.26, screen.Negative, 0, false},
		"open, but outside":     {0.5, 0.3, screen.Indeterminate, 0, false},
		"unfamiliar":            {1, 0.99, screen.Indeterminate, screen.Unfamiliar, true},
		"certain":               {1, 1, screen.Positive, 0, false},
		"certain and no margin": {math.Inf(1), 1, screen.Positive, 0, true},
	} {
		first := &stage{info: models.Info{Name: "a", Version: "1", Categories: deepfake, Streams: true, Calibrated: true, CalibratedOn: "x"}, score: screen.Score{Probability: c.p, Decision: c.decision}}
		if c.caution != 0 {
			first.score.Cautions = []screen.Caution{c.caution}
		}
		second := &stage{info: models.Info{Name: "b", Version: "2", Categories: deepfake, Streams: true, Licence: "MIT", SHA256: "00"}, score: screen.Score{Probability: 0.125}}
		m, err := models.NewCascade(first, second, c.margin)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Score(t.Context(), &features.Recording{})
		want := c.p
		if c.sent {
			want = 0.125
		}
		s := m.Stats()
		if err != nil || got[0].Probability != want || second.calls == 1 != c.sent || s.Recordings != 1 || s.Sent != second.calls || s.First < 0 || s.Second < 0 {
			t.Errorf("%s: got %+v, %v, %+v, want the probability %v", name, got, err, s, want)
		}
		if i := m.Info(); i.Name != "a+b" || i.Version != "1+2" || i.Calibrated || i.CalibratedOn != "" || !i.Streams || i.Licence != "MIT" || i.SHA256 != "00" {
			t.Errorf("got %+v", i)
		}
		first.err, second.err = nil, broken
		if _, err := m.Score(t.Context(), &features.Recording{}); errors.Is(err, broken) != c.sent {
			t.Errorf("%s: got %v of a broken second scorer", name, err)
		}
		first.err = broken
		if _, err := m.Score(t.Context(), &features.Recording{}); !errors.Is(err, broken) {
			t.Errorf("%s: got %v of a broken first scorer", name, err)
		}
	}
	both := &stage{info: models.Info{Categories: []screen.Category{screen.Depression, screen.Anxiety}}}
	one := &stage{info: models.Info{Categories: deepfake}}
	for _, c := range []struct {
		a, b   *stage
		margin float64
	}{{both, both, 0}, {one, both, 0}, {both, one, 0}, {one, one, -1}, {one, one, math.NaN()}} {
		if _, err := models.NewCascade(c.a, c.b, c.margin); err == nil {
			t.Errorf("%v, %v, %v: got no error", c.a.info, c.b.info, c.margin)
		}
	}
}

// TestCascadeDerivesTheDecision: a scorer may leave its decision to the engine, which
// derives it from the band and the cautions.
func TestCascadeDerivesTheDecision(t *testing.T) {
	band := screen.Band{Low: 0.25, High: 0.5}
	for name, c := range map[string]struct {
		score screen.Score
		sent  bool
	}{
		"open":       {screen.Score{Probability: 0.4, Band: band}, true},
		"below":      {screen.Score{Probability: 0.2, Band: band}, false},
		"above":      {screen.Score{Probability: 0.5, Band: band}, false},
		"always":     {screen.Score{Probability: 0.9, Band: screen.Open}, true},
		"unfamiliar": {screen.Score{Probability: 0.9, Cautions: []screen.Caution{screen.Unfamiliar}}, true},
		"no band":    {screen.Score{Probability: 0.4}, false},
	} {
		info := models.Info{Categories: []screen.Category{screen.Deepfake}}
		second := &stage{info: info}
		m, err := models.NewCascade(&stage{info: info, score: c.score}, second, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Score(t.Context(), &features.Recording{}); err != nil || second.calls == 1 != c.sent {
			t.Errorf("%s: got %d calls of the second scorer (%v), want one: %v", name, second.calls, err, c.sent)
		}
	}
}
