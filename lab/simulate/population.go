package simulate

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/screen"
)

// population is simulated people whose true probabilities are known: voices with the norms'
// distribution of features, and bands of a questionnaire by proportional odds.
type population struct {
	file   *models.BayesFile // norms, correlations and features
	weight []float64         // of the standardised features, held within ±clip
	theta  [3]float64
	shift  []float64 // of the mean of each standardised feature; nil for none
	drift  *drift    // of what is measured against the norms; nil for none
	noise  bool      // whether labels are drawn from those of other people

	correlation [][]float64
	root        mat.TriDense // of the correlation
	rng         *rand.Rand
}

// newPopulation draws a population from what the prior of f holds possible.
func newPopulation(f *models.BayesFile, rng *rand.Rand) *population {
	p := &population{file: f, rng: rng}
	p.weight, p.theta = learn.Draw(f, rng)
	p.correlate(f.Correlation)
	return p
}

// correlate gives the standardised features a positive definite correlation.
func (p *population) correlate(correlation [][]float64) {
	n := len(correlation)
	r := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			r.SetSym(i, j, correlation[i][j])
		}
	}
	var chol mat.Cholesky
	chol.Factorize(r) // Check saw that it is positive definite
	chol.LTo(&p.root)
	p.correlation = correlation
}

// withShare moves the thresholds so that the share of people has a score of 10
// or more.
func (p *population) withShare(share float64) *population {
	var variance float64
	for i := range p.weight {
		for j := range p.weight {
			variance += p.weight[i] * p.correlation[i][j] * p.weight[j]
		}
	}
	move := models.NormalThreshold(math.Sqrt(variance), share) - p.theta[models.DecisionBand]
	for k := range p.theta {
		p.theta[k] += move
	}
	return p
}

// drifted shifts all features, and moves the base rate that the people would have
// without the shift.
func (p *population) drifted() {
	p.withShare(driftShare)
	p.shift = make([]float64, len(p.weight))
	for i := range p.shift {
		p.shift[i] = driftShift
	}
}

// person is one drawn person: an example, and what only the maker knows.
type person struct {
	learn.Example
	truth float64 // probability of a score of 10 or more, given the voice
}

// people draws n people. Of one in five the sex is not said.
func (p *population) people(n int) []person {
	out := make([]person, n)
	for i := range out {
		z, recording := p.voice()
		var eta float64
		for j, w := range p.weight {
			eta += w * min(max(z[j], -p.file.Clip), p.file.Clip)
		}
		out[i] = person{
			Example: learn.Example{User: fmt.Sprint("u", i), Recording: recording, Label: p.label(eta)},
			truth:   dsp.Logistic(eta - p.theta[models.DecisionBand]),
		}
	}
	if p.noise {
		p.rng.Shuffle(n, func(i, j int) { out[i].Label, out[j].Label = out[j].Label, out[i].Label })
	}
	return out
}

// endless is a duration of speech, in seconds, that leaves no sampling error.
const endless = 1e9

// voice draws standardised features and the recording that has them.
func (p *population) voice() ([]float64, *features.Recording) {
	n := len(p.weight)
	e, z := make([]float64, n), make([]float64, n)
	for j := range e {
		e[j] = p.rng.NormFloat64()
	}
	female := p.rng.IntN(2) == 0
	schema := features.VoiceSchema()
	v := features.Vector{Schema: schema, Values: make([]float64, schema.Len())}
	for j := range v.Values {
		v.Values[j] = math.NaN()
	}
	v.Values[schema.Index("speech.duration_s")] = endless
	for j := range p.file.Features {
		x := &p.file.Features[j]
		for k := range j + 1 {
			z[j] += p.root.At(j, k) * e[k]
		}
		if p.shift != nil {
			z[j] += p.shift[j]
		}
		norm := x.Norms.Free.Male
		if female {
			norm = x.Norms.Free.Female
		}
		x.Put(v, norm.Center+norm.Scale*p.drift.of(j, z[j]))
	}
	for _, x := range p.file.Sex {
		if i := schema.Index(x.Name); math.IsNaN(v.Values[i]) {
			norm := x.Male
			if female {
				norm = x.Female
			}
			v.Values[i] = math.Exp(norm.Center + norm.Scale*p.rng.NormFloat64())
		}
	}
	in := &features.Recording{Features: v, FixedGain: true, Speech: screen.FreeSpeech}
	if p.rng.IntN(5) > 0 {
		in.Metadata.Gender = screen.Male
		if female {
			in.Metadata.Gender = screen.Female
		}
	}
	return z, in
}

// label draws the band of a person and the label that shows it.
func (p *population) label(eta float64) learn.Label {
	u := p.rng.Float64()
	band := 0
	for k := range p.theta {
		if u < dsp.Logistic(eta-p.theta[k]) {
			band = k + 1
		}
	}
	l := learn.Label{Kind: learn.PHQ9}
	if p.file.Category == screen.Anxiety {
		l.Kind = learn.GAD7
	}
	l.Likelihood[band] = 1
	return l
}

func examplesOf(people []person) []learn.Example {
	out := make([]learn.Example, len(people))
	for i := range people {
		out[i] = people[i].Example
	}
	return out
}

// expectedAUC is the AUC of scores in people who are positive with the
// probabilities truth, expected over outcomes.
func expectedAUC(scores, truth []float64) float64 {
	order := stats.Indices(len(scores))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	var won, below, positives, tieP, tieN float64
	for k, i := range order {
		tieP, tieN = tieP+truth[i], tieN+1-truth[i]
		if k+1 < len(order) && scores[order[k+1]] == scores[i] {
			continue
		}
		won += tieP * (below + tieN/2)
		below, positives = below+tieN, positives+tieP
		tieP, tieN = 0, 0
	}
	return won / positives / below
}

// bins is how many bins the expected calibration error has, as in the figures of
// learn.
const bins = 10

// expectedECE is the expected calibration error of probabilities of people who
// are positive with the probabilities truth.
func expectedECE(probability, truth []float64) float64 {
	var off [bins]float64
	for i, p := range probability {
		off[min(int(p*bins), bins-1)] += p - truth[i]
	}
	var total float64
	for _, v := range off {
		total += math.Abs(v)
	}
	return total / float64(len(truth))
}
