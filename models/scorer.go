package models

import (
	"context"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
)

// Scorer turns one recording into scores. Implementations are safe for
// concurrent use.
type Scorer interface {
	// Info says what the scorer is. It is constant.
	Info() Info
	// Score returns one Score for each category of Info, in that order. An
	// error means that the scorer failed, not that the recording is poor:
	// that is said in the Score.
	Score(ctx context.Context, in *features.Recording) ([]screen.Score, error)
}

// Info says what a scorer is and what it was calibrated on.
type Info struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Categories   []screen.Category `json:"categories"`
	Calibrated   bool              `json:"calibrated"`              // whether its probabilities were calibrated on labelled recordings
	CalibratedOn string            `json:"calibrated_on,omitempty"` // which recordings, in words; "" if uncalibrated
}
