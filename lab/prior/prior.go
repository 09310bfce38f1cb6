package prior

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/screen"
)

// An Effect is the prior belief about one feature of schema voice/1, before any
// labelled recording: the difference of its mean between people at
// or above a score of 10 and people below it, in standard deviations within
// sex.
type Effect struct {
	Feature string
	Row     string  // of the table of evidence that it comes from
	D       float64 // prior mean
	SD      float64 // prior standard deviation
	Basis   string  // which studies, in short

	Stability float64 // as models.BayesFeature has it
	FixedGain bool    // as models.BayesFeature has it
}

// Unused is a row of the table of evidence that no feature of the model
// stands for.
type Unused struct {
	Row   string
	D, SD float64
	Basis string
	Why   string
}

// A Prior is what a model without any labelled recording is made from.
type Prior struct {
	Category screen.Category
	Name     string
	Version  string
	Text     string // the description of the model file
	Effects  []Effect
	Samples  []Sample // that bring the effects up to date; see Current
	Against  []Sample // that the effects are only compared with
	Unused   []Unused

	// AUC is what the score as a whole is thought to reach for scores of 10
	// or more, 0.5 to 1 exclusive.
	AUC float64

	// AtLeast holds the share of people at or above each of
	// models.BandScores, descending.
	AtLeast [3]float64

	learn.OperatingPoint // how the model decides

	// ShareSD and GapSD are the standard deviations between the places where
	// the model may be used: of the logit of the share of people at 10 or
	// more, and of the logarithm of the distance between two thresholds.
	ShareSD, GapSD float64

	Sources []models.Data
}

// clip is how many standard deviations of a feature count at most. Chosen: a
// value further out than any of 1,000 people is rather an error of the
// measurement than more of the same sign.
const clip = 3

// speechWeights is what is assumed about recordings that do not give their way of
// speaking. Chosen: free speech is what the models are for, and a text read aloud is what
// is easiest to ask for; pictures are described in studies.
var speechWeights = models.SpeechWeights{Free: 0.4, Picture: 0.2, Reading: 0.4}

// baseline is how far a person's earlier recordings replace the norms.
// Chosen: what share of people who are in a spell now were not in one when the earlier
// recording was made is unknown; half.
const baseline = 0.5

// File makes the model file of the prior. norms must have every feature.
//
// With d the effects, brought up to date, and R the correlations of the standardised
// features within sex and way of speaking, the weights of the best linear discriminant
// are R⁻¹d, by which correlated features share their effect (Fisher 1936). R comes
// from a few hundred recordings and d from judgement, and a difference of two near
// equal features can turn the sign of one of them against its own evidence; R is
// therefore drawn further towards no correlation, in steps of 5 %, until no
// sign does. Features with d = 0 get no weight. The weights are then scaled so
// that recordings of norms.SampledAt seconds of speech have the AUC of the prior in
// the population of the norms, and the standard deviations of the effects, which are
// taken to be independent, with them.
//
// The thresholds are the θk for which the mean of P(score ≥ k) in that
// population is AtLeast. See [learn.OperatingPoint] for the cuts and the band, which
// are for recordings of that duration too.
func (p *Prior) File(norms *Norms) (*models.BayesFile, error) {
	f := &models.BayesFile{
		Format: models.BayesFormat, Name: p.Name, Version: p.Version, Category: p.Category,
		Schema: features.VoiceSchema().Name(), Description: p.Text, Clip: clip, Sex: norms.Sex, Baseline: baseline,
		Speech: speechWeights, SampledAt: norms.SampledAt,
		TrainedOn: append(p.Sources[:len(p.Sources):len(p.Sources)], norms.Origin), Metrics: []models.Metric{}, Licence: "MIT",
	}
	for _, e := range p.Effects {
		x, err := termOf(e.Feature)
		if err != nil {
			return nil, err
		}
		at := norms.index(e.Feature)
		if at < 0 {
			return nil, fmt.Errorf("prior: no norm for feature %q", e.Feature)
		}
		x.Norms, x.Sampling, x.Noise = norms.Features[at].Norms, norms.Features[at].Sampling, norms.Features[at].Noise
		x.Stability, x.FixedGain = e.Stability, e.FixedGain
		f.Features = append(f.Features, x)
		if timed(e.Feature) {
			f.Speech.By = append(f.Speech.By, e.Feature)
		}
		row := make([]float64, len(p.Effects))
		for j, b := range p.Effects {
			row[j] = norms.correlation(e.Feature, b.Feature)
		}
		f.Correlation = append(f.Correlation, row)
	}
	weights, err := p.share(norms)
	if err != nil {
		return nil, err
	}
	seen, unseen := variances(f, weights)
	sd := spreadFor(p.AUC, p.AtLeast[models.DecisionBand])
	// The reported logit is that of the seen part over √(1 + π/8·unseen); see
	// models.Bayes. It is to have the standard deviation sd.
	scale := sd / math.Sqrt(seen-math.Pi/8*unseen*sd*sd)
	for i := range f.Features {
		f.Features[i].Weight = stats.Decimals(weights[i]*scale, 4)
	}
	for _, share := range p.AtLeast {
		f.Thresholds = append(f.Thresholds, stats.Decimals(models.NormalThreshold(scale*math.Sqrt(seen+unseen), share), 4))
	}
	f.Covariance = p.covariance(scale)
	p.operate(f, sd, 1/math.Sqrt(1+math.Pi/8*unseen*scale*scale))
	return f, f.Check()
}

