package models

import (
	"context"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
)

// Scorer turns one recording into scores. Implementations are safe for
// concurrent use.
//
// Of each Score, the scorer must set:
//
//   - Category: those of Info, in their order;
//   - Probability, 0 to 1: of PHQ-9 ≥ 10, of GAD-7 ≥ 10, or that the voice is
//     synthetic;
//   - Coverage, 0 to 1; 1 if nothing was missing.
//
// It should set the following. What it leaves empty, the engine derives:
//
//   - Model and Version: those of Info;
//   - Low and High: NaN, no interval, if both are 0;
//   - Decision: positive where Severity is a class of a questionnaire score of 10 or
//     more; or else positive from one half on. It is indeterminate for a doubtful
//     score (see [screen.Score.Doubtful]). A Band that is set decides in any case;
//   - Severity, of depression and anxiety: the lowest class that agrees with
//     Probability and Decision. A scorer that knows more must say more;
//   - Prior: unknown; the option DeepfakePrior then changes nothing.
//
// A Positive or Negative deepfake score is decided anew, by Band or from one half
// on, for the probability that is shown. Indeterminate stays.
//
// The engine refuses what cannot be right: a number out of its range, a Severity of
// another category, Negative or a class below a score of 10 at a probability above
// one half, and Positive for a deepfake score below its threshold. The session is
// tried again, and fails with internal_error; the log names the fault.
type Scorer interface {
	// Info returns name, version and categories of the scorer, which are constant:
	// one known category or more.
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

	// Where the weights of a model are from that does not come with the module.
	Licence       string `json:"licence,omitempty"`        // of the weights; "" if it is not known
	NonCommercial bool   `json:"non_commercial,omitempty"` // whether Licence does not allow commercial use
	Source        string `json:"source,omitempty"`         // in words
	SHA256        string `json:"sha256,omitempty"`         // of the published file, in hexadecimal

	// Streams is whether Score needs neither Samples nor Native of a Recording,
	// which then are empty where the recording has a Source, nor the tracks that
	// features.Measurer.MeasureSource leaves out. If all scorers in use stream, the
	// memory of an analysis does not grow with the samples.
	Streams bool `json:"-"`
}
