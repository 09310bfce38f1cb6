package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
)

var (
	// ErrFewPeople says that recordings of too few people are there to adapt norms.
	ErrFewPeople = errors.New("learn: too few people")
	// ErrVoice marks an invalid recording.
	ErrVoice = errors.New("learn: invalid recording")
)

// LeastPeople is how many people Adapt needs. Chosen: with 15 of each sex the
// standard error of a mean is a quarter of a standard deviation, half of the drift
// that a new microphone makes.
const LeastPeople = 30

// adaptFolds is how many folds the people are dealt into.
const adaptFolds = 5

// Voice is one recording without a label.
type Voice struct {
	Account, User string // whose; only whether they are the same matters. Copies of a recording are of one person
	Time          time.Time
	Recording     *features.Recording // Features, Metadata and FixedGain are read, and the way of speaking
}

// AdaptOptions are the settings of Adapt. Zero fields mean the default.
type AdaptOptions struct {
	Version string // of the new model; default that of the prior with "+norms" and the number of people
	Seed    uint64 // of the folds

	// BaseRate is the share of the people recorded who have a questionnaire score
	// of 10 or more, above 0 and below 1. Default: not known.
	BaseRate float64
}

// Adapted is the result of Adapt.
type Adapted struct {
	File *models.BayesFile

	// Gain is by how much the logarithm of the density of a held-out person's
	// features is higher under the new norms than under the prior's, and OverFormer
	// than under the norms of the former model. Both are means over people.
	Gain, OverFormer Gain

	// Fresh is whether OverFormer is of people who were recorded after those whom
	// the former norms were adapted to. Otherwise it is of all people.
	Fresh bool

	// Moved is how far the means moved from the prior's: the root of the mean
	// square over features and norms, in standard deviations.
	Moved float64

	// Correlated is whether the correlation was adapted too.
	Correlated bool

	// Better is whether the new norms are to replace the former ones.
	Better bool
	Reason string // which figure decided
}

// Gain is a mean over people with its standard error.
type Gain struct {
	Mean   float64 `json:"mean"`
	SE     float64 `json:"se"`
	People int     `json:"people"`
}

// Adapt brings the norms of a prior towards those of recordings without labels:
// means and standard deviations of each sex and way of speaking and, from
// LeastCorrelated people on, the correlation. Weights stay. Former is the
// model in use.
//
// Each person has one vote: a recording of somebody with m recordings counts 1/m. A
// recording without sex or way of speaking counts for each norm by the probability
// that the prior gives it. Mean and standard deviation of each group are Huber's
// M-estimates, in standard deviations of the prior's norm, and then shrunk towards
// the prior by empirical Bayes. A difference of a mean that all groups share is expected
// to have a standard deviation of 0.5, as if 4 people had been seen to have the
// prior's mean, and one of a group's own 0.25, as if 16 had; of the logarithm of a
// spread 0.3 and 0.15. These expectations count as 3 features, and the differences of
// the model's features that are found count besides: where they are small, all are
// shrunk more. A group of fewer than 5 people gets what the others share. Differences
// of correlations are expected to have a standard deviation of 0.14, that of 50 people,
// in the same way: where they are small, all are shrunk more.
//
// With a BaseRate p the prior expects the means of these people not at its own,
// which are of people of whom p₀ are ill, but (p − p₀)·d away, with d = R·w the
// difference between ill and well people that correlation and weights of the prior
// imply. The norms are those of the people recorded, ill ones included, which is what
// models.Bayes.WithBaseRate supposes. Thresholds and cuts move so that base rate and
// shares of the classes under the norms stay those of the prior. The variance of the
// threshold is raised to that of a deployment whose share is unknown; where it is
// known, WithBaseRate replaces both.
//
// The new norms are compared with the prior's on held-out people, a fifth of them at
// a time, by the density of all features together, which is that of Student's t so
// that outliers do not decide. They are Better if the gain is more than one standard
// error; and, where former was adapted too, if on people recorded since it is not
// worse by more than one standard error, provided that there are LeastPeople of
// them. The former norms have seen all others.
//
// The error matches ErrFewPeople for fewer than LeastPeople people, ErrVoice for an
// invalid recording, or is that of ctx.
func Adapt(ctx context.Context, prior *models.BayesFile, former *models.Bayes, voices []Voice, opts *AdaptOptions) (*Adapted, error) {
	var o AdaptOptions
	if opts != nil {
		o = *opts
	}
	if o.BaseRate != 0 && !(o.BaseRate > 0 && o.BaseRate < 1) {
		return nil, fmt.Errorf("learn: base rate %v, want above 0 and below 1", o.BaseRate)
	}
	for i := range voices {
		if r := voices[i].Recording; r == nil || r.Features.Schema != features.VoiceSchema() {
			return nil, fmt.Errorf("%w: recording %d has no features of schema %s", ErrVoice, i, features.VoiceSchema().Name())
		}
	}
	base, err := models.NewBayes(prior)
	if err != nil {
		return nil, err
	}
	a := newAdapter(base, voices, o.BaseRate)
	if a.people < LeastPeople {
		return nil, fmt.Errorf("%w: recordings of %d people, want %d", ErrFewPeople, a.people, LeastPeople)
	}
	out := &Adapted{}
	if err := a.compare(ctx, out, former, o.Seed); err != nil {
		return nil, err
	}
	var moved float64
	if out.File, moved, out.Correlated, err = a.estimate(stats.Indices(len(voices))); err != nil {
		return nil, err
	}
	out.Moved = moved
	a.describe(out.File, &o)
	return out, out.File.Check()
}

