package voicescreen

import (
	"context"
	"fmt"

	"github.com/voicescreen/voicescreen/models"
)

// scorers are the scorers of an engine, one for each category.
type scorers struct {
	list []models.Scorer
	of   map[models.Category]int // index into list
}

// newScorers returns the shipped scorers, and those of replace in their place
// in the categories that they name.
func newScorers(replace []models.Scorer) (scorers, error) {
	shipped, err := models.Shipped()
	if err != nil {
		return scorers{}, fmt.Errorf("voicescreen: shipped models: %w", err)
	}
	s := scorers{of: map[models.Category]int{}}
	s.list = append(append(s.list, shipped...), replace...)
	for i, sc := range s.list {
		if sc == nil {
			return scorers{}, &InvalidError{Fields: map[string]Problem{"models": Unprovided}, Detail: "a scorer in Options.Models is nil"}
		}
		for _, c := range sc.Info().Categories {
			s.of[c] = i
		}
	}
	return s, nil
}

// score returns one score for each category asked for, in that order. Each
// scorer that is needed runs once.
func (s *scorers) score(ctx context.Context, in *models.Recording, want []models.Category) ([]models.Score, error) {
	got := map[int][]models.Score{}
	scores := make([]models.Score, 0, len(want))
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
				scores = append(scores, sc)
				break
			}
		}
	}
	return scores, nil
}

// runScorer calls a scorer and holds it to what models.Scorer promises: what
// it returns is stored and shown as it is.
func runScorer(ctx context.Context, sc models.Scorer, in *models.Recording) ([]models.Score, error) {
	info := sc.Info()
	all, err := sc.Score(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("voicescreen: model %s: %w", info.Name, err)
	}
	if len(all) != len(info.Categories) {
		return nil, fmt.Errorf("voicescreen: model %s: got %d scores, want %d", info.Name, len(all), len(info.Categories))
	}
	for i, c := range info.Categories {
		switch s := &all[i]; {
		case s.Category != c:
			return nil, fmt.Errorf("voicescreen: model %s: score %d is of %v, want %v", info.Name, i, s.Category, c)
		case !(s.Probability >= 0 && s.Probability <= 1): // NaN too
			return nil, fmt.Errorf("voicescreen: model %s: the probability of %v is out of range", info.Name, c)
		}
	}
	return all, nil
}
