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
	Duration    float64             `json:"duration_seconds,omitempty"` // of the recording
	Analysed    float64             `json:"analysed_seconds,omitempty"` // of it, from its beginning
	Disclaimer  string              `json:"disclaimer"`
	Scores      []screen.Score      `json:"scores"`
	Quality     map[string]*float64 `json:"quality"`  // of the recording, by feature name
	Features    map[string]*float64 `json:"features"` // the others
}

// newDetail returns the detail of a result, nil unless full.
func newDetail(r *voicescreen.Result, full bool) *detail {
	if !full {
		return nil
	}
	d := &detail{
		Duration:   r.Duration,
		Analysed:   r.Analysed,
		Disclaimer: screen.Disclaimer,
		Scores:     r.Scores,
		Quality:    map[string]*float64{},
		Features:   map[string]*float64{},
	}
	if r.Product.Valid() {
		d.Product, d.SubmittedAt = r.Product.String(), stamp(r.SubmittedAt)
	}
	if d.Scores == nil {
		d.Scores = []screen.Score{}
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

// number returns nil, which is null in JSON, for an undefined x.
func number(x float64) *float64 {
	if !isFinite(x) {
		return nil
	}
	return &x
}
