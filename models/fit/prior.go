package fit

import (
	"fmt"
	"math"

	"github.com/voicescreen/voicescreen/models"
)

// An Effect is what is thought, before any labelled recording was seen, about
// one feature of schema voice/1: the difference of its mean between people at
// or above the category's decision threshold and people below it, in standard
// deviations.
type Effect struct {
	Feature string
	D       float64 // prior mean
	SD      float64 // prior standard deviation
	Family  string  // effects of one family are one finding, measured in several ways
}

// A Prior is what a model without any labelled recording is made from.
type Prior struct {
	Category models.Category
	Name     string
	Version  string
	Text     string // the description of the model file
	Effects  []Effect

	// AUC is what the score as a whole is thought to reach, 0.5 to 1
	// exclusive.
	AUC float64

	// AtLeast holds the share of people in class k + 1 or above, descending.
	AtLeast []float64

	// Decision is the index into AtLeast, from 1, of what Probability is
	// about.
	Decision int

	// Specificity is the share of the people below the threshold who are to be
	// reported negative, if the score does what AUC says and the band is left
	// aside.
	Specificity float64

	// Undecided is the share of people that the indeterminate band is to
	// hold.
	Undecided float64

	// LogitSD is the standard deviation, in logits, of the share of people
	// between the places where the model may be used.
	LogitSD float64

	Sources []models.Data
}

// clip is how many standard deviations of a feature count at most. Chosen: a
// value further out than any of 1,000 people is rather an error of the
// measurement than more of the same sign.
const clip = 3

// File makes the model file of the prior. norms must have every feature.
//
// With z the standardised features, R their correlations and u the effects,
// each divided by √k where its family has k members, the weights are
//
//	w = u·s/√(uᵀRu),  s = √2·Φ⁻¹(AUC),
//
// so that the linear predictor has standard deviation s in the population of
// the norms; tilting N(0, s²) by the logistic link moves the mean of the rare
// class by s², that is by s standard deviations, and Φ(s/√2) is its AUC. The
// correlations enter through the scale alone and not through R⁻¹u, which
// would turn the sign of some findings round. Standard deviations of the
// weights are those of the effects on the same scale.
//
// The thresholds are the θk for which the mean of P(class > k) over
// N(0, s²) is AtLeast. See cuts for the cuts and the band.
func (p *Prior) File(norms *Norms) (*models.File, error) {
	features, err := p.weigh(norms)
	if err != nil {
		return nil, err
	}
	s := p.sd()
	theta := make([]float64, len(p.AtLeast))
	for k, share := range p.AtLeast {
		theta[k] = threshold(s, share)
	}
	cuts, band := p.cuts(theta)
	f := &models.File{
		Format: models.FileFormat, Name: p.Name, Version: p.Version, Category: p.Category,
		Schema: models.VoiceSchema().Name(), Description: p.Text, LogitSD: p.LogitSD, Clip: clip,
		Link:          models.Link{Kind: models.Ordinal, Thresholds: theta, Cuts: cuts, Decision: p.Decision},
		Indeterminate: band, TrainedOn: append(p.Sources, norms.Origin), Metrics: []models.Metric{},
		Licence: "MIT", Features: features,
	}
	return f, f.Check()
}

// sd is the standard deviation s of the linear predictor.
func (p *Prior) sd() float64 { return math.Sqrt2 * normalQuantile(p.AUC) }

