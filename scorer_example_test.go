package voicescreen_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log"
	"math"
	"slices"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/memory"
	"github.com/voicescreen/voicescreen/voicescreentest"
)

// pauses is a scorer of depression by the share of pauses and the rate of speech: a
// logistic regression with made-up weights, which shows all that a scorer sets. It
// has no state, and so is safe for concurrent use.
type pauses struct{}

// Info returns what never changes: it is stored with each score.
func (pauses) Info() models.Info {
	return models.Info{Name: "pauses", Version: "1", Categories: []screen.Category{screen.Depression}}
}

// pausesIntercept is the logit of the probability of an average recording: the base
// rate that the weights were fitted for.
const pausesIntercept = -2.4

// pausesTerms are the features of the model, with their mean, standard deviation and
// weight.
var pausesTerms = []struct {
	feature, unit    string
	mean, sd, weight float64
}{
	{"pause.ratio", "", 0.3, 0.1, 0.5},
	{"articulation.rate_syl_s", "1/s", 4.2, 0.7, -0.4},
}

// Score returns one score for each category of Info.
func (p pauses) Score(_ context.Context, in *features.Recording) ([]screen.Score, error) {
	s := screen.Score{
		Category: screen.Depression, Model: p.Info().Name, Version: p.Info().Version,
		Low: math.NaN(), High: math.NaN(), // no interval; both would be probabilities
		Prior: 0.08, // the share of positive recordings that Probability assumes
	}
	logit, known, all := pausesIntercept, 0.0, 0.0
	for _, t := range pausesTerms {
		all += math.Abs(t.weight)
		x := in.Features.Get(t.feature)
		if math.IsNaN(x) { // not measured: as the average, and said so by Coverage
			continue
		}
		known += math.Abs(t.weight)
		part := t.weight * (x - t.mean) / t.sd
		logit += part
		s.Contributions = append(s.Contributions, screen.Contribution{Feature: t.feature, Value: x, Unit: t.unit, Logits: part})
	}
	slices.SortFunc(s.Contributions, func(a, b screen.Contribution) int { // largest first
		return cmp.Compare(math.Abs(b.Logits), math.Abs(a.Logits))
	})
	s.Coverage = known / all
	s.Probability = 1 / (1 + math.Exp(-logit))
	switch { // both the class and the decision follow from the probability
	case s.Probability >= 0.5:
		s.Decision, s.Severity = screen.Positive, screen.ModerateToSevere
	case s.Probability >= 0.2:
		s.Decision, s.Severity = screen.Positive, screen.MildToModerate
	case s.Probability >= 0.15:
		s.Decision, s.Severity = screen.Indeterminate, screen.NoToMild
	default:
		s.Decision, s.Severity = screen.Negative, screen.NoToMild
	}
	return []screen.Score{s}, nil
}

// A complete scorer, in use for the category that it names. The shipped ones stay
// for the others.
func Example_scorer() {
	ctx := context.Background()
	st := memory.New(nil)
	defer st.Close()
	engine, err := voicescreen.New(st, &voicescreen.Options{
		Scoring: voicescreen.ScoringOptions{Models: []models.Scorer{pauses{}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close(ctx)
	analysis, err := engine.Analyze(ctx, bytes.NewReader(voicescreentest.Recording()), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range analysis.Scores {
		if s.Category != screen.Depression {
			continue
		}
		fmt.Printf("%s %s: %v, %v, coverage %.0f\n", s.Model, s.Version, s.Decision, s.Severity, s.Coverage)
		for _, c := range s.Contributions {
			fmt.Println(c.Feature, c.Logits > 0)
		}
	}
	// Output:
	// pauses 1: negative, no_to_mild, coverage 1
	// pause.ratio false
	// articulation.rate_syl_s true
}
