package voicescreentest

import (
	"context"
	"math"
	"sync"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// Scorer gives every recording the same scores. It is safe for concurrent use.
type Scorer struct {
	scores []screen.Score

	mu    sync.Mutex // protects what follows
	calls int
	err   error
}

var _ models.Scorer = (*Scorer)(nil)

// NewScorer returns a scorer of these scores, at most one of each category. Of a
// score Category and Probability must be set. What else is zero is filled: the name
// and the version of the model, "voicescreentest" and "1"; no interval; Coverage 1;
// the decision, positive from one half on; and the lowest class of depression and
// anxiety, or from one half on the highest. Without scores it gives each category
// the probability 0.25. The scores are copied.
func NewScorer(scores ...screen.Score) *Scorer {
	if len(scores) == 0 {
		for _, c := range screen.Categories() {
			scores = append(scores, screen.Score{Category: c, Probability: 0.25})
		}
	}
	s := &Scorer{}
	for _, score := range scores {
		s.scores = append(s.scores, filled(score))
	}
	return s
}

const (
	scorerName    = "voicescreentest"
	scorerVersion = "1"
)

// filled returns a score without zero fields.
func filled(s screen.Score) screen.Score {
	if s.Model == "" {
		s.Model, s.Version = scorerName, scorerVersion
	}
	if s.Low == 0 && s.High == 0 {
		s.Low, s.High = math.NaN(), math.NaN()
	}
	if s.Coverage == 0 {
		s.Coverage = 1
	}
	positive := s.Probability >= 0.5
	if s.Decision == 0 {
		s.Decision = screen.Negative
		if positive {
			s.Decision = screen.Positive
		}
	}
	if classes := s.Category.Severities(); s.Severity == 0 && len(classes) > 0 {
		s.Severity = classes[0]
		if positive {
			s.Severity = classes[len(classes)-1]
		}
	}
	return s
}

// Info returns the categories of the scores.
func (s *Scorer) Info() models.Info {
	info := models.Info{Name: scorerName, Version: scorerVersion}
	for i := range s.scores {
		info.Categories = append(info.Categories, s.scores[i].Category)
	}
	return info
}

// Score returns the scores, or the error of Fail.
func (s *Scorer) Score(context.Context, *features.Recording) ([]screen.Score, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.err != nil {
		return nil, s.err
	}
	return append([]screen.Score{}, s.scores...), nil
}

// Calls returns how often Score was called.
func (s *Scorer) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// Fail lets later calls of Score return err; nil ends that.
func (s *Scorer) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}
