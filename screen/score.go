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
	Band          Band           `cbor:"16,keyasint,omitzero"`  // that Decision is by, in terms of Probability; zero if not known
}

// scoreJSON is a Score in JSON: in the answers of the service and in the output
// of the programs.
type scoreJSON struct {
	Category      Category       `json:"category"`
	Model         string         `json:"model"`
	Version       string         `json:"version"`
	Calibrated    bool           `json:"calibrated"`
	Probability   float64        `json:"probability"`
	Low           *float64       `json:"low"`
	High          *float64       `json:"high"`
	Decision      Decision       `json:"decision"`
	Severity      *Severity      `json:"severity"`
	Coverage      float64        `json:"coverage"`
	Baseline      int            `json:"baseline,omitempty"`
	Contributions []Contribution `json:"contributions"`
	Prior         float64        `json:"prior,omitempty"`
	Segments      []Segment      `json:"segments,omitempty"`
	Cautions      []Caution      `json:"cautions,omitempty"`
	Band          Band           `json:"band,omitzero"`
}

// MarshalJSON writes a bound that is NaN, and a severity that the model does not
// give, as null.
func (s Score) MarshalJSON() ([]byte, error) {
	out := scoreJSON{
		Category: s.Category, Model: s.Model, Version: s.Version, Calibrated: s.Calibrated,
		Probability: s.Probability, Low: orNull(s.Low), High: orNull(s.High),
		Decision: s.Decision, Coverage: s.Coverage, Baseline: s.Baseline,
		Contributions: s.Contributions, Prior: s.Prior, Segments: s.Segments, Cautions: s.Cautions, Band: s.Band,
	}
	if s.Severity != 0 {
		out.Severity = &s.Severity
	}
	if s.Contributions == nil {
		out.Contributions = []Contribution{}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads a bound that is null or missing as NaN, and an empty list as
// nil.
func (s *Score) UnmarshalJSON(b []byte) error {
	var in scoreJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*s = Score{
		Category: in.Category, Model: in.Model, Version: in.Version, Calibrated: in.Calibrated, Prior: in.Prior,
		Probability: in.Probability, Low: orNaN(in.Low), High: orNaN(in.High), Decision: in.Decision,
		Coverage: in.Coverage, Baseline: in.Baseline, Segments: in.Segments, Cautions: in.Cautions, Band: in.Band,
	}
	if in.Severity != nil {
		s.Severity = *in.Severity
	}
	if len(in.Contributions) > 0 {
		s.Contributions = in.Contributions
	}
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
// the odds of both shares. The Band stays where it is, and decides about the new
// Probability; without a Band, Decision stays. A score whose Prior is 0, and any
// other prior, changes nothing.
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
	if s.Band != (Band{}) {
		s.Decide(s.Band)
	}
}

// withOdds returns the probability whose odds are ratio times those of p.
func withOdds(p, ratio float64) float64 { return p * ratio / (p*ratio + 1 - p) }

// Doubtful reports whether the score must not lead to a decision: it has the
// caution LittleSpeech or Unfamiliar.
func (s *Score) Doubtful() bool {
	return slices.Contains(s.Cautions, LittleSpeech) || slices.Contains(s.Cautions, Unfamiliar)
}

// Contribution is the part of the logit of the probability that comes from one
// named feature; exact for a linear model.
type Contribution struct {
	Feature string  `json:"feature" cbor:"1,keyasint"`
	Value   float64 `json:"value" cbor:"2,keyasint"` // in Unit
	Unit    string  `json:"unit" cbor:"3,keyasint"`
	Logits  float64 `json:"logits" cbor:"4,keyasint"`

	// Deviation is by how much Value is above what is usual to the model, in standard
	// deviations: norms, earlier recordings or training recordings. 0 if not known.
	Deviation SD `json:"deviation" cbor:"5,keyasint,omitzero"`
}

// SD is a number of standard deviations.
type SD float64

// IsZero reports whether d is 0, but not −0: a record holds every other value.
func (d SD) IsZero() bool { return math.Float64bits(float64(d)) == 0 }

// contributionJSON is a Contribution in JSON.
type contributionJSON struct {
	Feature string   `json:"feature"`
	Value   *float64 `json:"value"`
	Unit    string   `json:"unit"`
	Logits  float64  `json:"logits"`

	Deviation SD `json:"deviation,omitzero"`
}

// MarshalJSON writes a value that is NaN as null.
func (c Contribution) MarshalJSON() ([]byte, error) {
	return json.Marshal(contributionJSON{c.Feature, orNull(c.Value), c.Unit, c.Logits, c.Deviation})
}

// UnmarshalJSON reads a value that is null or missing as NaN.
func (c *Contribution) UnmarshalJSON(b []byte) error {
	var in contributionJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*c = Contribution{in.Feature, orNaN(in.Value), in.Unit, in.Logits, in.Deviation}
	return nil
}
