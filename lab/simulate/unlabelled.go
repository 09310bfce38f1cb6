package simulate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
)

// Unlabelled is what recordings without labels give: means over populations of one
// scenario after one number of recordings, of one person each, and the standard
// errors of these means.
type Unlabelled struct {
	Scenario    string `json:"scenario"`
	Stated      bool   `json:"base_rate_stated"` // whether the share of people with a score of 10 or more is given
	Recordings  int    `json:"recordings"`
	Populations int    `json:"populations"`

	Prior   Mean `json:"auc_prior"`  // AUC of the prior
	AUC     Mean `json:"auc_in_use"` // of what would be in use: the prior with adapted norms, if these are better
	More    Mean `json:"auc_more"`   // the second less the first
	Oracle  Mean `json:"auc_oracle"` // of the truth
	ECE     Mean `json:"ece"`        // expected calibration error of what would be in use
	Covered Mean `json:"covered"`    // share of new people whose probability lies in its 90 % interval
	Used    Mean `json:"used"`       // share of populations in which the adapted norms would be
}

// Mean is a mean over populations with its standard error.
type Mean struct {
	Value float64 `json:"value"`
	SE    float64 `json:"se"`
}

// The scenarios of Adapt, beside ScenarioDrift.
const (
	ScenarioOrdinary = "ordinary"           // as the prior says: its norms, with effects, thresholds and base rate drawn from it
	ScenarioMeasured = "measured otherwise" // besides, means, spreads and correlation of the features are others, and the base rate is 0.30
)

// drift is how measured features differ from the norms.
type drift struct {
	spread []float64 // of each feature, in those of the norms
}

const (
	// driftSpread and driftSpreadSD are the mean and the standard deviation, over
	// features, of the logarithm of the ratio of the spreads. Chosen: spreads are 1.2
	// times those of the norms, and between 0.7 and 2 times for 19 of 20 features.
	driftSpread, driftSpreadSD = 0.18, 0.25

	// driftFactors is the number of factors of the correlation that is mixed with that
	// of the norms, half and half.
	driftFactors = 3
)

// of returns what is measured of standardised feature j of a person, whose value among
// the people is z.
func (d *drift) of(j int, z float64) float64 {
	if d == nil {
		return z
	}
	return driftShift + d.spread[j]*z
}

// measuredOtherwise makes p a population that is measured otherwise than that of the
// norms: each feature has another mean and another spread, and the correlation is half
// another one. What the features of a person say is the same as before, among these
// people.
func (p *population) measuredOtherwise() *population {
	n := len(p.weight)
	p.drift = &drift{spread: make([]float64, n)}
	load := make([][driftFactors]float64, n)
	for i := range n {
		p.drift.spread[i] = math.Exp(driftSpread + driftSpreadSD*p.rng.NormFloat64())
		for k := range driftFactors {
			load[i][k] = p.rng.NormFloat64() / math.Sqrt2
		}
	}
	// ΛΛᵀ + I, scaled to ones on the diagonal.
	product := func(i, j int) (sum float64) {
		for k := range driftFactors {
			sum += load[i][k] * load[j][k]
		}
		return sum
	}
	r := make([][]float64, n)
	for i := range r {
		r[i] = make([]float64, n)
		for j := range r[i] {
			r[i][j] = (p.correlation[i][j] + product(i, j)/math.Sqrt((1+product(i, i))*(1+product(j, j)))) / 2
		}
		r[i][i] = 1
	}
	p.correlate(r)
	return p.withShare(driftShare)
}

// share returns the share of people with a score of 10 or more.
func (p *population) share() float64 {
	var mean, variance, share float64
	for i := range p.weight {
		if p.shift != nil {
			mean += p.weight[i] * p.shift[i]
		}
		for j := range p.weight {
			variance += p.weight[i] * p.correlation[i][j] * p.weight[j]
		}
	}
	models.OverNormal(math.Sqrt(max(variance, 0)), func(eta, w float64) {
		share += w / (1 + math.Exp(p.theta[models.DecisionBand]-mean-eta))
	})
	return share
}

// AdaptOptions are the settings of [Adapt]. Zero fields mean the default.
type AdaptOptions struct {
	Recordings  []int // numbers of recordings without labels; default 0, 30, 100, 200, 1,000
	Populations int   // for each number; default 100
	Test        int   // new people in each; default 1,000
	Seed        uint64

	Progress func(done, total int) // may be nil
}

