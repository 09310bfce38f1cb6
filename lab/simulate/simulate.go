// Package simulate shows in simulated populations, whose truth is known, what labels
// give the depression and anxiety models, and what recordings without labels give.
package simulate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/screen"
)

// Options are the settings of [Run]. Zero fields mean the default.
type Options struct {
	Labels     []int // how many labelled people; default 0, 100, 1,000, 10,000
	Replicates int   // populations drawn for each number; default 20
	Test       int   // new people in each; default 4,000
	Seed       uint64

	Progress func(done, total int) // may be nil
}

// Result is what Run found.
type Result struct {
	Category screen.Category `json:"category"`
	Rows     []Row           `json:"rows"`
	Coverage []Coverage      `json:"coverage"`
	Lengths  []Length        `json:"lengths"`

	Unlabelled []Unlabelled `json:"unlabelled,omitempty"` // of Adapt
}

// Length says what the duration of recordings does to the scores of the prior, in
// populations as the prior says.
type Length struct {
	Speech      float64 `json:"speech_s"` // seconds of speech of each recording
	Populations int     `json:"populations"`
	AUC         float64 `json:"auc"`
	Covered     float64 `json:"covered"` // share of people whose probability lies in the 90 % interval
	SE          float64 `json:"se"`      // standard error of Covered, over populations
	Width       float64 `json:"width"`   // of the interval in logits, mean
	Spread      float64 `json:"spread"`  // standard deviation of the reported probability in logits
}

// Coverage says how often the truth lies in the 90 % interval.
type Coverage struct {
	Labels      int     `json:"labels"`
	Populations int     `json:"populations"`
	Share       float64 `json:"share"`        // of new people, whose probability lies in the interval of the posterior
	SE          float64 `json:"se"`           // standard error, over populations
	ShareInUse  float64 `json:"share_in_use"` // the same of the interval of what would be in use
	SEInUse     float64 `json:"se_in_use"`
}

// Row is the mean over populations of one scenario after one number of labels.
type Row struct {
	Scenario string `json:"scenario"`
	Labels   int    `json:"labels"`

	Prior     float64 `json:"auc_prior"`     // AUC of the prior
	Posterior float64 `json:"auc_posterior"` // of the posterior of all parameters
	Active    float64 `json:"auc_active"`    // of what would be in use: what Learn made, if that is better
	Oracle    float64 `json:"auc_oracle"`    // of the true weights

	ECE       float64 `json:"ece_active"` // expected calibration error of what would be in use
	Covered   float64 `json:"covered"`    // share of new people whose probability lies in the 90 % interval of what would be in use
	Activated float64 `json:"activated"`  // share of populations in which the learned model would be
}

// The scenarios of Run.
const (
	ScenarioKnown    = "as the prior says" // effects, thresholds and base rate drawn from the prior
	ScenarioNoSignal = "labels at random"  // the effects are the prior means; the labels are other people's
	ScenarioDrift    = "drifted"           // besides, all features half a standard deviation off, and a base rate of 0.30
)

// driftShift and driftShare are what has changed in ScenarioDrift. Chosen: a
// new microphone, and a clinic in place of the population.
const (
	driftShift = 0.5
	driftShare = 0.30
)

// Run draws populations whose effects, correlations and base rates are
// known, lets the prior learn from labelled people of each, and measures it on
// new ones. AUC and calibration error are expected values given the known
// probabilities. Equal options give equal results.
func Run(ctx context.Context, prior *models.BayesFile, opts *Options) (*Result, error) {
	o := opts.complete()
	base, err := models.NewBayes(prior)
	if err != nil {
		return nil, err
	}
	out := &Result{Category: prior.Category}
	scenarios := []string{ScenarioKnown, ScenarioNoSignal, ScenarioDrift}
	done, total := 0, len(scenarios)*len(o.Labels)*o.Replicates
	for s, scenario := range scenarios {
		for _, n := range o.Labels {
			row := Row{Scenario: scenario, Labels: n}
			for rep := range o.Replicates {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				// The same populations and test people for every n.
				rng := rand.New(rand.NewPCG(o.Seed, uint64(s*1_000_003+rep)))
				if err := row.add(ctx, base, scenario, n, o.Test, rng, 1/float64(o.Replicates)); err != nil {
					return nil, err
				}
				if done++; o.Progress != nil {
					o.Progress(done, total)
				}
			}
			out.Rows = append(out.Rows, row)
		}
	}
	for _, n := range o.Labels {
		// One population costs as much as it has labels, and there the intervals
		// of all people are wrong together.
		row := Coverage{Labels: n, Populations: o.Replicates * min(max(4000/max(n, 1), 1), 20)}
		if row.Share, row.SE, err = cover(ctx, base, n, row.Populations, o.Seed, posterior); err != nil {
			return nil, err
		}
		if row.ShareInUse, row.SEInUse, err = cover(ctx, base, n, row.Populations, o.Seed, inUse); err != nil {
			return nil, err
		}
		out.Coverage = append(out.Coverage, row)
	}
	for _, seconds := range lengths {
		row, err := length(ctx, base, seconds, 20*o.Replicates, min(o.Test, lengthPeople), o.Seed)
		if err != nil {
			return nil, err
		}
		out.Lengths = append(out.Lengths, row)
	}
	return out, nil
}

