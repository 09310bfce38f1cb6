package console

import (
	"errors"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/report"
	"github.com/voicescreen/voicescreen/screen"
)

const (
	// historyPage is how many recordings of a person are shown at once. Chosen: what a
	// picture can hold.
	historyPage = 50

	// baselineOf is how many earlier scores a score is compared with. Chosen: as the
	// engine does (maxEarlier).
	baselineOf = 5
)

// historyData is what the history of a person shows.
type historyData struct {
	User   string
	Charts []historyChart
	Rows   []historyRow // the newest first
	Older  string       // address of the next page; "" where there is none
	First  bool         // whether this is the newest page
}

// A historyChart shows the scores of one category over time.
type historyChart struct {
	Category screen.Category
	Picture  template.HTML
}

// A historyRow is one recording of a person.
type historyRow struct {
	*voicescreen.Result
	given
	Scores []historyScore
}

// A historyScore is a score beside the person's own earlier ones.
type historyScore struct {
	Category screen.Category
	Text     string // of 100
	Decision string
	Earlier  int     // how many scores of the same model it is compared with
	Change   float64 // above their median, of 100
	Inside   bool    // whether the median is inside the interval of the score
}

// peoplePage asks for a person.
func (v *visit) peoplePage() error { return v.page(http.StatusOK, "people", "") }

// findPerson goes to the history of a person, whose identifier came in a form. The
// history has the address of the person's newest recording.
func (v *visit) findPerson() error {
	if err := v.form(); err != nil {
		return err
	}
	if v.r.PostForm.Get("user") == "" {
		return v.page(http.StatusUnprocessableEntity, "people", "people.none")
	}
	user, err := v.person()
	if err != nil {
		return err
	}
	if user == "" {
		return v.page(http.StatusNotFound, "people", "people.none")
	}
	list, _, err := v.account.Results(v.ctx(), user, voicescreen.Page{Limit: 1})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return v.page(http.StatusNotFound, "people", "people.none")
	}
	return v.redirect("sessions/" + list[0].SessionID + "/history")
}

// person returns the identifier of the person in a form: as it was typed, or without outer
// spaces where nobody has it. It is "" where the account has no session of either.
func (v *visit) person() (string, error) {
	typed := v.r.PostForm.Get("user")
	known, err := v.account.Known(v.ctx(), typed)
	trimmed := strings.TrimSpace(typed)
	if !known && trimmed != "" && trimmed != typed && (err == nil || errors.Is(err, voicescreen.ErrInvalid)) { // a tab is invalid
		typed = trimmed
		known, err = v.account.Known(v.ctx(), typed)
	}
	if err != nil || !known {
		return "", err
	}
	return typed, nil
}

// history shows the recordings of the person of a session.
func (v *visit) history() error {
	r, err := v.account.Result(v.ctx(), v.session)
	if err != nil {
		return err
	}
	cursor := v.r.URL.Query().Get("after")
	list, next, err := v.account.Results(v.ctx(), r.UserID, voicescreen.Page{Limit: historyPage, Cursor: cursor})
	if err != nil {
		return err
	}
	d := &historyData{User: r.UserID, First: cursor == ""}
	if next != "" {
		d.Older = v.url("sessions/"+v.session+"/history") + "?" + url.Values{"after": {next}}.Encode()
	}
	for i, r := range list {
		row := historyRow{Result: r, given: newGiven(&r.Labels)}
		for k := range r.Scores {
			row.Scores = append(row.Scores, beside(&r.Scores[k], list[i+1:]))
		}
		d.Rows = append(d.Rows, row)
	}
	for _, c := range []screen.Category{screen.Depression, screen.Anxiety} {
		if picture := report.History(c, points(c, list)); picture != "" {
			d.Charts = append(d.Charts, historyChart{c, picture})
		}
	}
	return v.page(http.StatusOK, "history", d)
}

// beside compares a score with the earlier ones of the same model, the newest first, as
// far as this page has them.
func beside(s *screen.Score, earlier []*voicescreen.Result) historyScore {
	h := historyScore{Category: s.Category, Text: report.OfHundred(s.Probability), Decision: report.Decision(s)}
	var before []float64
	for _, r := range earlier {
		for i := range r.Scores {
			if e := &r.Scores[i]; e.Category == s.Category && e.Model == s.Model && e.Version == s.Version && len(before) < baselineOf {
				before = append(before, e.Probability)
			}
		}
	}
	if h.Earlier = len(before); h.Earlier > 0 {
		m := median(before)
		h.Change = 100 * (s.Probability - m)
		h.Inside = s.Low <= m && m <= s.High
	}
	return h
}

// ChangeText writes the change with its sign.
func (h *historyScore) ChangeText() string {
	if math.Round(h.Change) == 0 {
		return "±0"
	}
	return fmt.Sprintf("%+.0f", h.Change)
}

// median returns the median of values, of which there is at least one.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// points returns what the picture of a category shows. Its dates are those of the table,
// in the zone of the server.
func points(c screen.Category, list []*voicescreen.Result) (all []report.Point) {
	for _, r := range list {
		p := report.Point{At: r.SubmittedAt.Local()}
		for i := range r.Scores {
			if r.Scores[i].Category == c {
				p.Score = &r.Scores[i]
			}
		}
		for _, t := range totals(&r.Labels) {
			if t.about == c && t.instrument != phq2 {
				p.Label = fmt.Sprint(t.Sum)
			}
		}
		if p.Score != nil || p.Label != "" {
			all = append(all, p)
		}
	}
	return all
}
