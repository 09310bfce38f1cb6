package learn

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
)

// Posterior is the model of base with the posterior of all its parameters given
// labelled recordings, whatever they are worth: base itself given none. Its cuts
// are those of the shipped models over the population of the norms. [Learn] is
// for use, this for the study of what labels give. The error matches ErrLabel or
// ErrFit.
func Posterior(base *models.Bayes, examples []Example) (*models.Bayes, error) {
	if len(examples) == 0 {
		return base, nil
	}
	if err := checkExamples(examples); err != nil {
		return nil, err
	}
	d := &labelled{w: personWeights(personsOf(examples))}
	for i := range examples {
		d.x, d.y = append(d.x, base.Row(examples[i].Recording).Z), append(d.y, examples[i].Label)
	}
	g, err := fitAll(base.File(), d)
	if err != nil {
		return nil, err
	}
	f := g.into(base.File())
	var eta, w []float64
	models.OverNormal(1, func(x, share float64) { eta, w = append(eta, x), append(w, share) })
	OperatingPoint{Specificity, Undecided}.Set(f, eta, w)
	return models.NewBayes(f)
}

// fitAll is the posterior of all parameters.
func fitAll(prior *models.BayesFile, d *labelled) (*gaussian, error) {
	return posterior(gaussianOf(prior), d)
}

// fitSlope is the posterior of the thresholds and of a common factor of all
// weights. A factor below leastSlope is set to leastSlope, and the thresholds are
// fitted for it. The covariance stays that of the posterior, which shows how
// uncertain the factor is.
func fitSlope(prior *models.BayesFile, d *labelled) (*gaussian, error) {
	g := gaussianOf(prior)
	p := len(prior.Features)
	one := &gaussian{mean: append([]float64{1}, g.mean[p:]...), covariance: mat.NewSymDense(4, nil)}
	one.covariance.SetSym(0, 0, slopeSD*slopeSD)
	for i := range 3 {
		for j := range i + 1 {
			one.covariance.SetSym(1+i, 1+j, g.covariance.At(p+i, p+j))
		}
	}
	eta := &labelled{y: d.y, w: d.w}
	for _, x := range d.x {
		eta.x = append(eta.x, []float64{dsp.Dot(g.mean[:p], x)})
	}
	q, err := posterior(one, eta)
	if err != nil {
		return nil, err
	}
	if q.mean[0] < leastSlope {
		const sure = 1e-10 // a variance so small that labels do not move the factor
		one.mean[0] = leastSlope
		one.covariance.SetSym(0, 0, sure)
		held, err := posterior(one, eta)
		if err != nil {
			return nil, err
		}
		q.mean = held.mean
	}
	// The weights are factor·w: of the factor's variance comes w·wᵀ times it,
	// and what was not known of the weights among each other stays.
	factor := max(q.mean[0], leastSlope)
	n := p + 3
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			var v float64
			switch {
			case i < p:
				v = factor*factor*g.covariance.At(i, j) + q.covariance.At(0, 0)*g.mean[i]*g.mean[j]
			case j < p:
				v = q.covariance.At(0, 1+i-p) * g.mean[j]
			default:
				v = q.covariance.At(1+i-p, 1+j-p)
			}
			cov.SetSym(i, j, v)
		}
	}
	for i := range p {
		g.mean[i] *= factor
	}
	copy(g.mean[p:], q.mean[1:])
	return &gaussian{g.mean, cov}, nil
}

// platt calibrates the held-out predictions of the relearned model; nil if
// there are too few labels, if these do not say that a calibration is needed,
// or if they would turn the order round.
func (l *learner) platt() (*models.Calibration, error) {
	var v, w []float64
	var y []bool
	var side [2]int
	for i := range l.examples {
		positive, known := l.examples[i].Label.binary()
		if !known {
			continue
		}
		p := l.relearned[i]
		v, y, w = append(v, p.eta-p.theta[models.DecisionBand]), append(y, positive), append(w, l.weights[i])
		side[stats.Indicator(positive)]++
	}
	if min(side[0], side[1]) < plattSide {
		return nil, nil
	}
	a, b, err := Platt(v, y, w)
	if err != nil {
		return nil, err
	}
	var gain float64
	for i, x := range v {
		gain += w[i] * (logLikelihood(a*x+b, y[i]) - logLikelihood(x, y[i]))
	}
	if a < leastSlope || gain < plattGain {
		return nil, nil
	}
	return &models.Calibration{A: a, B: b}, nil
}

// logLikelihood is that of an outcome whose probability is dsp.Logistic(eta).
func logLikelihood(eta float64, positive bool) float64 {
	if positive {
		eta = -eta
	}
	return -softplus(eta)
}

// rescale makes a·(η − θ) + b of η − θ: weights, distances of thresholds and
// their standard deviations grow by a.
func rescale(g *gaussian, c *models.Calibration) {
	if c == nil {
		return
	}
	n := len(g.mean)
	p := n - 3
	for i := range p {
		g.mean[i] *= c.A
	}
	g.mean[p] = c.A*g.mean[p] - c.B
	g.mean[p+1] += math.Log(c.A)
	g.mean[p+2] += math.Log(c.A)
	by := func(i int) float64 {
		if i > p {
			return 1 // the logarithm of a distance
		}
		return c.A
	}
	for i := range n {
		for j := range i + 1 {
			g.covariance.SetSym(i, j, by(i)*by(j)*g.covariance.At(i, j))
		}
	}
}