// Adapt draws ordinary populations, drifted ones, and such as are measured otherwise,
// adapts the norms of the prior to recordings without labels, and measures the model with them on
// new people, with and without a stated base rate. AUC and calibration error are
// expected values given the known probabilities. Equal options give equal results.
func Adapt(ctx context.Context, prior *models.BayesFile, opts *AdaptOptions) ([]Unlabelled, error) {
	o := AdaptOptions{Recordings: []int{0, 30, 100, 200, 1000}, Populations: 100, Test: 1000}
	if opts != nil {
		o.Seed, o.Progress = opts.Seed, opts.Progress
		if opts.Recordings != nil {
			o.Recordings = opts.Recordings
		}
		if opts.Populations > 0 {
			o.Populations = opts.Populations
		}
		if opts.Test > 0 {
			o.Test = opts.Test
		}
	}
	base, err := models.NewBayes(prior)
	if err != nil {
		return nil, err
	}
	var out []Unlabelled
	done, total := 0, 6*len(o.Recordings)*o.Populations
	for s, scenario := range []string{ScenarioOrdinary, ScenarioDrift, ScenarioMeasured} {
		for _, stated := range []bool{true, false} {
			for _, n := range o.Recordings {
				u := &unlabelled{Unlabelled: Unlabelled{Scenario: scenario, Stated: stated, Recordings: n, Populations: o.Populations}}
				for rep := range o.Populations {
					if err := ctx.Err(); err != nil {
						return nil, err
					}
					// The same populations and test people for every n.
					rng := rand.New(rand.NewPCG(o.Seed, uint64(2_000_000_011+s*1_000_003+rep)))
					if err := u.add(ctx, base, n, o.Test, rng); err != nil {
						return nil, err
					}
					if done++; o.Progress != nil {
						o.Progress(done, total)
					}
				}
				u.finish()
				out = append(out, u.Unlabelled)
			}
		}
	}
	return out, nil
}

// unlabelled sums up an Unlabelled.
type unlabelled struct {
	Unlabelled
	prior, auc, more, oracle, ece, covered, used []float64 // of each population
}

// add adds one population.
func (u *unlabelled) add(ctx context.Context, base *models.Bayes, n, test int, rng *rand.Rand) error {
	p := newPopulation(base.File(), rng)
	switch u.Scenario {
	case ScenarioDrift:
		p.drifted()
	case ScenarioMeasured:
		p.measuredOtherwise()
	}
	tested := p.people(test)
	var rate float64
	if u.Stated {
		rate = p.share()
	}
	inUse, used, err := adaptedTo(ctx, base, p.people(n), rate)
	if err != nil {
		return err
	}
	prior := base
	if u.Stated {
		if prior, err = base.WithBaseRate(rate); err != nil {
			return err
		}
	}
	var truth, before, after []float64
	var covered float64
	for i := range tested {
		in := tested[i].Recording
		truth = append(truth, tested[i].truth)
		before = append(before, prior.ScoreRow(prior.Row(in), in.Features).Probability)
		s := inUse.ScoreRow(inUse.Row(in), in.Features)
		after = append(after, s.Probability)
		if s.Low <= truth[i] && truth[i] <= s.High {
			covered += 1 / float64(test)
		}
	}
	was, is := expectedAUC(before, truth), expectedAUC(after, truth)
	u.prior, u.auc, u.more = append(u.prior, was), append(u.auc, is), append(u.more, is-was)
	u.oracle, u.ece = append(u.oracle, expectedAUC(truth, truth)), append(u.ece, expectedECE(after, truth))
	u.covered = append(u.covered, covered)
	share := 0.0
	if used {
		share = 1
	}
	u.used = append(u.used, share)
	return nil
}

// adaptedTo returns base with the norms that would be in use after recordings of some
// people, for a base rate if it is not 0, and whether they are adapted ones.
func adaptedTo(ctx context.Context, base *models.Bayes, people []person, rate float64) (b *models.Bayes, used bool, err error) {
	voices := make([]learn.Voice, len(people))
	for i := range people {
		voices[i] = learn.Voice{User: people[i].User, Recording: people[i].Recording}
	}
	b = base
	a, err := learn.Adapt(ctx, base.File(), base, voices, &learn.AdaptOptions{BaseRate: rate})
	switch {
	case errors.Is(err, learn.ErrFewPeople):
	case err != nil:
		return nil, false, err
	case a.Better:
		if b, err = models.NewBayes(a.File); err != nil {
			return nil, false, err
		}
		used = true
	}
	if rate != 0 {
		if b, err = b.WithBaseRate(rate); err != nil {
			return nil, false, err
		}
	}
	return b, used, nil
}

func (u *unlabelled) finish() {
	for _, m := range []struct {
		to *Mean
		of []float64
	}{{&u.Prior, u.prior}, {&u.AUC, u.auc}, {&u.More, u.more}, {&u.Oracle, u.oracle}, {&u.ECE, u.ece}, {&u.Covered, u.covered}, {&u.Used, u.used}} {
		*m.to = meanOf(m.of)
	}
}

// meanOf returns the mean of values with its standard error.
func meanOf(values []float64) Mean {
	var m Mean
	n := float64(len(values))
	for _, v := range values {
		m.Value += v / n
	}
	var square float64
	for _, v := range values {
		square += (v - m.Value) * (v - m.Value)
	}
	if n > 1 {
		m.SE = math.Sqrt(square / (n - 1) / n)
	}
	return m
}
