package fit

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// SimulationOptions are the settings of Simulate. Zero fields mean the default.
type SimulationOptions struct {
	Labels     []int // how many labelled people; default 0, 100, 1,000, 10,000
	Replicates int   // populations drawn for each number; default 20
	Test       int   // new people in each; default 4,000
	Seed       uint64

	Progress func(done, total int) // may be nil
}

// Simulation is what Simulate found.
type Simulation struct {
	Category screen.Category `json:"category"`
	Rows     []SimulationRow `json:"rows"`
	Coverage []CoverageRow   `json:"coverage"`
}

// CoverageRow says how often the truth lies in the 90 % interval.
type CoverageRow struct {
	Labels      int     `json:"labels"`
	Populations int     `json:"populations"`
	Share       float64 `json:"share"`        // of new people, whose probability lies in the interval of the posterior
	SE          float64 `json:"se"`           // standard error, over populations
	ShareInUse  float64 `json:"share_in_use"` // the same of the interval of what would be in use
	SEInUse     float64 `json:"se_in_use"`
}

// SimulationRow is the mean over populations of one scenario after one number of labels.
type SimulationRow struct {
	Scenario string `json:"scenario"`
	Labels   int    `json:"labels"`

	Prior     float64 `json:"auc_prior"`     // AUC of the prior
	Posterior float64 `json:"auc_posterior"` // of the posterior of all parameters
	Active    float64 `json:"auc_active"`    // of what would be in use: what Learn made, if that is better
	Oracle    float64 `json:"auc_oracle"`    // of the truth

	ECE       float64 `json:"ece_active"` // expected calibration error of what would be in use
	Covered   float64 `json:"covered"`    // share of new people whose probability lies in the 90 % interval of what would be in use
	Activated float64 `json:"activated"`  // share of populations in which the learned model would be
}

// The scenarios of Simulate.
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

// Simulate draws populations whose effects, correlations and base rates are
// known, lets the prior learn from labelled people of each, and measures it on
// new ones. AUC and calibration error are expected values given the known
// probabilities. Equal options give equal results.
func Simulate(ctx context.Context, prior *models.BayesFile, opts *SimulationOptions) (*Simulation, error) {
	o := SimulationOptions{Labels: []int{0, 100, 1000, 10000}, Replicates: 20, Test: 4000}
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
	base, err := models.NewBayes(prior)
	if err != nil {
		return nil, err
	}
	out := &Simulation{Category: prior.Category}
	scenarios := []string{ScenarioKnown, ScenarioNoSignal, ScenarioDrift}
	done, total := 0, len(scenarios)*len(o.Labels)*o.Replicates
	for s, scenario := range scenarios {
		for _, n := range o.Labels {
			row := SimulationRow{Scenario: scenario, Labels: n}
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
		row := CoverageRow{Labels: n, Populations: o.Replicates * min(max(4000/max(n, 1), 1), 20)}
		if row.Share, row.SE, err = cover(ctx, base, n, row.Populations, o.Seed, relearned); err != nil {
			return nil, err
		}
		if row.ShareInUse, row.SEInUse, err = cover(ctx, base, n, row.Populations, o.Seed, inUse); err != nil {
			return nil, err
		}
		out.Coverage = append(out.Coverage, row)
	}
	return out, nil
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
type maker func(context.Context, *models.Bayes, []Example) (*models.Bayes, error)

// inUse is what would be in use after labels: what Learn makes of base if that
// is better, and else base.
func inUse(ctx context.Context, base *models.Bayes, examples []Example) (*models.Bayes, error) {
	l, err := Learn(ctx, base.File(), base, examples, nil)
	switch {
	case errors.Is(err, ErrFewLabels):
		return base, nil
	case err != nil:
		return nil, err
	case !l.Better:
		return base, nil
	}
	return models.NewBayes(l.File)
}

// relearned is the posterior of all parameters of base.
func relearned(_ context.Context, base *models.Bayes, examples []Example) (*models.Bayes, error) {
	if len(examples) == 0 {
		return base, nil
	}
	d := &labelled{w: personWeights(examples)}
	for i := range examples {
		d.x, d.y = append(d.x, base.Row(examples[i].Recording).Z), append(d.y, examples[i].Label)
	}
	g, err := fitAll(base.File(), d)
	if err != nil {
		return nil, err
	}
	return scorerOf(g.into(base.File()))
}

// add adds one population with the given share.
func (row *SimulationRow) add(ctx context.Context, base *models.Bayes, scenario string, n, test int, rng *rand.Rand, share float64) error {
	prior := base.File()
	p := newPopulation(prior, rng)
	switch scenario {
	case ScenarioNoSignal:
		g := gaussianOf(prior)
		p.weight, p.theta = g.mean[:len(p.weight)], thresholds(g.mean, len(p.weight))
	case ScenarioDrift:
		p.withShare(driftShare)
		p.shift = make([]float64, len(p.weight))
		for i := range p.shift {
			p.shift[i] = driftShift
		}
	}
	tested := p.people(test)
	p.noise = scenario == ScenarioNoSignal
	examples := examplesOf(p.people(n))

	full, err := relearned(ctx, base, examples)
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
	var truth []float64
	var probability [3][]float64
	const inUseAt = 2
	for i := range tested {
		truth = append(truth, tested[i].truth)
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
	row.Oracle += share * expectedAUC(truth, truth)
	row.ECE += share * expectedECE(probability[2], truth)
	return nil
}

// scorerOf is the scorer of a file with parameters of a posterior, whose cuts
// may no longer fit them: they are set anew over the norms.
func scorerOf(f *models.BayesFile) (*models.Bayes, error) {
	var eta, w []float64
	models.OverNormal(1, func(x, share float64) { eta, w = append(eta, x), append(w, share) })
	operating := Prior{Specificity: specificity, Undecided: undecided}
	operating.operate(f, eta, w)
	return models.NewBayes(f)
}
