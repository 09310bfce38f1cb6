package voicescreen

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// complete checks the scores of a scorer against what [models.Scorer] promises, and
// derives what the scorer left empty. Scores are stored and shown as they are then.
// The error names the fault and no value of the patient's: it is logged. The session
// fails with internal_error after its last attempt.
func complete(info models.Info, all []screen.Score) error {
	if len(all) != len(info.Categories) {
		return fmt.Errorf("got %d scores, want %d", len(all), len(info.Categories))
	}
	for i, c := range info.Categories {
		s := &all[i]
		if s.Category != c {
			return fmt.Errorf("score %d is of %v, want %v", i, s.Category, c)
		}
		if err := checkScore(s); err != nil {
			return fmt.Errorf("the score of %v: %w", c, err)
		}
		if s.Model == "" {
			s.Model, s.Version = info.Name, info.Version
		}
		if s.Low == 0 && s.High == 0 && s.Probability > 0 { // left empty
			s.Low, s.High = math.NaN(), math.NaN()
		}
		s.DeriveDecision()
		deriveSeverity(s)
		if err := checkAgreement(s); err != nil {
			return fmt.Errorf("the score of %v: %w", c, err)
		}
	}
	return nil
}

// checkScore returns an error for a score whose parts cannot be right, each alone.
func checkScore(s *screen.Score) error {
	isShare := func(x float64) bool { return x >= 0 && x <= 1 } // not NaN
	switch {
	case !isShare(s.Probability):
		return errors.New("the probability is not from 0 to 1")
	case !isShare(s.Low) && !math.IsNaN(s.Low), !isShare(s.High) && !math.IsNaN(s.High), s.Low > s.High:
		return errors.New("the interval is not 0 ≤ low ≤ high ≤ 1, or NaN")
	case !isShare(s.Coverage):
		return errors.New("the coverage is not from 0 to 1")
	case !(s.Prior >= 0 && s.Prior < 1):
		return fmt.Errorf("the prior is %v, want 0 or more and less than 1", s.Prior)
	case !(0 <= s.Band.Low && s.Band.Low <= s.Band.High && s.Band.High <= 1):
		return fmt.Errorf("the band is %v to %v, want 0 ≤ low ≤ high ≤ 1", s.Band.Low, s.Band.High)
	case s.Decision != 0 && !s.Decision.Valid():
		return errors.New("the decision is none of those that there are")
	case s.Severity != 0 && !slices.Contains(s.Category.Severities(), s.Severity):
		return errors.New("the class is of another category")
	}
	return checkParts(s)
}

// checkParts returns an error for contributions and segments that cannot be stored
// or written as JSON.
func checkParts(s *screen.Score) error {
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	for _, c := range s.Contributions {
		if !finite(c.Logits) || !finite(float64(c.Deviation)) || math.IsInf(c.Value, 0) {
			return fmt.Errorf("the contribution of %q has a value, logits or a deviation that is not finite, nor NaN as the value", c.Feature)
		}
	}
	for i, g := range s.Segments {
		if !finite(g.Start) || !finite(g.End) || math.IsInf(g.Probability, 0) {
			return fmt.Errorf("segment %d has a start, an end or a probability that is not finite, nor NaN as the probability", i)
		}
	}
	return nil
}

// deriveSeverity sets a class that is empty to the lowest that agrees with decision
// and probability.
func deriveSeverity(s *screen.Score) {
	if s.Severity != 0 || len(s.Category.Severities()) == 0 {
		return
	}
	s.Severity = s.Category.Severities()[0]
	if s.Decision == screen.Positive {
		s.Severity = screen.SeverityOf(s.Category, screen.PositiveTotal)
	}
	s.Severity = s.Category.AtLeast(s.Severity, s.Probability)
}

// checkAgreement returns an error for a score whose probability, decision and class
// contradict each other.
func checkAgreement(s *screen.Score) error {
	p := s.Probability
	switch {
	case s.Decision == screen.Negative && p > screen.Half:
		return errors.New("the decision is negative at a probability above one half, want positive or indeterminate")
	case s.Category == screen.Deepfake && s.Decision == screen.Positive && p < s.Band.High:
		return fmt.Errorf("the decision is positive at a probability below %v; a lower threshold belongs in ScoringOptions.Thresholds", s.Band.High)
	case s.Severity != 0 && p > screen.Half && s.Severity < screen.SeverityOf(s.Category, screen.PositiveTotal):
		return fmt.Errorf("the class is below %v at a probability above one half", screen.SeverityOf(s.Category, screen.PositiveTotal))
	}
	return nil
}