// adapter is one call of Adapt.
type adapter struct {
	prior    *models.BayesFile
	voices   []Voice
	rows     []row
	group    []string // the person of each voice
	people   int
	baseRate float64   // 0 if not stated
	expected []float64 // shift of the mean of each feature before any recording, in standard deviations
}

// row is what norms are estimated from: the features of one recording.
type row struct {
	value, noise []float64 // as valueOf and noiseOf
	sex          []float64 // logarithms of the Sex features
	share        [numGroups]float64
	weight       float64 // 1 over the number of recordings of the person
}

func newAdapter(base *models.Bayes, voices []Voice, baseRate float64) *adapter {
	f := base.File()
	a := &adapter{prior: f, voices: voices, baseRate: baseRate, expected: make([]float64, len(f.Features))}
	who := persons(len(voices), func(i int) (person, *features.Recording) {
		return person{voices[i].Account, voices[i].User}, voices[i].Recording
	})
	n := map[person]float64{}
	for _, p := range who {
		n[p]++
	}
	a.people = len(n)
	for i := range voices {
		v := &voices[i]
		r := base.Row(v.Recording)
		x := row{share: groupsOf(&r), weight: 1 / n[who[i]]}
		for k := range f.Features {
			x.value = append(x.value, valueOf(&f.Features[k], v.Recording))
			x.noise = append(x.noise, noiseOf(f, &f.Features[k], v.Recording))
		}
		for k := range f.Sex {
			x.sex = append(x.sex, math.Log(v.Recording.Features.Get(f.Sex[k].Name)))
		}
		a.rows = append(a.rows, x)
		a.group = append(a.group, who[i].String())
	}
	if baseRate != 0 {
		more := baseRate - shareOf(base)
		for i := range a.expected {
			for j := range f.Features {
				a.expected[i] += more * f.Correlation[i][j] * f.Features[j].Weight
			}
		}
	}
	return a
}

// shareOf returns the share of people with a score of 10 or more that a model expects
// in the population of its norms.
func shareOf(b *models.Bayes) float64 {
	var share float64
	models.OverNormal(b.Spread(), func(eta, w float64) {
		share += w / (1 + math.Exp(b.File().Thresholds[models.DecisionBand]-eta))
	})
	return share
}

// describe fills in what the file says about itself.
func (a *adapter) describe(f *models.BayesFile, o *AdaptOptions) {
	c := &models.Adapted{Sessions: len(a.voices), People: a.people, BaseRate: a.baseRate}
	accounts := map[string]bool{}
	for i := range a.voices {
		v := &a.voices[i]
		accounts[v.Account] = true
		if v.Time.IsZero() {
			continue
		}
		day := v.Time.UTC().Format(time.DateOnly)
		if c.From == "" || day < c.From {
			c.From = day
		}
		c.To = max(c.To, day)
	}
	c.Accounts = len(accounts)
	f.Adapted = c
	f.Version = cmp.Or(o.Version, fmt.Sprintf("%s+norms%d", a.prior.Version, a.people))
	f.Description = fmt.Sprintf("%s Norms adapted to recordings without labels of %d people.", a.prior.Description, a.people)
	f.TrainedOn = append(slices.Clone(a.prior.TrainedOn), models.Data{Data: "norms: recordings without labels", Rows: len(a.voices), Licence: "the operator's own"})
}
