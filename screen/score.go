package screen

import (
	"encoding/json"
	"math"
	"slices"
)

// Score is the output of one model for one category of one recording. All
// numbers are finite, except Low and High.
type Score struct {
	Category      Category       `cbor:"1,keyasint"`
	Model         string         `cbor:"2,keyasint"`
	Version       string         `cbor:"3,keyasint"`
	Calibrated    bool           `cbor:"4,keyasint,omitempty"`
	Prior         float64        `cbor:"5,keyasint"` // share of positive recordings that Probability assumes; 0 if unknown
	Probability   float64        `cbor:"6,keyasint"` // of PHQ-9 ≥ 10, of GAD-7 ≥ 10, or that the voice is synthetic; 0 to 1
	Low           float64        `cbor:"7,keyasint"` // lower bound of the 90 % interval of Probability; NaN if the model gives none
	High          float64        `cbor:"8,keyasint"` // upper bound of that interval; NaN if the model gives none
	Decision      Decision       `cbor:"9,keyasint,omitempty"`
	Severity      Severity       `cbor:"10,keyasint,omitempty"` // of Category; 0 if the model gives none
	Coverage      float64        `cbor:"11,keyasint"`           // share of the model's weight whose features were measured, 0 to 1
	Baseline      int            `cbor:"12,keyasint,omitempty"` // number of earlier recordings of the person that it was compared with
	Contributions []Contribution `cbor:"13,keyasint,omitempty"` // largest first
	Segments      []Segment      `cbor:"14,keyasint,omitempty"` // in order of time; deepfake only
	Cautions      []Caution      `cbor:"15,keyasint,omitempty"` // reasons to trust the score less; ascending
}

// scoreJSON is a Score in JSON.
type scoreJSON struct {
	Category      Category       `json:"category"`
	Model         string         `json:"model"`
	Version       string         `json:"version"`
	Calibrated    bool           `json:"calibrated"`
	Prior         float64        `json:"prior,omitempty"`
	Probability   float64        `json:"probability"`
	Low           *float64       `json:"low"`
	High          *float64       `json:"high"`
	Decision      Decision       `json:"decision"`
	Severity      Severity       `json:"severity,omitempty"`
	Coverage      float64        `json:"coverage"`
	Baseline      int            `json:"baseline"`
	Contributions []Contribution `json:"contributions,omitempty"`
	Segments      []Segment      `json:"segments,omitempty"`
	Cautions      []Caution      `json:"cautions,omitempty"`
}

// MarshalJSON writes a bound that is NaN as null.
func (s Score) MarshalJSON() ([]byte, error) {
	return json.Marshal(scoreJSON{s.Category, s.Model, s.Version, s.Calibrated, s.Prior, s.Probability, orNull(s.Low), orNull(s.High),
		s.Decision, s.Severity, s.Coverage, s.Baseline, s.Contributions, s.Segments, s.Cautions})
}

// UnmarshalJSON reads a bound that is null or missing as NaN.
func (s *Score) UnmarshalJSON(b []byte) error {
	var in scoreJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*s = Score{in.Category, in.Model, in.Version, in.Calibrated, in.Prior, in.Probability, orNaN(in.Low), orNaN(in.High),
		in.Decision, in.Severity, in.Coverage, in.Baseline, in.Contributions, in.Segments, in.Cautions}
	return nil
}

// orNull returns nil, which is null in JSON, for NaN.
func orNull(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

// orNaN returns NaN for nil.
func orNaN(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// Partial reports whether the recording lacks some features that the model uses.
func (s *Score) Partial() bool { return s.Coverage < 1 }

// SetPrior changes the probabilities to those in a population with another share
// of positive recordings, 0 < prior < 1: it multiplies their odds by the ratio of
// the odds of both shares. Decision stays, because it depends on the recording
// alone. A score whose Prior is 0, and any other prior, changes nothing.
func (s *Score) SetPrior(prior float64) {
	if !(s.Prior > 0 && s.Prior < 1 && prior > 0 && prior < 1) {
		return
	}
	ratio := prior / (1 - prior) * (1 - s.Prior) / s.Prior
	for _, p := range []*float64{&s.Probability, &s.Low, &s.High} {
		*p = withOdds(*p, ratio)
	}
	s.Segments = slices.Clone(s.Segments)
	for i := range s.Segments {
		s.Segments[i].Probability = withOdds(s.Segments[i].Probability, ratio)
	}
	s.Prior = prior
}

// withOdds returns the probability whose odds are ratio times those of p.
func withOdds(p, ratio float64) float64 { return p * ratio / (p*ratio + 1 - p) }

// Doubtful reports whether the score must not lead to a decision: it has the
// caution LittleSpeech or Unfamiliar.
func (s *Score) Doubtful() bool {
	return slices.Contains(s.Cautions, LittleSpeech) || slices.Contains(s.Cautions, Unfamiliar)
}

// Contribution is the part of the logit of the probability that comes from one
// named feature: exact for a linear model, to first order for a kernel.
type Contribution struct {
	Feature string  `json:"feature" cbor:"1,keyasint"`
	Value   float64 `json:"value" cbor:"2,keyasint"` // in Unit
	Unit    string  `json:"unit,omitempty" cbor:"3,keyasint"`
	Logits  float64 `json:"logits" cbor:"4,keyasint"`
}
