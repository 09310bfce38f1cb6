package voicescreen_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// own is a scorer of one score for each of its categories.
func own(scores ...screen.Score) *fakeScorer {
	f := &fakeScorer{score: func(context.Context, *features.Recording) ([]screen.Score, error) { return scores, nil }}
	for i := range scores {
		f.categories = append(f.categories, scores[i].Category)
	}
	return f
}

// analyzed are the scores of a recording that is good enough for every score.
func analyzed(t *testing.T, prior float64, s models.Scorer) ([]screen.Score, error) {
	t.Helper()
	opts := testOptions()
	opts.Workers, opts.Scoring.Models, opts.Scoring.DeepfakePrior = -1, []models.Scorer{s}, prior
	e := newEngine(t, newMemory(t), opts)
	a, err := e.Analyze(t.Context(), bytes.NewReader(speech()), nil)
	if err != nil {
		return nil, err
	}
	var out []screen.Score
	for _, x := range a.Scores {
		if x.Model == "fake" {
			out = append(out, x)
		}
	}
	return out, nil
}

// What a scorer leaves empty is derived from what it sets.
func TestEmptyPartsAreDerived(t *testing.T) {
	doubt := []screen.Caution{screen.Unfamiliar}
	for name, c := range map[string]struct {
		in       screen.Score
		prior    float64
		decision screen.Decision
		severity screen.Severity
	}{
		"depression, low":             {screen.Score{Category: screen.Depression, Probability: 0.2}, 0, screen.Negative, screen.NoToMild},
		"depression, at one half":     {screen.Score{Category: screen.Depression, Probability: 0.5}, 0, screen.Positive, screen.MildToModerate},
		"depression, high":            {screen.Score{Category: screen.Depression, Probability: 0.95}, 0, screen.Positive, screen.MildToModerate},
		"anxiety, low":                {screen.Score{Category: screen.Anxiety, Probability: 0.2}, 0, screen.Negative, screen.NoOrMinimal},
		"anxiety, high":               {screen.Score{Category: screen.Anxiety, Probability: 0.7}, 0, screen.Positive, screen.ModeratelySevere},
		"class alone, a low cut":      {screen.Score{Category: screen.Depression, Probability: 0.1, Severity: screen.MildToModerate}, 0, screen.Positive, screen.MildToModerate},
		"class alone, below":          {screen.Score{Category: screen.Anxiety, Probability: 0.1, Severity: screen.Moderate}, 0, screen.Negative, screen.Moderate},
		"decision alone, a low cut":   {screen.Score{Category: screen.Depression, Probability: 0.1, Decision: screen.Positive}, 0, screen.Positive, screen.MildToModerate},
		"decision alone, open":        {screen.Score{Category: screen.Depression, Probability: 0.6, Decision: screen.Indeterminate}, 0, screen.Indeterminate, screen.MildToModerate},
		"band alone":                  {screen.Score{Category: screen.Depression, Probability: 0.15, Band: screen.Band{Low: 0.1, High: 0.2}}, 0, screen.Indeterminate, screen.NoToMild},
		"doubtful":                    {screen.Score{Category: screen.Depression, Probability: 0.9, Cautions: doubt}, 0, screen.Indeterminate, screen.MildToModerate},
		"deepfake":                    {screen.Score{Category: screen.Deepfake, Probability: 0.6}, 0, screen.Positive, 0},
		"deepfake, by the prior":      {screen.Score{Category: screen.Deepfake, Probability: 0.735, Prior: 0.5, Decision: screen.Positive}, 0.01, screen.Negative, 0},
		"deepfake, open stays open":   {screen.Score{Category: screen.Deepfake, Probability: 0.735, Prior: 0.5, Decision: screen.Indeterminate}, 0.9, screen.Indeterminate, 0},
		"deepfake, its band decides":  {screen.Score{Category: screen.Deepfake, Probability: 0.7, Decision: screen.Negative, Band: screen.Band{Low: 0.2, High: 0.9}}, 0, screen.Positive, 0},
		"everything set":              {screen.Score{Category: screen.Anxiety, Probability: 0.1, Decision: screen.Positive, Severity: screen.Severe}, 0, screen.Positive, screen.Severe},
		"at one half, the class left": {screen.Score{Category: screen.Anxiety, Probability: 0.5, Decision: screen.Indeterminate, Severity: screen.NoOrMinimal}, 0, screen.Indeterminate, screen.NoOrMinimal},
	} {
		got, err := analyzed(t, c.prior, own(c.in))
		if err != nil || len(got) != 1 {
			t.Errorf("%s: got %v, %v", name, got, err)
			continue
		}
		s := got[0]
		if s.Decision != c.decision || s.Severity != c.severity || s.Model != "fake" || s.Version != "1" || !math.IsNaN(s.Low) || !math.IsNaN(s.High) {
			t.Errorf("%s: got %+v, want %v and %v of fake 1 without an interval", name, s, c.decision, c.severity)
		}
	}
}

