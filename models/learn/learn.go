package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
)

// ErrFewLabels says that there are not enough labels to learn from.
var ErrFewLabels = errors.New("learn: too few labels")

const (
	// leastUsers and leastSide are how many people, and how many labels on
	// either side of the decision, Learn needs. Chosen: with fewer, figures on
	// held-out people are noise.
	leastUsers = 20
	leastSide  = 5

	// learnFolds is how many folds the people are dealt into.
	learnFolds = 5

	// plattSide is how many unambiguous labels a calibration by Platt's method
	// needs on either side of the decision. With 100 the standard error of its
	// slope is about a quarter at an AUC of 0.63. Fewer would add more noise than
	// they remove bias.
	plattSide = 100

	// plattGain is by how much the logarithm of the likelihood of the held-out
	// labels must rise for that calibration: half of the 95th percentile of χ²
	// with two degrees of freedom, as in a test of the likelihood ratio (Wilks
	// 1938). A posterior of the right model gains nothing, and the intervals do
	// not cover the error of the calibration. Without this test, the share of new
	// people whose probability lies in the 90 % interval after 4,000 labels fell
	// from 0.90 to 0.82 (anxiety) and 0.88 (depression).
	plattGain = 3.0

	// repeat is the correlation of the labels of one person that the features
	// do not explain: n sessions of one person count as n/(1 + (n − 1)·repeat)
	// (Kish 1965, the design effect). Chosen: symptoms last for months. Weights
	// rather than a random effect, because a new person has none: what is
	// wanted is the probability over people, which the weights of a random
	// effects model, being those within a person, would overstate.
	repeat = 0.7

	// slopeSD is the prior standard deviation of the common factor of the
	// weights. Chosen: a factor of 0 and one of 2 are both within two standard
	// deviations.
	slopeSD = 0.5

	// leastSlope is the least common factor. Being positive, it keeps the order
	// of the scores that the prior gives, whatever the labels.
	leastSlope = 0.05
)

// Kind is which parameters of a Learned model are from the labels.
type Kind uint8

const (
	// Recalibrated models have the weights of the prior times one factor, and
	// thresholds from the labels.
	Recalibrated Kind = iota + 1
	// Relearned models have the posterior of all parameters.
	Relearned
)

var kindNames = []string{"recalibrated", "relearned"}

func (k Kind) String() string {
	if k < 1 || int(k) > len(kindNames) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k-1]
}

func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Learned is the result of Learn.
type Learned struct {
	File *models.BayesFile
	Kind Kind

	// Figures on people who were held out: of the new model, and of the
	// former one on the same recordings.
	New, Former HeldOut

	// Fresh is whether New and Former are figures of the recordings since the last
	// that the former model learned from. Otherwise they are of all recordings.
	Fresh bool

	// Better is whether the new model is not worse than the former one: its log
	// score is not lower, and its AUC is not lower by more than 0.01. Other
	// figures do not count. Verdict says in words what decided.
	Better bool
}

// Verdict says which rule and which figures decided on Better, such as "its AUC of
// 0.612 is lower than the 0.640 of the model in use by more than 0.01".
func (l *Learned) Verdict() string {
	logScore, auc := l.rules()
	lower := fmt.Sprintf("its log score of %.4f is lower than the %.4f of the model in use", l.New.LogScore, l.Former.LogScore)
	notLower := fmt.Sprintf("its log score of %.4f is not lower than the %.4f of the model in use", l.New.LogScore, l.Former.LogScore)
	short := fmt.Sprintf("its AUC of %.3f is lower than the %.3f of the model in use by more than %v", l.New.AUC.Value, l.Former.AUC.Value, aucSlack)
	enough := fmt.Sprintf("its AUC of %.3f is not lower than the %.3f by more than %v", l.New.AUC.Value, l.Former.AUC.Value, aucSlack)
	if math.IsNaN(l.New.AUC.Value) || math.IsNaN(l.Former.AUC.Value) {
		enough = "no AUC is defined"
	}
	switch {
	case logScore && auc:
		return notLower + ", and " + enough
	case logScore:
		return short + ", though " + notLower
	case auc:
		return lower + ", though " + enough
	}
	return lower + ", and " + short
}

// rules says which of the two rules of Better the new model keeps.
func (l *Learned) rules() (logScore, auc bool) {
	return l.New.LogScore >= l.Former.LogScore, !(l.New.AUC.Value < l.Former.AUC.Value-aucSlack)
}

// aucSlack is how much lower the AUC of a better model may be. Chosen: less than
// the standard error with thousands of labels.
const aucSlack = 0.01