// variances returns the variance of the linear predictor of weights over recordings of
// f.SampledAt seconds of speech: the part that their features show, and the rest. With
// R the correlations and V the sampling errors they are w'R(R + V)⁻¹Rw and the
// difference from w'Rw.
func variances(f *models.BayesFile, weights []float64) (seen, unseen float64) {
	n := len(weights)
	r, observed := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i, row := range f.Correlation {
		for j, v := range row {
			r.SetSym(i, j, v)
			observed.SetSym(i, j, v)
		}
		observed.SetSym(i, i, 1+f.Features[i].Sampling.Variance)
	}
	w := mat.NewVecDense(n, weights)
	var rw, solved mat.VecDense
	rw.MulVec(r, w)
	var chol mat.Cholesky
	if !chol.Factorize(observed) || chol.SolveVecTo(&solved, &rw) != nil {
		return math.NaN(), math.NaN() // Check refuses the file
	}
	seen = mat.Dot(&rw, &solved)
	return seen, max(mat.Inner(w, r, w)-seen, 0)
}

// operate sets cuts and band of f for reported logits of standard deviation sd, which
// are those of the linear predictor times draw.
func (p *Prior) operate(f *models.BayesFile, sd, draw float64) {
	reported := *f
	reported.Thresholds = nil
	for _, theta := range f.Thresholds {
		reported.Thresholds = append(reported.Thresholds, draw*theta)
	}
	var eta, w []float64
	models.OverNormal(sd, func(x, share float64) { eta, w = append(eta, x), append(w, share) })
	p.OperatingPoint.Set(&reported, eta, w)
	f.Cuts, f.Indeterminate = reported.Cuts, reported.Indeterminate
}

// covariance is that of the parameters of the prior.
func (p *Prior) covariance(scale float64) [][]float64 {
	effects := p.Current()
	n := len(p.Effects)
	c := make([][]float64, n+3)
	for i := range c {
		c[i] = make([]float64, n+3)
		if i < n {
			c[i][i] = stats.Significant(effects[i].SD*scale*effects[i].SD*scale, 5)
		}
	}
	c[n][n] = stats.Significant(p.ShareSD*p.ShareSD, 5)
	c[n+1][n+1], c[n+2][n+2] = stats.Significant(p.GapSD*p.GapSD, 5), stats.Significant(p.GapSD*p.GapSD, 5)
	return c
}

// share returns R⁻¹d, with as little more shrinkage of R as keeps all signs.
func (p *Prior) share(norms *Norms) ([]float64, error) {
	effects := p.Current()
	var have []int // the effects that are not 0
	for i, e := range effects {
		if e.D != 0 {
			have = append(have, i)
		}
	}
	weights := make([]float64, len(effects))
	for step := 0; step <= 20 && len(have) > 0; step++ {
		more := float64(step) / 20
		r := mat.NewSymDense(len(have), nil)
		d := mat.NewVecDense(len(have), nil)
		for i, a := range have {
			for j, b := range have[:i] {
				r.SetSym(i, j, (1-more)*norms.correlation(effects[a].Feature, effects[b].Feature))
			}
			r.SetSym(i, i, 1)
			d.SetVec(i, effects[a].D)
		}
		var chol mat.Cholesky
		var w mat.VecDense
		if !chol.Factorize(r) || chol.SolveVecTo(&w, d) != nil {
			continue
		}
		kept := true
		for i, a := range have {
			weights[a] = w.AtVec(i)
			kept = kept && weights[a]*effects[a].D > 0
		}
		if kept {
			return weights, nil
		}
	}
	return nil, fmt.Errorf("prior: %s has no effects", p.Name)
}

// spreadFor is the standard deviation of a linear predictor that is normal
// over all people and has the AUC for a class of the given share; by
// bisection.
func spreadFor(auc, share float64) float64 {
	lo, hi := 0.0, 10.0 // an AUC of 0.5, and one beyond 0.99
	for range 50 {
		mid := (lo + hi) / 2
		if impliedAUC(mid, models.NormalThreshold(mid, share)) < auc {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// impliedAUC is the AUC of η ~ N(0, sd²) for outcomes of probability
// 1/(1 + exp(θ − η)).
func impliedAUC(sd, theta float64) float64 {
	var negative, won, positives float64
	models.OverNormal(sd, func(eta, w float64) {
		p := dsp.Logistic(eta - theta)
		won += w * p * (negative + w*(1-p)/2)
		negative += w * (1 - p)
		positives += w * p
	})
	return won / positives / negative
}
