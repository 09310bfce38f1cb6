package main

import (
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen/screen"
)

// scoredCategories are the categories of a table, in its order.
var scoredCategories = []screen.Category{screen.Depression, screen.Anxiety, screen.Deepfake}

// scoreColumns are the columns of a score, each behind the name of the category. They
// are named as in JSON. A deepfake score has no severity.
var scoreColumns = []string{"probability", "low", "high", "decision", "severity", "coverage", "calibrated", "prior", "baseline", "cautions", "model", "version"}

// scoreHeader returns the columns of the score of a category.
func scoreHeader(c screen.Category) csvRow {
	var head csvRow
	for _, name := range scoreColumns {
		if name != "severity" || c != screen.Deepfake {
			head = append(head, c.String()+"_"+name)
		}
	}
	return head
}

// score adds the columns of the score of a category, empty where there is none.
func (r *csvRow) score(c screen.Category, scores []screen.Score) {
	i := slices.IndexFunc(scores, func(s screen.Score) bool { return s.Category == c })
	if i < 0 {
		r.empty(len(scoreHeader(c)))
		return
	}
	s := &scores[i]
	r.number(s.Probability)
	r.number(s.Low)
	r.number(s.High)
	r.named(s.Decision)
	if c != screen.Deepfake {
		r.named(s.Severity)
	}
	r.number(s.Coverage)
	r.truth(s.Calibrated)
	if s.Prior > 0 {
		r.number(s.Prior)
	} else {
		r.empty(1)
	}
	r.given(s.Baseline)
	cautions := make([]string, len(s.Cautions))
	for i, caution := range s.Cautions {
		cautions[i] = caution.String()
	}
	r.text(strings.Join(cautions, " "))
	r.text(s.Model)
	r.text(s.Version)
}

// named adds the name of a value of an enumeration, empty if it is not one.
func (r *csvRow) named(v interface {
	Valid() bool
	String() string
}) {
	if v.Valid() {
		r.text(v.String())
		return
	}
	r.empty(1)
}
