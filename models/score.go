package models

import (
	"context"

	"github.com/voicescreen/voicescreen/dsp"
)

// Scorer turns one recording into scores. Implementations are safe for
// concurrent use.
type Scorer interface {
	// Info says what the scorer is. It is constant.
	Info() Info
	// Score returns one Score for each category of Info, in that order. An
	// error means that the scorer failed, not that the recording is poor:
	// that is said in the Score.
	Score(ctx context.Context, in *Recording) ([]Score, error)
}

// Info says what a scorer is and what it was calibrated on.
type Info struct {
	Name         string     `json:"name"`
	Version      string     `json:"version"`
	Categories   []Category `json:"categories"`
	Calibrated   bool       `json:"calibrated"`              // whether its probabilities were calibrated on labelled recordings
	CalibratedOn string     `json:"calibrated_on,omitempty"` // which recordings, in words; "" if uncalibrated
}

// Recording is what a scorer may ask for. It is shared between scorers, which
// must not change it, and is valid only during the call.
type Recording struct {
	Features   Vector        // of schema voice/1, computed once
	Analysis   *dsp.Analysis // what the features were computed from
	Samples    []float64     // mono at dsp.SampleRate
	Native     []float64     // mono at NativeRate; the same slice as Samples when the rates agree
	NativeRate int           // Hz
	Metadata   Metadata
}

// Score is what one model says about one category of one recording.
type Score struct {
	Category      Category       `json:"category"`
	Model         string         `json:"model"`
	Version       string         `json:"version"`
	Calibrated    bool           `json:"calibrated"`
	Probability   float64        `json:"probability"` // of PHQ-9 ≥ 10, of GAD-7 ≥ 10, or that the voice is synthetic; 0 to 1
	Low           float64        `json:"low"`         // bounds of the 90 % interval of Probability
	High          float64        `json:"high"`
	Decision      Decision       `json:"decision"`
	Severity      int            `json:"severity,omitempty"` // 1-based index into SeverityNames(Category); 0 if the model gives none
	Coverage      float64        `json:"coverage"`           // share of the model's weight whose features were measured, 0 to 1
	Contributions []Contribution `json:"contributions,omitempty"`
}

// SeverityName is the class of the score, "" if it has none.
func (s *Score) SeverityName() string {
	n := SeverityNames(s.Category)
	if s.Severity < 1 || s.Severity > len(n) {
		return ""
	}
	return n[s.Severity-1]
}

// Contribution is what one named feature added to the model's linear
// predictor, in logits. Contributions are ordered by magnitude, largest first.
type Contribution struct {
	Feature string  `json:"feature"`
	Value   float64 `json:"value"` // in Unit
	Unit    string  `json:"unit,omitempty"`
	Logits  float64 `json:"logits"`
}