// What cannot be right is refused, and the error names it.
func TestWrongScoresAreRefused(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		in   screen.Score
		says string
	}{
		"class of another category":   {screen.Score{Category: screen.Depression, Probability: 0.2, Severity: screen.Severe}, "another category"},
		"class of a deepfake":         {screen.Score{Category: screen.Deepfake, Probability: 0.2, Severity: screen.NoToMild}, "another category"},
		"unknown decision":            {screen.Score{Category: screen.Depression, Probability: 0.2, Decision: 9}, "decision"},
		"negative at 0.9":             {screen.Score{Category: screen.Depression, Probability: 0.9, Decision: screen.Negative, Severity: screen.MildToModerate}, "decision is negative"},
		"lowest class at 0.9":         {screen.Score{Category: screen.Anxiety, Probability: 0.9, Decision: screen.Positive, Severity: screen.Moderate}, "class is below moderately_severe"},
		"positive deepfake at 0.3":    {screen.Score{Category: screen.Deepfake, Probability: 0.3, Decision: screen.Positive}, "positive at a probability below 0.5"},
		"probability is not a number": {screen.Score{Category: screen.Depression, Probability: nan}, "probability"},
		"probability in percent":      {screen.Score{Category: screen.Depression, Probability: 42}, "probability"},
		"interval the wrong way":      {screen.Score{Category: screen.Depression, Probability: 0.4, Low: 0.6, High: 0.2}, "interval"},
		"interval out of range":       {screen.Score{Category: screen.Depression, Probability: 0.4, Low: -1, High: nan}, "interval"},
		"coverage is not a number":    {screen.Score{Category: screen.Depression, Probability: 0.4, Coverage: nan}, "coverage"},
		"prior of one":                {screen.Score{Category: screen.Deepfake, Probability: 0.4, Prior: 1}, "prior"},
		"infinite contribution":       {screen.Score{Category: screen.Depression, Probability: 0.4, Contributions: []screen.Contribution{{Feature: "pause.ratio", Logits: math.Inf(1)}}}, `contribution of "pause.ratio"`},
		"segment without a start":     {screen.Score{Category: screen.Deepfake, Probability: 0.4, Segments: []screen.Segment{{Start: nan, End: 1, Probability: 0.4}}}, "segment 0"},
		"band the wrong way":          {screen.Score{Category: screen.Depression, Probability: 0.4, Band: screen.Band{Low: 0.6, High: 0.5}}, "band"},
	} {
		if got, err := analyzed(t, 0, own(c.in)); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "model fake") {
			t.Errorf("%s: got %v and error %v, want an error that says %q", name, got, err, c.says)
		}
	}
}

// A session whose scorer is refused fails with internal_error, and the log says why, without the score.
func TestRefusedScoreFailsTheSession(t *testing.T) {
	var log strings.Builder
	opts := testOptions()
	opts.Workers, opts.Queue.Attempts = 1, 1
	opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
	opts.Scoring.Models = []models.Scorer{own(screen.Score{Category: screen.Depression, Probability: 0.9312, Decision: screen.Negative}), own(screen.Score{Category: screen.Anxiety, Probability: 0.2})}
	e := newEngine(t, newMemory(t), opts)
	id := initiate(t, e, "u")
	submit(t, e, id, speech())
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	r, err := e.Wait(ctx, id)
	if err != nil || r.Status != screen.StatusFailed || r.Failure.Code != screen.CodeInternal {
		t.Fatalf("got %+v, %v, want internal_error", r, err)
	}
	closeEngine(t, e)
	if !strings.Contains(log.String(), "decision is negative") || strings.Contains(log.String(), "9312") {
		t.Errorf("got the log %s, want the fault without the probability", log.String())
	}
}

func TestConstructionRefuses(t *testing.T) {
	if _, err := voicescreen.New(nil, nil); !errors.Is(err, voicescreen.ErrInvalid) || !strings.Contains(err.Error(), "store is nil") {
		t.Errorf("no store: got %v, want ErrInvalid", err)
	}
	for name, c := range map[string]struct {
		change func(*voicescreen.Options)
		says   string
	}{
		"a scorer of no category": {func(o *voicescreen.Options) { o.Scoring.Models = []models.Scorer{&fakeScorer{}} }, "no category"},
		"a scorer of another category": {func(o *voicescreen.Options) {
			o.Scoring.Models = []models.Scorer{&fakeScorer{categories: []screen.Category{9}}}
		}, "unknown category"},
		"a scorer of one category twice": {func(o *voicescreen.Options) {
			o.Scoring.Models = []models.Scorer{&fakeScorer{categories: []screen.Category{screen.Anxiety, screen.Anxiety}}}
		}, "anxiety twice"},
		"negative MinSpeech":            {func(o *voicescreen.Options) { o.Audio.Limits.MinSpeech = -time.Second }, "MinSpeech is -1s"},
		"negative MinSpeech, deepfakes": {func(o *voicescreen.Options) { o.Audio.Limits.MinSpeechDeepfake = -1 }, "MinSpeechDeepfake -1ns"},
	} {
		opts := testOptions()
		c.change(opts)
		e, err := voicescreen.New(newMemory(t), opts)
		if !errors.Is(err, voicescreen.ErrInvalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want ErrInvalid that says %q", name, err, c.says)
		}
		if e != nil {
			closeEngine(t, e)
		}
	}
}
