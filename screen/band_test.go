package screen_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/screen"
)

func TestBandDecides(t *testing.T) {
	band, single := screen.Band{Low: 0.3, High: 0.6}, screen.Band{Low: 0.5, High: 0.5}
	for name, c := range map[string]struct {
		band screen.Band
		p    float64
		want screen.Decision
	}{
		"below the band":       {band, 0.29, screen.Negative},
		"at the lower bound":   {band, 0.3, screen.Indeterminate},
		"within the band":      {band, 0.59, screen.Indeterminate},
		"at the upper bound":   {band, 0.6, screen.Positive},
		"below one threshold":  {single, 0.499, screen.Negative},
		"at one threshold":     {single, 0.5, screen.Positive},
		"open, lowest":         {screen.Open, 0, screen.Indeterminate},
		"open, highest":        {screen.Open, 1, screen.Indeterminate},
		"not a number":         {band, math.NaN(), screen.Indeterminate},
		"everything positive":  {screen.Band{}, 0, screen.Positive},
		"hardly ever positive": {screen.Band{Low: 1, High: 1}, 0.999, screen.Negative},
	} {
		if got := c.band.Decide(c.p); got != c.want {
			t.Errorf("%s: got %v of %v by %v, want %v", name, got, c.p, c.band, c.want)
		}
	}
}

func TestBandOfAModel(t *testing.T) {
	for name, c := range map[string]struct {
		own  screen.Band
		of   screen.Category
		want screen.Band
	}{
		"below one half":              {screen.Band{Low: 0.1, High: 0.2}, screen.Depression, screen.Band{Low: 0.1, High: 0.2}},
		"undecided above one half":    {screen.Band{Low: 0.4, High: 0.6}, screen.Anxiety, screen.Band{Low: 0.4, High: 0.6}},
		"never negative at one half":  {screen.Band{Low: 0.7, High: 0.9}, screen.Depression, screen.Band{Low: 0.5, High: 0.9}},
		"deepfake":                    {screen.Band{Low: 0.3, High: 0.7}, screen.Deepfake, screen.Band{Low: 0.3, High: 0.5}},
		"deepfake, all below":         {screen.Band{Low: 0.2, High: 0.3}, screen.Deepfake, screen.Band{Low: 0.2, High: 0.5}},
		"deepfake, all above":         {screen.Band{Low: 0.8, High: 0.9}, screen.Deepfake, screen.Band{Low: 0.5, High: 0.5}},
		"open stays open":             {screen.Open, screen.Anxiety, screen.Open},
		"open stays open, a deepfake": {screen.Open, screen.Deepfake, screen.Open},
	} {
		if got := c.own.Of(c.of); got != c.want {
			t.Errorf("%s: got %v of %v, want %v", name, got, c.own, c.want)
		}
	}
}

// A score of 0.735 under a prior of 0.01 is shown as 0.0272, and is no deepfake.
func TestSetPriorDecides(t *testing.T) {
	s := screen.Score{Category: screen.Deepfake, Probability: 0.7346, Prior: 0.5}
	s.Decide(screen.Band{Low: 0.31, High: 0.69}.Of(screen.Deepfake))
	if s.Decision != screen.Positive || !s.IsPositive() {
		t.Fatalf("got %v before, want positive", s.Decision)
	}
	s.SetPrior(0.01)
	if s.Decision != screen.Negative || s.IsPositive() || s.Probability > 0.03 {
		t.Errorf("got %v at %v, want negative", s.Decision, s.Probability)
	}
	s.SetPrior(0.9)
	if s.Decision != screen.Positive || !s.IsPositive() {
		t.Errorf("got %v at %v, want positive", s.Decision, s.Probability)
	}
	left := screen.Score{Category: screen.Deepfake, Probability: 0.9, Prior: 0.5, Decision: screen.Indeterminate}
	if left.SetPrior(0.95); left.Decision != screen.Indeterminate {
		t.Errorf("got %v of a score without a band, want its own decision", left.Decision)
	}
}

// What a band leaves undecided is not positive; a doubt alone leaves the answer.
func TestIsPositive(t *testing.T) {
	doubt := []screen.Caution{screen.Unfamiliar}
	for name, c := range map[string]struct {
		band     screen.Band
		cautions []screen.Caution
		p        float64
		want     bool
		decision screen.Decision
	}{
		"in a band":               {screen.Band{Low: 0.72, High: 0.9}, nil, 0.735, false, screen.Indeterminate},
		"above a band":            {screen.Band{Low: 0.72, High: 0.9}, nil, 0.9, true, screen.Positive},
		"below a band":            {screen.Band{Low: 0.72, High: 0.9}, nil, 0.7, false, screen.Negative},
		"in a band, doubtful":     {screen.Band{Low: 0.72, High: 0.9}, doubt, 0.735, false, screen.Indeterminate},
		"above a band, doubtful":  {screen.Band{Low: 0.72, High: 0.9}, doubt, 0.95, true, screen.Indeterminate},
		"open":                    {screen.Open, nil, 1, false, screen.Indeterminate},
		"a caution without doubt": {screen.Band{Low: 0.5, High: 0.5}, []screen.Caution{screen.Noisy}, 0.5, true, screen.Positive},
	} {
		s := screen.Score{Category: screen.Deepfake, Probability: c.p, Cautions: c.cautions}
		s.Decide(c.band)
		if s.IsPositive() != c.want || s.Decision != c.decision {
			t.Errorf("%s: got %v and %v, want %v and %v", name, s.IsPositive(), s.Decision, c.want, c.decision)
		}
	}
}

func TestClassAtOneHalf(t *testing.T) {
	for _, c := range []struct {
		category screen.Category
		own      screen.Severity
		p        float64
		want     screen.Severity
	}{
		{screen.Depression, screen.NoToMild, 0.499, screen.NoToMild},
		{screen.Depression, screen.NoToMild, 0.5, screen.MildToModerate},
		{screen.Depression, screen.ModerateToSevere, 0.5, screen.ModerateToSevere},
		{screen.Anxiety, screen.Moderate, 0.5, screen.ModeratelySevere},
		{screen.Anxiety, screen.Severe, 0.1, screen.Severe},
		{screen.Deepfake, 0, 0.9, 0},
	} {
		if got := c.category.AtLeast(c.own, c.p); got != c.want {
			t.Errorf("%v at %v: got %v of %v, want %v", c.category, c.p, got, c.own, c.want)
		}
	}
}

// A band is in JSON where there is one.
func TestBandInJSON(t *testing.T) {
	s := screen.Score{Category: screen.Deepfake, Decision: screen.Negative, Band: screen.Band{Low: 0.25, High: 0.5}}
	b, err := json.Marshal(s)
	if err != nil || !strings.Contains(string(b), `"band":{"low":0.25,"high":0.5}`) {
		t.Fatalf("got %s, %v", b, err)
	}
	var got screen.Score
	if err := json.Unmarshal(b, &got); err != nil || got.Band != s.Band {
		t.Errorf("got %+v, %v, want the band back", got, err)
	}
	if b, _ := json.Marshal(screen.Score{Category: screen.Deepfake, Decision: screen.Negative}); strings.Contains(string(b), "band") {
		t.Errorf("got %s, want no band", b)
	}
}
