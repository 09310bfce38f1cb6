package voicescreen

import (
	"context"
	"fmt"
	"slices"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

// scorers are the scorers of an engine at one time, one for each category. They
// are never changed.
type scorers struct {
	list  []models.Scorer
	of    map[screen.Category]int // index into list
	given int                     // index of the first of ScoringOptions.Models
	from  sources                 // of those of categories that learn
}

// sources are the models that were made here. They are comparable: equal sources give
// equal scorers.
type sources struct {
	learned, adapted *learnedModels
}

// newScorers returns the scorers in use: those of ScoringOptions.Models, for the
// other categories the learned ones, for the rest the shipped ones with adapted
// norms, or as they are. A base rate applies to models that have none from labels.
func newScorers(o *ScoringOptions, from sources) (*scorers, error) {
	shipped, err := shipped.Scorers()
	if err != nil {
		return nil, fmt.Errorf("voicescreen: shipped models: %w", err)
	}
	s := &scorers{of: map[screen.Category]int{}, from: from}
	s.list = append(s.list, shipped...)
	for _, made := range []*learnedModels{from.adapted, from.learned} {
		for c := range made.of {
			f := made.newest(c)
			if f == nil {
				continue
			}
			if made == from.adapted {
				f = decidesAs(f, shipped)
			}
			b, err := models.NewBayes(f)
			if err != nil {
				return nil, fmt.Errorf("voicescreen: learned models: %w", err)
			}
			s.list = append(s.list, b)
		}
	}
	s.given = len(s.list)
	s.list = append(s.list, o.Models...)
	for i, sc := range s.list {
		if sc == nil {
			return nil, &InvalidError{Fields: map[string]Problem{"models": Unprovided}, Detail: "a scorer in ScoringOptions.Models is nil"}
		}
		info := sc.Info()
		if len(info.Categories) == 0 {
			return nil, malformed("models", fmt.Sprintf("the scorer %q in ScoringOptions.Models names no category", info.Name))
		}
		for k, c := range info.Categories {
			if slices.Contains(info.Categories[:k], c) {
				return nil, malformed("models", fmt.Sprintf("the scorer %q in ScoringOptions.Models names %v twice", info.Name, c))
			}
			if !c.Valid() {
				return nil, malformed("models", fmt.Sprintf("the scorer %q in ScoringOptions.Models names the unknown category %v", info.Name, c))
			}
			s.of[c] = i
		}
		if s.list[i], err = models.WithBaseRates(sc, o.BaseRates); err != nil {
			return nil, malformed("base_rates", err.Error())
		}
	}
	return s, nil
}

// decidesAs returns an adapted model with its decision open for every recording, if the
// shipped scorer of its category leaves it open: norms are no evidence that a model is
// better than the base rate.
func decidesAs(f *models.BayesFile, shipped []models.Scorer) *models.BayesFile {
	open := models.Band{Low: 0, High: 1}
	for _, s := range shipped {
		if b, ok := s.(*models.Bayes); ok && b.File().Category == f.Category && b.File().Indeterminate == open {
			out := *f
			out.Indeterminate = open
			return &out
		}
	}
	return f
}

// stream says whether no scorer needs the samples of a recording in memory.
func (s *scorers) stream() bool {
	for _, i := range s.of {
		if !s.list[i].Info().Streams {
			return false
		}
	}
	return true
}

// measure measures a recording for the scorers: in blocks, or in memory if one of them
// needs its samples there.
func (s *scorers) measure(m *features.Measurer, src *features.Source) (*features.Recording, error) {
	if s.stream() {
		return m.MeasureSource(src)
	}
	c, err := src.Channel()
	if err != nil {
		return nil, err
	}
	return m.Measure(c), nil
}

// learns returns ErrConflict where the model of a category was given: a learned
// one would not be used.
func (s *scorers) learns(c screen.Category) error {
	if s.of[c] < s.given {
		return nil
	}
	return fmt.Errorf("%w: the %v model in use was given in ScoringOptions.Models and does not learn from labels", ErrConflict, c)
}

// score returns one score for each category asked for, in that order, each
// decided by decide. Each scorer that is needed runs once.
func (s *scorers) score(ctx context.Context, in *features.Recording, want []screen.Category, decide func(*screen.Score)) ([]screen.Score, error) {
	got := map[int][]screen.Score{}
	scores := make([]screen.Score, 0, len(want))
	for _, c := range want {
		i, ok := s.of[c]
		if !ok {
			return nil, fmt.Errorf("voicescreen: no model for %v", c)
		}
		if _, ran := got[i]; !ran {
			all, err := runScorer(ctx, s.list[i], in)
			if err != nil {
				return nil, err
			}
			got[i] = all
		}
		for _, sc := range got[i] {
			if sc.Category == c {
				decide(&sc)
				scores = append(scores, sc)
				break
			}
		}
	}
	return scores, nil
}

// runScorer calls a scorer, checks what models.Scorer promises of its scores, and
// completes them.
func runScorer(ctx context.Context, sc models.Scorer, in *features.Recording) ([]screen.Score, error) {
	info := sc.Info()
	all, err := sc.Score(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("voicescreen: model %s: %w", info.Name, err)
	}
	all = slices.Clone(all) // which the scorer may keep
	if err := complete(info, all); err != nil {
		return nil, fmt.Errorf("voicescreen: model %s: %w", info.Name, err)
	}
	return all, nil
}
