package process

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// Protocol names the version of the protocol.
const Protocol = "voicescreen-scorer/1"

// Limits of an answer. Chosen: a name fits a line, contributions are five times those of
// the shipped models, and segments are those of 18 hours in windows of 13 s, twice.
const (
	maxText          = 100 // bytes of a name or a unit
	maxContributions = 100
	maxSegments      = 10000
)

// hello is the description that a program sends after its start.
type hello struct {
	Protocol string `json:"protocol"`
	models.Info
}

// parseHello reads a description. Its error is ErrProtocol.
func parseHello(data []byte) (models.Info, error) {
	fail := func(format string, args ...any) (models.Info, error) {
		return models.Info{}, fmt.Errorf("%w: its description %s", ErrProtocol, fmt.Sprintf(format, args...))
	}
	var h hello
	if err := decode(data, &h); err != nil {
		return fail("%v", err)
	}
	i := h.Info
	if h.Protocol != Protocol {
		return fail("has the protocol %.40q, want %q", h.Protocol, Protocol)
	}
	for _, f := range []struct{ name, text string }{{"name", i.Name}, {"version", i.Version}} {
		if f.text == "" || len(f.text) > maxText {
			return fail("has a %s of %d bytes, want 1 to %d", f.name, len(f.text), maxText)
		}
	}
	if len(i.Categories) == 0 {
		return fail("names no category")
	}
	for k, c := range i.Categories {
		if !c.Valid() || slices.Contains(i.Categories[:k], c) { // null is not valid
			return fail("names %v, or names it twice", c)
		}
	}
	if i.Calibrated != (i.CalibratedOn != "") {
		return fail("has only one of calibrated and calibrated_on")
	}
	if i.SHA256 != "" && (len(i.SHA256) != 64 || strings.Trim(i.SHA256, "0123456789abcdef") != "") {
		return fail("has a sha256 that is not 64 hexadecimal digits in lower case")
	}
	i.Streams = true
	return i, nil
}

// answer is what a program says about a recording.
type answer struct {
	ID     *uint64       `json:"id"`
	Error  *string       `json:"error"`
	Scores []answerScore `json:"scores"`
}

// answerScore is a score in an answer. Nil is null or missing.
type answerScore struct {
	Category      string                `json:"category"`
	Probability   *float64              `json:"probability"`
	Low           *float64              `json:"low"`
	High          *float64              `json:"high"`
	Coverage      *float64              `json:"coverage"`
	Prior         float64               `json:"prior"`
	Band          screen.Band           `json:"band"`
	Severity      string                `json:"severity"`
	Cautions      []string              `json:"cautions"`
	Segments      []screen.Segment      `json:"segments"`
	Contributions []screen.Contribution `json:"contributions"`
}

// parseAnswer reads the answer about the recording id by a program with this
// description. The error is ErrProtocol if the answer is none, ErrAnswer if its scores
// cannot be right, and ErrReported, with the reported text, which may be about a patient.
// No error repeats a text of the answer.
func parseAnswer(data []byte, id uint64, info models.Info) (scores []screen.Score, reported string, err error) {
	var a answer
	if err := decode(data, &a); err != nil {
		return nil, "", fmt.Errorf("%w: its answer %w", ErrProtocol, err)
	}
	switch {
	case a.ID == nil:
		return nil, "", fmt.Errorf("%w: its answer has no id", ErrProtocol)
	case *a.ID != id:
		return nil, "", fmt.Errorf("%w: it answered recording %d, want %d", ErrProtocol, *a.ID, id)
	case a.Error != nil && a.Scores != nil:
		return nil, "", fmt.Errorf("%w: its answer has both scores and an error", ErrProtocol)
	case a.Error != nil:
		return nil, *a.Error, ErrReported
	case len(a.Scores) != len(info.Categories):
		return nil, "", fmt.Errorf("%w: it has %d scores, want %d", ErrAnswer, len(a.Scores), len(info.Categories))
	}
	for i, c := range info.Categories {
		s, err := a.Scores[i].score(c, info)
		if err != nil {
			return nil, "", fmt.Errorf("%w: the score of %v, number %d, %w", ErrAnswer, c, i+1, err)
		}
		scores = append(scores, s)
	}
	return scores, "", nil
}