// weigh turns the effects into features.
func (p *Prior) weigh(norms *Norms) ([]models.Feature, error) {
	schema := models.VoiceSchema()
	members := map[string]float64{}
	for _, e := range p.Effects {
		members[e.Family]++
	}
	features := make([]models.Feature, len(p.Effects))
	for i, e := range p.Effects {
		at, n := schema.Index(e.Feature), norms.index(e.Feature)
		if at < 0 || n < 0 {
			return nil, fmt.Errorf("fit: no norm for feature %q", e.Feature)
		}
		share := math.Sqrt(members[e.Family])
		_, unit := schema.Feature(at)
		features[i] = models.Feature{
			Name: e.Feature, Unit: unit, Center: norms.Features[n].Center, Scale: norms.Features[n].Scale,
			Weight: e.D / share, WeightSD: e.SD / share,
		}
	}
	var variance float64
	for _, a := range features {
		for _, b := range features {
			variance += a.Weight * b.Weight * norms.correlation(a.Name, b.Name)
		}
	}
	if !(variance > 0) {
		return nil, fmt.Errorf("fit: the effects of %s cancel out", p.Name)
	}
	scale := p.sd() / math.Sqrt(variance)
	for i := range features {
		features[i].Weight = round(features[i].Weight * scale)
		features[i].WeightSD = round(features[i].WeightSD * scale)
	}
	return features, nil
}

// round keeps four decimals: more would look like knowledge.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// cuts returns from which linear predictor on each class is reported, and the
// indeterminate band.
//
// The cut of the decision is where the wanted specificity is reached. On
// either side of it the other cuts share the people out as the base rates do:
// of those who are reported positive, as many are in the upper class as among
// those who are. The band is round the decision's cut and holds the wanted
// share of the people, half on either side.
func (p *Prior) cuts(theta []float64) ([]float64, models.Band) {
	s, d := p.sd(), p.Decision-1
	cut := p.cut(theta[d])
	cuts := make([]float64, len(theta))
	above := 1 - normalCDF(cut/s)
	for k, share := range p.AtLeast {
		upper := above * share / p.AtLeast[d] // of all people, for k ≥ d
		if k < d {
			upper = 1 - (1-above)*(1-share)/(1-p.AtLeast[d])
		}
		cuts[k] = round(s * normalQuantile(1-upper))
	}
	at := func(below float64) float64 { return round(logistic(s*normalQuantile(below) - theta[d])) }
	return cuts, models.Band{Low: at(1 - above - p.Undecided/2), High: at(1 - above + p.Undecided/2)}
}

// cut is the linear predictor below which the share Specificity of the people
// below the threshold theta lies, by linear interpolation of their cumulative
// distribution.
func (p *Prior) cut(theta float64) float64 {
	var total, sum, last float64
	overNormal(p.sd(), func(eta, w float64) { total += w * (1 - logistic(eta-theta)) })
	cut := math.NaN()
	overNormal(p.sd(), func(eta, w float64) {
		w *= (1 - logistic(eta-theta)) / total
		// The weight of a point lies half on either side of it.
		if math.IsNaN(cut) && sum+w/2 >= p.Specificity {
			cut = eta - (sum+w/2-p.Specificity)/w*(eta-last)
		}
		sum, last = sum+w, eta
	})
	return cut
}

// threshold is the θ for which the mean of 1/(1+exp(θ−η)) over η ~ N(0, s²)
// is share, by bisection.
func threshold(s, share float64) float64 {
	lo, hi := -20.0, 20.0 // beyond any share that is told from 0 or 1
	for range 60 {        // 40·2⁻⁶⁰ is below the rounding
		mid := (lo + hi) / 2
		var mean float64
		overNormal(s, func(eta, w float64) { mean += w * logistic(eta-mid) })
		if mean > share {
			lo = mid
		} else {
			hi = mid
		}
	}
	return round((lo + hi) / 2)
}

// overNormal calls f with points of N(0, s²) and their weights, which sum to
// 1: the trapezoidal rule over ±8 standard deviations, whose error is far
// below 1e-9 for smooth f.
func overNormal(s float64, f func(x, w float64)) {
	const step = 0.05
	for i := -160; i <= 160; i++ {
		z := float64(i) * step
		f(s*z, step*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi))
	}
}

func logistic(x float64) float64       { return 1 / (1 + math.Exp(-x)) }
func normalCDF(x float64) float64      { return math.Erfc(-x/math.Sqrt2) / 2 }
func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }
