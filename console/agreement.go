package console

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/screen"
)

const (
	// groupPeople is how many people a group needs to be shown: in a smaller one a person
	// could be recognised, and no figure means anything.
	groupPeople = 10

	// groupSide is how many people with and without signs an AUC needs. Chosen: as
	// models/learn does.
	groupSide = 5

	// calibrationBins is the number of bins of the table of calibration. Chosen: a
	// practice has tens or hundreds of labels.
	calibrationBins = 5
)

// A pair is a score and the label of the same recording.
type pair struct {
	user        string
	probability float64
	decision    screen.Decision
	class       screen.Severity // of the score; 0 for none
	positive    bool            // whether the label is
	label       screen.Severity // the class of the label; 0 for an interview
	groups      []string        // names of texts
}

// newPair returns the score s of r beside its label: PHQ-9 or else the outcome of an
// interview for depression, GAD-7 for anxiety. A PHQ-2 says too little about the class,
// and an undecided interview nothing.
func newPair(r *voicescreen.Result, s *screen.Score) (p pair, ok bool) {
	p = pair{user: r.UserID, probability: s.Probability, decision: s.Decision, class: s.Severity}
	switch {
	case s.Category == screen.Depression && len(r.Labels.PHQ9) == phq9.Items:
		p.label = screen.SeverityOf(s.Category, newTotal(phq9, r.Labels.PHQ9).Sum)
		p.positive = newTotal(phq9, r.Labels.PHQ9).Sum >= screen.PositiveTotal
	case s.Category == screen.Depression && (r.Labels.Depression == screen.InterviewPositive || r.Labels.Depression == screen.InterviewNegative):
		p.positive = r.Labels.Depression == screen.InterviewPositive
	case s.Category == screen.Anxiety && len(r.Labels.GAD7) == gad7.Items:
		p.label = screen.SeverityOf(s.Category, newTotal(gad7, r.Labels.GAD7).Sum)
		p.positive = newTotal(gad7, r.Labels.GAD7).Sum >= screen.PositiveTotal
	default:
		return p, false
	}
	p.groups = groupsOf(&r.Metadata)
	return p, true
}

// groupsOf returns the groups that a person belongs to.
func groupsOf(m *screen.Metadata) (all []string) {
	if m.Gender.Valid() {
		all = append(all, fmt.Sprintf("gender.%d", m.Gender))
	}
	switch {
	case m.Age <= 0:
	case m.Age < 30:
		all = append(all, "age.to-29")
	case m.Age < 50:
		all = append(all, "age.30-49")
	case m.Age < 65:
		all = append(all, "age.50-64")
	default:
		all = append(all, "age.from-65")
	}
	if m.English != nil {
		all = append(all, map[bool]string{true: "english.yes", false: "english.no"}[*m.English])
	}
	return all
}

// groupNames are all groups, in the order in which they are shown.
var groupNames = []string{"gender.1", "gender.2", "gender.3", "gender.4", "gender.5", "gender.6",
	"age.to-29", "age.30-49", "age.50-64", "age.from-65", "english.yes", "english.no"}

// An agreement says how the scores of a category agree with labels.
type agreement struct {
	Category  screen.Category
	All       group
	Decisions [2][3]int         // by label negative, positive: decisions negative, open, positive
	Classes   []screen.Severity // of the category
	Table     [][]int           // by class of the label: classes of the score
	Bins      []stats.Bin       // those that hold recordings
	Groups    []group           // of at least groupPeople people
}

// A group is people, and the figures of their recordings.
type group struct {
	Name       string // of a text; "" for all
	People     int
	Recordings int
	Positive   int            // recordings with a positive label
	Mean       float64        // probability
	AUC        float64        // NaN with fewer than groupSide people on a side
	Interval   stats.Interval // of AUC, 95 %, over people; NaN for a group
}