// score checks a score of category c. The rules of [models.Scorer] that are not about
// one member alone are the engine's to check.
func (a *answerScore) score(c screen.Category, info models.Info) (s screen.Score, err error) {
	isShare := func(p *float64) bool { return p == nil || *p >= 0 && *p <= 1 }
	switch {
	case a.Category != c.String():
		return s, errors.New("is of another category or of an unknown one")
	case a.Probability == nil:
		return s, errors.New("has no probability")
	case !isShare(a.Probability), !isShare(a.Low), !isShare(a.High), !isShare(a.Coverage):
		return s, errors.New("has a probability, low, high or coverage out of range, want 0 to 1")
	case a.Low != nil && a.High != nil && *a.Low > *a.High:
		return s, errors.New("has a low above its high")
	case !(a.Prior >= 0 && a.Prior < 1):
		return s, errors.New("has a prior out of range, want 0 or more and less than 1")
	case !(0 <= a.Band.Low && a.Band.Low <= a.Band.High && a.Band.High <= 1):
		return s, errors.New("has an invalid band, want 0 ≤ low ≤ high ≤ 1")
	}
	s = screen.Score{
		Category: c, Model: info.Name, Version: info.Version, Calibrated: info.Calibrated, Prior: a.Prior, Probability: *a.Probability,
		Low: orElse(a.Low, math.NaN()), High: orElse(a.High, math.NaN()), Coverage: orElse(a.Coverage, 1), Band: a.Band,
		Segments: a.Segments, Contributions: a.Contributions,
	}
	if a.Severity != "" {
		i := slices.IndexFunc(c.Severities(), func(v screen.Severity) bool { return v.String() == a.Severity })
		if i < 0 {
			return s, errors.New("has a severity that is not one of its category")
		}
		s.Severity = c.Severities()[i]
	}
	for _, name := range a.Cautions {
		var v screen.Caution
		if err := v.UnmarshalText([]byte(name)); err != nil {
			return s, errors.New("has an unknown caution")
		}
		s.Cautions = append(s.Cautions, v)
	}
	slices.SortStableFunc(s.Contributions, func(a, b screen.Contribution) int { return cmp.Compare(math.Abs(b.Logits), math.Abs(a.Logits)) })
	return s, checkParts(&s)
}

// checkParts checks segments and contributions.
func checkParts(s *screen.Score) error {
	if len(s.Segments) > maxSegments || len(s.Contributions) > maxContributions {
		return fmt.Errorf("has %d segments and %d contributions, want at most %d and %d", len(s.Segments), len(s.Contributions), maxSegments, maxContributions)
	}
	for _, g := range s.Segments {
		if !(0 <= g.Start && g.Start < g.End) || g.Probability < 0 || g.Probability > 1 {
			return errors.New("has a segment out of range, want 0 ≤ start_seconds < end_seconds, and a probability of 0 to 1 or null")
		}
	}
	for _, k := range s.Contributions {
		if k.Feature == "" || len(k.Feature) > maxText || len(k.Unit) > maxText {
			return fmt.Errorf("has a contribution whose feature or unit is too long, want 1 to %d bytes", maxText)
		}
	}
	return nil
}

func orElse(p *float64, other float64) float64 {
	if p == nil {
		return other
	}
	return *p
}

// decode reads one JSON value without unknown members. The error repeats no text of it.
func decode(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return nil
		}
		return errors.New("has something after the JSON object")
	}
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("is not JSON, which has no NaN either")
	case errors.As(err, &wrong):
		return fmt.Errorf("has a value of the wrong type or size at %q", wrong.Field)
	}
	return errors.New("has an unknown member or value")
}
