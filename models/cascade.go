package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
)

// Cascade is the Scorer of one category that asks a second, dearer scorer only about
// recordings that the first one is in doubt about. Its score is that of the second where
// it was asked, and else that of the first. It is safe for concurrent use if both are.
type Cascade struct {
	first, second Scorer
	margin        float64

	mu    sync.Mutex
	stats CascadeStats // by mu
}

// CascadeStats counts what a Cascade did.
type CascadeStats struct {
	Recordings int           // that were scored
	Sent       int           // of them, by the second scorer too
	First      time.Duration // that the first scorer took for all of them
	Second     time.Duration // that the second scorer took for those that were sent
}

// NewCascade returns a cascade of two scorers of the same single category. The first one
// is in doubt where the logit of its probability is at most margin away from 0, or the
// recording is unfamiliar to it; with a margin of 0, where it leaves the decision open.
func NewCascade(first, second Scorer, margin float64) (*Cascade, error) {
	a, b := first.Info().Categories, second.Info().Categories
	if len(a) != 1 || !slices.Equal(a, b) {
		return nil, fmt.Errorf("models: a cascade of scorers for %v and %v, want one category, the same", a, b)
	}
	if !(margin >= 0) {
		return nil, fmt.Errorf("models: a cascade with a margin of %v, want 0 or more", margin)
	}
	return &Cascade{first: first, second: second, margin: margin}, nil
}

// Info returns name and version of both scorers, and the origin of the second. The
// cascade is calibrated if both are.
func (c *Cascade) Info() Info {
	a, b := c.first.Info(), c.second.Info()
	b.Name, b.Version = a.Name+"+"+b.Name, a.Version+"+"+b.Version
	b.Streams = a.Streams && b.Streams
	if b.Calibrated = a.Calibrated && b.Calibrated; b.Calibrated {
		b.CalibratedOn = a.CalibratedOn + "; " + b.CalibratedOn
	} else {
		b.CalibratedOn = ""
	}
	return b
}

// Close closes the scorers that have a method Close.
func (c *Cascade) Close() error {
	var errs []error
	for _, s := range []Scorer{c.first, c.second} {
		if closer, ok := s.(io.Closer); ok {
			errs = append(errs, closer.Close())
		}
	}
	return errors.Join(errs...)
}

// Stats returns what the cascade did so far.
func (c *Cascade) Stats() CascadeStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Score returns the score of the scorer that decided, under that scorer's name. The
// error is that of a scorer.
func (c *Cascade) Score(ctx context.Context, in *features.Recording) ([]screen.Score, error) {
	start := time.Now()
	scores, err := c.first.Score(ctx, in)
	took := CascadeStats{Recordings: 1, First: time.Since(start)}
	if err != nil {
		return nil, err
	}
	if len(scores) != 1 {
		return nil, fmt.Errorf("models: cascade: %d scores of %s, want 1", len(scores), c.first.Info().Name)
	}
	if c.doubts(&scores[0]) {
		start = time.Now()
		if scores, err = c.second.Score(ctx, in); err != nil {
			return nil, err
		}
		took.Sent, took.Second = 1, time.Since(start)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Recordings += took.Recordings
	c.stats.Sent += took.Sent
	c.stats.First += took.First
	c.stats.Second += took.Second
	return scores, nil
}

// doubts reports whether the second scorer is to be asked.
func (c *Cascade) doubts(s *screen.Score) bool {
	if c.margin == 0 { // the engine derives a decision that the scorer left empty in the same way
		return s.Decision == screen.Indeterminate || s.Doubtful() ||
			s.Band != (screen.Band{}) && s.Band.Of(s.Category).Decide(s.Probability) == screen.Indeterminate
	}
	return slices.Contains(s.Cautions, screen.Unfamiliar) || math.Abs(math.Log(s.Probability/(1-s.Probability))) <= c.margin
}