// LearnOptions are the settings of Learn. Zero fields mean the default.
type LearnOptions struct {
	Version string // of the new model; default that of the prior with "+" and the number of sessions
	Seed    uint64 // of the folds
	Data    string // what the labelled sessions are, in words; default "labels from feedback"
	Licence string // of the labelled sessions; default "the operator's own"
}

// filled returns the options with their defaults.
func (o *LearnOptions) filled() LearnOptions {
	var f LearnOptions
	if o != nil {
		f = *o
	}
	f.Data, f.Licence = cmp.Or(f.Data, "labels from feedback"), cmp.Or(f.Licence, "the operator's own")
	return f
}

// Learn returns the posterior of a prior given labelled recordings, and compares
// it with former, the model in use.
//
// A former model that learned from labels itself looks better on those than it
// is. The two are therefore compared on recordings from the days after the last
// label that it learned from, if these hold 20 people and 5 labels on either side
// of the decision. Otherwise they are compared on all recordings, which favours
// the former model.
//
// Two models are fitted, and evaluated on people who were held out, a fifth of
// them at a time. One has the weights of the prior times a common factor, the
// other has all parameters free. The second is chosen if its log score is higher
// by more than a standard error, so that labels without signal do not change the
// weights relative to each other. Its scores are then calibrated by Platt's
// method on the held-out predictions, if there are 100 unambiguous labels on
// either side of the decision and a likelihood ratio test asks for it. Several
// sessions of one person count less than as many people.
//
// The error matches ErrFewLabels for fewer than 20 people or 5 labels on either
// side of the decision, and ErrLabel for an invalid label.
func Learn(ctx context.Context, prior *models.BayesFile, former *models.Bayes, examples []Example, opts *LearnOptions) (*Learned, error) {
	o := opts.filled()
	if err := checkExamples(examples); err != nil {
		return nil, err
	}
	base, err := models.NewBayes(prior)
	if err != nil {
		return nil, err
	}
	l := &learner{prior: prior, examples: examples, person: personsOf(examples)}
	l.weights = personWeights(l.person)
	everything := stats.Indices(len(examples))
	if err := l.enough(everything); err != nil {
		return nil, err
	}
	for i := range examples {
		l.data.x = append(l.data.x, base.Row(examples[i].Recording).Z)
		l.data.y = append(l.data.y, examples[i].Label)
	}
	l.data.w = l.weights
	if err := l.crossValidate(ctx, o.Seed); err != nil {
		return nil, err
	}
	out := &Learned{Kind: Recalibrated}
	predictions, fitted := l.recalibrated, fitSlope
	if gain, se := l.gain(l.relearned, l.recalibrated); gain > se {
		out.Kind, predictions, fitted = Relearned, l.relearned, fitAll
	}
	g, err := fitted(prior, &l.data)
	if err != nil {
		return nil, err
	}
	var platt *models.Calibration
	if out.Kind == Relearned {
		if platt, err = l.platt(); err != nil {
			return nil, err
		}
		rescale(g, platt)
	}
	l.compare(out, former, predictions, o.Seed)
	out.File = g.into(prior)
	l.describe(out, platt, &o)
	whole := out.New
	if out.Fresh {
		whole = l.figures(predictions, everything, o.Seed)
	}
	out.File.Metrics = whole.metrics(o.Data)
	return out, out.File.Check()
}

// compare sets what out says of the new model, which made the predictions, and the former.
func (l *learner) compare(out *Learned, former *models.Bayes, predictions []prediction, seed uint64) {
	was := make([]prediction, len(l.examples))
	for i := range was {
		was[i] = predictionOf(former, l.examples[i].Recording)
	}
	judged := l.after(former)
	if out.Fresh = len(judged) < len(was) && l.enough(judged) == nil; !out.Fresh {
		judged = stats.Indices(len(was))
	}
	out.New, out.Former = l.figures(predictions, judged, seed), l.figures(was, judged, seed)
	logScore, auc := out.rules()
	out.Better = logScore && auc
}

// learner is one call of Learn.
type learner struct {
	prior    *models.BayesFile
	examples []Example
	person   []person // of each example
	weights  []float64
	data     labelled

	fold                    []int        // in which each example is held out
	recalibrated, relearned []prediction // of each example by a model that did not see its person
}

// personsOf returns the person of each example.
func personsOf(examples []Example) []person {
	return persons(len(examples), func(i int) (person, *features.Recording) {
		return person{examples[i].Account, examples[i].User}, examples[i].Recording
	})
}

// personWeights is how much each example counts: that of a person with n of
// them 1/(1 + (n − 1)·repeat).
func personWeights(who []person) []float64 {
	n := map[person]float64{}
	for _, p := range who {
		n[p]++
	}
	w := make([]float64, len(who))
	for i, p := range who {
		w[i] = 1 / (1 + (n[p]-1)*repeat)
	}
	return w
}