// complete returns the options with the defaults; opts may be nil.
func (opts *Options) complete() Options {
	o := Options{Labels: []int{0, 100, 1000, 10000}, Replicates: 20, Test: 4000}
	if opts != nil {
		o.Seed, o.Progress = opts.Seed, opts.Progress
		if opts.Labels != nil {
			o.Labels = opts.Labels
		}
		if opts.Replicates > 0 {
			o.Replicates = opts.Replicates
		}
		if opts.Test > 0 {
			o.Test = opts.Test
		}
	}
	return o
}

// coverPeople is how many people of a population are looked at. Chosen: they
// agree so much that more would not help.
const coverPeople = 60

// cover measures the intervals of what make makes of base and n labels, in
// populations that the prior holds possible: how many of new people have their
// probability in it, with the standard error over populations.
func cover(ctx context.Context, base *models.Bayes, n, populations int, seed uint64, make maker) (share, se float64, err error) {
	var square float64
	for rep := range populations {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		p := newPopulation(base.File(), rand.New(rand.NewPCG(seed, uint64(1_000_000_007+rep))))
		b, err := make(ctx, base, examplesOf(p.people(n)))
		if err != nil {
			return 0, 0, err
		}
		var inside float64
		for _, who := range p.people(coverPeople) {
			s := b.ScoreRow(b.Row(who.Recording), who.Recording.Features)
			if s.Low <= who.truth && who.truth <= s.High {
				inside += 1 / float64(coverPeople)
			}
		}
		share += inside / float64(populations)
		square += inside * inside / float64(populations)
	}
	return share, math.Sqrt(max(square-share*share, 0) / float64(populations)), nil
}

// A maker makes a model of a prior and labels.
type maker func(context.Context, *models.Bayes, []learn.Example) (*models.Bayes, error)

// inUse is what would be in use after labels: what Learn makes of base if that
// is better, and else base.
func inUse(ctx context.Context, base *models.Bayes, examples []learn.Example) (*models.Bayes, error) {
	l, err := learn.Learn(ctx, base.File(), base, examples, nil)
	switch {
	case errors.Is(err, learn.ErrFewLabels):
		return base, nil
	case err != nil:
		return nil, err
	case !l.Better:
		return base, nil
	}
	return models.NewBayes(l.File)
}

// posterior is the posterior of all parameters of base.
func posterior(_ context.Context, base *models.Bayes, examples []learn.Example) (*models.Bayes, error) {
	return learn.Posterior(base, examples)
}

// add adds one population with the given share.
func (row *Row) add(ctx context.Context, base *models.Bayes, scenario string, n, test int, rng *rand.Rand, share float64) error {
	prior := base.File()
	p := newPopulation(prior, rng)
	switch scenario {
	case ScenarioNoSignal:
		for i, x := range prior.Features {
			p.weight[i] = x.Weight
		}
		p.theta = [3]float64(prior.Thresholds)
	case ScenarioDrift:
		p.drifted()
	}
	tested := p.people(test)
	p.noise = scenario == ScenarioNoSignal
	examples := examplesOf(p.people(n))

	full, err := learn.Posterior(base, examples)
	if err != nil {
		return err
	}
	active, err := inUse(ctx, base, examples)
	if err != nil {
		return err
	}
	if active != base {
		row.Activated += share
	}
	var truth, oracle []float64
	var probability [3][]float64
	const inUseAt = 2
	for i := range tested {
		truth, oracle = append(truth, tested[i].truth), append(oracle, p.oracle(base, &tested[i]))
		for k, b := range []*models.Bayes{base, full, inUseAt: active} {
			s := b.ScoreRow(b.Row(tested[i].Recording), tested[i].Recording.Features)
			probability[k] = append(probability[k], s.Probability)
			if k == inUseAt && s.Low <= truth[i] && truth[i] <= s.High {
				row.Covered += share / float64(test)
			}
		}
	}
	row.Prior += share * expectedAUC(probability[0], truth)
	row.Posterior += share * expectedAUC(probability[1], truth)
	row.Active += share * expectedAUC(probability[2], truth)
	row.Oracle += share * expectedAUC(oracle, truth)
	row.ECE += share * expectedECE(probability[2], truth)
	return nil
}
