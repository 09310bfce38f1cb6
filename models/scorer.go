package models

import (
	"context"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
)

// Scorer turns one recording into scores. Implementations are safe for
// concurrent use.
type Scorer interface {
	// Info returns name, version and categories of the scorer, which are constant.
	Info() Info
	// Score returns one Score for each category of Info, in that order. An error
	// means that the scorer failed, or is that of ctx. A poor recording is no
	// error: its scores have a Coverage below 1 or Cautions.
	Score(ctx context.Context, in *features.Recording) ([]screen.Score, error)
}

// Info is the description of a scorer.
type Info struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Categories   []screen.Category `json:"categories"`
	Calibrated   bool              `json:"calibrated"`              // whether its probabilities were calibrated on labelled recordings
	CalibratedOn string            `json:"calibrated_on,omitempty"` // the recordings, in words; "" if not calibrated
}