// agree compares scores with labels.
func agree(c screen.Category, pairs []pair) *agreement {
	a := &agreement{Category: c, Classes: c.Severities(), All: newGroup("", pairs)}
	a.All.Interval = interval(pairs, a.All.AUC)
	a.Table = make([][]int, len(a.Classes))
	for i := range a.Table {
		a.Table[i] = make([]int, len(a.Classes))
	}
	var probability []float64
	var positive []bool
	in := map[string][]pair{}
	for _, p := range pairs {
		// A stored score may have a class of another category: it has no column.
		if row, column := slices.Index(a.Classes, p.label), slices.Index(a.Classes, p.class); row >= 0 && column >= 0 {
			a.Table[row][column]++
		}
		a.Decisions[stats.Indicator(p.positive)][decisionColumn(p.decision)]++
		probability, positive = append(probability, p.probability), append(positive, p.positive)
		for _, name := range p.groups {
			in[name] = append(in[name], p)
		}
	}
	for _, b := range stats.Reliability(probability, positive, calibrationBins) {
		if b.N > 0 {
			a.Bins = append(a.Bins, b)
		}
	}
	for _, name := range groupNames {
		if g := newGroup(name, in[name]); g.People >= groupPeople {
			a.Groups = append(a.Groups, g)
		}
	}
	return a
}

// decisionColumn orders the decisions by the score.
func decisionColumn(d screen.Decision) int {
	switch d {
	case screen.Negative:
		return 0
	case screen.Positive:
		return 2
	}
	return 1
}

// newGroup returns the figures of pairs.
func newGroup(name string, pairs []pair) group {
	g := group{Name: name, Recordings: len(pairs), AUC: math.NaN(), Mean: math.NaN(), Interval: stats.Interval{Low: math.NaN(), High: math.NaN()}}
	var probability []float64
	var positive []bool
	people, sides := map[string]bool{}, [2]map[string]bool{{}, {}}
	sum := 0.0
	for _, p := range pairs {
		people[p.user] = true
		sides[stats.Indicator(p.positive)][p.user] = true
		g.Positive += stats.Indicator(p.positive)
		sum += p.probability
		probability, positive = append(probability, p.probability), append(positive, p.positive)
	}
	if g.People = len(people); g.Recordings > 0 {
		g.Mean = sum / float64(g.Recordings)
	}
	if len(sides[0]) >= groupSide && len(sides[1]) >= groupSide {
		g.AUC = stats.AUC(probability, positive)
	}
	return g
}

// interval returns the interval of an AUC over people.
func interval(pairs []pair, auc float64) stats.Interval {
	if math.IsNaN(auc) {
		return stats.Interval{Low: math.NaN(), High: math.NaN()}
	}
	var probability []float64
	var positive []bool
	var user []string
	for _, p := range pairs {
		probability, positive, user = append(probability, p.probability), append(positive, p.positive), append(user, p.user)
	}
	return stats.BootstrapClusters(positive, user, 0.95, stats.Resamples, 1, stats.AUCOf(probability, positive))
}

// ofAll is the share of n of all, in words: of 100.
func ofAll(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(all))
}

// counted is ofAll with the counts.
func counted(n, all int) string { return fmt.Sprintf("%s (%d/%d)", ofAll(n, all), n, all) }

// Share is the share of recordings with a positive label.
func (g group) Share() string { return ofAll(g.Positive, g.Recordings) }

// MeanText is the mean probability.
func (g group) MeanText() string {
	if math.IsNaN(g.Mean) {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*g.Mean)
}

// AUCText is the AUC, with its interval if that is known.
func (g group) AUCText() string {
	switch {
	case math.IsNaN(g.AUC):
		return "–"
	case math.IsNaN(g.Interval.Low):
		return fmt.Sprintf("%.2f", g.AUC)
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", g.AUC, g.Interval.Low, g.Interval.High)
}

// Sensitivity is how many of the recordings with a positive label, and a decision, were
// decided positive.
func (a *agreement) Sensitivity() string {
	return counted(a.Decisions[1][2], a.Decisions[1][0]+a.Decisions[1][2])
}

// Specificity is how many of the recordings with a negative label, and a decision, were
// decided negative.
func (a *agreement) Specificity() string {
	return counted(a.Decisions[0][0], a.Decisions[0][0]+a.Decisions[0][2])
}

// agreementData is what the page of the agreement shows.
type agreementData struct {
	*summary
	Trial *trial // nil where none was asked for
	Ready bool   // whether the summary is made
}

// agreement shows how scores and labels of the account agree.
func (v *visit) agreement() error {
	s, err := v.summaries.get(v.ctx(), v.caller.Account, v.account)
	if err != nil {
		return err
	}
	return v.page(http.StatusOK, "agreement", &agreementData{cmp.Or(s, &summary{}), v.trials.last(v.caller.Account), s != nil})
}