// after returns the examples from the days after the last that a model learned
// from; all, if it learned from none.
func (l *learner) after(former *models.Bayes) []int {
	var out []int
	labels := former.File().Labels
	for i := range l.examples {
		if labels == nil || l.examples[i].Time.UTC().Format(time.DateOnly) > labels.To {
			out = append(out, i)
		}
	}
	return out
}

// enough says whether there are labels enough among some examples.
func (l *learner) enough(index []int) error {
	people := map[person]bool{}
	var side [2]int
	for _, i := range index {
		people[l.person[i]] = true
		positive, _ := l.examples[i].Label.binary()
		side[stats.Indicator(positive)]++
	}
	if len(people) < leastUsers || min(side[0], side[1]) < leastSide {
		return fmt.Errorf("%w: %d people with %d labels below and %d at or above a score of 10, want %d people and %d labels on either side",
			ErrFewLabels, len(people), side[0], side[1], leastUsers, leastSide)
	}
	return nil
}

// crossValidate predicts each example by models that did not see its person.
func (l *learner) crossValidate(ctx context.Context, seed uint64) error {
	people := make([]string, len(l.examples))
	for i := range l.examples {
		people[i] = l.person[i].String()
	}
	l.recalibrated, l.relearned = make([]prediction, len(people)), make([]prediction, len(people))
	l.fold = make([]int, len(people))
	for k, fold := range stats.Folds(people, learnFolds, seed) {
		for _, i := range fold.Test {
			l.fold[i] = k
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		part := l.data.pick(fold.Train)
		for _, m := range []struct {
			fit func(*models.BayesFile, *labelled) (*gaussian, error)
			out []prediction
		}{{fitSlope, l.recalibrated}, {fitAll, l.relearned}} {
			g, err := m.fit(l.prior, part)
			if err != nil {
				return err
			}
			p := len(g.mean) - 3
			for _, i := range fold.Test {
				m.out[i] = prediction{dsp.Dot(g.mean[:p], l.data.x[i]), thresholds(g.mean, p)}
			}
		}
	}
	return nil
}

func (d *labelled) pick(index []int) *labelled {
	out := &labelled{}
	for _, i := range index {
		out.x, out.y, out.w = append(out.x, d.x[i]), append(out.y, d.y[i]), append(out.w, d.w[i])
	}
	return out
}

// describe fills in what the file says about itself, and its cuts.
func (l *learner) describe(out *Learned, platt *models.Calibration, o *LearnOptions) {
	f := out.File
	labels := countLabels(l.examples, l.person)
	f.Version = cmp.Or(o.Version, fmt.Sprintf("%s+%d", l.prior.Version, labels.Sessions))
	how := "weights of the prior times one factor, thresholds from the labels"
	if out.Kind == Relearned {
		how = "all weights and thresholds from prior and labels"
	}
	if platt != nil {
		how += fmt.Sprintf("; calibrated by Platt's method on held-out people, slope %.2f", platt.A)
	}
	f.Description = "Learned from labels: " + how + "." + Disclaimer
	f.IsCalibrated, f.Labels = true, &labels
	f.CalibratedOn = fmt.Sprintf("%d labelled sessions of %d users, %s", labels.Sessions, labels.Users, o.Data)
	f.TrainedOn = append(slices.Clone(l.prior.TrainedOn), models.Data{Data: o.Data, Rows: labels.Sessions, Licence: o.Licence})
	type point struct{ eta, w float64 }
	points := make([]point, len(l.data.x))
	for i, x := range l.data.x {
		for j, v := range x {
			points[i].eta += f.Features[j].Weight * v
		}
		points[i].w = l.weights[i]
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.eta, b.eta) })
	eta, w := make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		eta[i], w[i] = p.eta, p.w
	}
	OperatingPoint{Specificity, Undecided}.Set(f, eta, w)
}

// countLabels counts without naming anybody.
func countLabels(examples []Example, who []person) models.Labels {
	l := models.Labels{Sessions: len(examples)}
	people, accounts := map[person]bool{}, map[string]bool{}
	for i := range examples {
		e := &examples[i]
		people[who[i]], accounts[e.Account] = true, true
		switch e.Label.Kind {
		case PHQ9:
			l.PHQ9++
		case PHQ2:
			l.PHQ2++
		case GAD7:
			l.GAD7++
		case Interview:
			l.Interview++
		}
		if e.Time.IsZero() {
			continue
		}
		day := e.Time.UTC().Format(time.DateOnly)
		if l.From == "" || day < l.From {
			l.From = day
		}
		l.To = max(l.To, day)
	}
	l.Users, l.Accounts = len(people), len(accounts)
	return l
}
