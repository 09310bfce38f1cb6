package learn

import (
	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
)

// prediction is the linear predictor of an example, and the thresholds it is
// to be held against.
type prediction struct {
	eta   float64
	theta [3]float64
}

func (p *prediction) probability() float64 { return dsp.Logistic(p.eta - p.theta[models.DecisionBand]) }

func predictionOf(b *models.Bayes, in *features.Recording) prediction {
	f := b.File()
	p := prediction{theta: [3]float64(f.Thresholds)}
	for i, z := range b.Row(in).Z {
		p.eta += f.Features[i].Weight * z
	}
	return p
}

// Probability is how probable a model holds a score of 10 or more, with no
// allowance for features that were not measured: the logistic function of the
// linear predictor less the threshold of the decision.
func Probability(b *models.Bayes, in *features.Recording) float64 {
	p := predictionOf(b, in)
	return p.probability()
}
