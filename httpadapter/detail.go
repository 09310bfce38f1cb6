package httpadapter

import (
	"strings"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// detail holds the data of a result beyond the specification, for requests with
// ?detail=full.
type detail struct {
	Product     string              `json:"product,omitempty"`
	SubmittedAt string              `json:"submitted_at,omitempty"`
	Disclaimer  string              `json:"disclaimer"`
	Scores      []scoreDetail       `json:"scores"`
	Quality     map[string]*float64 `json:"quality"`  // of the recording, by feature name
	Features    map[string]*float64 `json:"features"` // the others
}

// scoreDetail is one score. Numbers that are undefined are null.
type scoreDetail struct {
	Category      string         `json:"category"`
	Model         string         `json:"model"`
	Version       string         `json:"version"`
	Calibrated    bool           `json:"calibrated"`
	Probability   *float64       `json:"probability"`
	Low           *float64       `json:"low"`
	High          *float64       `json:"high"`
	Decision      string         `json:"decision"`
	Severity      *string        `json:"severity"`
	Coverage      *float64       `json:"coverage"`
	Baseline      int            `json:"baseline,omitempty"` // number of earlier recordings of the user in the comparison; absent for 0
	Contributions []contribution `json:"contributions"`
	Prior         *float64       `json:"prior,omitempty"`
	Segments      []segment      `json:"segments,omitempty"`
	Cautions      []string       `json:"cautions,omitempty"`
}

// segment is the score of a part of the recording.
type segment struct {
	Start       float64  `json:"start_seconds"`
	End         float64  `json:"end_seconds"`
	Probability *float64 `json:"probability"`
}

// contribution is the share of one feature in a score.
type contribution struct {
	Feature string   `json:"feature"`
	Value   *float64 `json:"value"`
	Unit    string   `json:"unit"`
	Logits  *float64 `json:"logits"`
}

// newDetail returns the detail of a result, nil unless full.
func newDetail(r *voicescreen.Result, full bool) *detail {
	if !full {
		return nil
	}
	d := &detail{
		Disclaimer: screen.Disclaimer,
		Scores:     make([]scoreDetail, len(r.Scores)),
		Quality:    map[string]*float64{},
		Features:   map[string]*float64{},
	}
	if r.Product.Valid() {
		d.Product, d.SubmittedAt = r.Product.String(), stamp(r.SubmittedAt)
	}
	for i := range r.Scores {
		d.Scores[i] = newScoreDetail(&r.Scores[i])
	}
	for name, v := range r.Features {
		if strings.HasPrefix(name, "quality.") {
			d.Quality[name] = number(v)
		} else {
			d.Features[name] = number(v)
		}
	}
	return d
}

func newScoreDetail(s *screen.Score) scoreDetail {
	d := scoreDetail{
		Category:      s.Category.String(),
		Model:         s.Model,
		Version:       s.Version,
		Calibrated:    s.Calibrated,
		Probability:   number(s.Probability),
		Low:           number(s.Low),
		High:          number(s.High),
		Decision:      s.Decision.String(),
		Coverage:      number(s.Coverage),
		Baseline:      s.Baseline,
		Contributions: make([]contribution, len(s.Contributions)),
	}
	if s.Severity.Valid() {
		name := s.Severity.String()
		d.Severity = &name
	}
	if s.Prior > 0 {
		d.Prior = number(s.Prior)
	}
	for _, p := range s.Segments {
		d.Segments = append(d.Segments, segment{p.Start, p.End, number(p.Probability)})
	}
	for _, c := range s.Cautions {
		d.Cautions = append(d.Cautions, c.String())
	}
	for i, c := range s.Contributions {
		d.Contributions[i] = contribution{c.Feature, number(c.Value), c.Unit, number(c.Logits)}
	}
	return d
}

// number returns nil, which is null in JSON, for an undefined x.
func number(x float64) *float64 {
	if !isFinite(x) {
		return nil
	}
	return &x
}
