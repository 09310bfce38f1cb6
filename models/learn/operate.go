package learn

import (
	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
)

const (
	// Undecided is the share of people in the indeterminate band of the shipped
	// models, as large as that of the best published screening of the kind
	// (about 20 %).
	Undecided = 0.2

	// Specificity is that of the shipped depression and anxiety models, about
	// that of the best published screening of the kind (0.735 at a sensitivity of
	// 0.713 in 10,442 people; Mazur et al. 2025). What a weak model lacks is then
	// missing in the sensitivity, and does not become false alarms.
	Specificity = 0.74
)

// Disclaimer ends the description of every model.
const Disclaimer = " A screening signal, not a diagnosis."

// OperatingPoint says how a model decides.
type OperatingPoint struct {
	// Specificity is the share of the people below the threshold who are to be
	// reported below it, if the score does what the model says and the band is
	// left aside.
	Specificity float64

	// Undecided is the share of people that the indeterminate band is to hold.
	Undecided float64
}

// Set sets from which probability on each class of f is reported, and the
// indeterminate band, for people with the ascending linear predictors eta of
// weights w.
//
// The cut of the decision is where the wanted specificity is reached. On
// either side of it the other cuts share the people out as the thresholds do:
// of those who are reported at 10 or more, as many are in the upper class as
// among those who are. The band is round the decision's cut and holds the
// wanted share of the people, half on either side.
func (o OperatingPoint) Set(f *models.BayesFile, eta, w []float64) {
	const d = models.DecisionBand
	var total, shares [3]float64
	below := make([]float64, len(eta)) // weight of people below a score of 10
	for i, e := range eta {
		for k, theta := range f.Thresholds {
			shares[k] += w[i] * dsp.Logistic(e-theta)
			total[k] += w[i]
		}
		below[i] = w[i] * (1 - dsp.Logistic(e-f.Thresholds[d]))
	}
	for k := range shares {
		shares[k] /= total[k]
	}
	cut := weightedQuantile(eta, below, o.Specificity)
	under := rank(eta, w, cut) // share of the people below the cut
	f.Cuts = nil
	classes := len(f.Category.Severities())
	for k := len(models.BandScores) - classes + 1; k < len(models.BandScores); k++ {
		lower := under
		switch {
		case k < d:
			lower = under * (1 - shares[k]) / (1 - shares[d])
		case k > d:
			lower = 1 - (1-under)*shares[k]/shares[d]
		}
		at := weightedQuantile(eta, w, lower)
		f.Cuts = append(f.Cuts, models.Cut{Score: models.BandScores[k], Probability: stats.Significant(dsp.Logistic(at-f.Thresholds[k]), 5)})
	}
	at := func(share float64) float64 {
		return stats.Significant(dsp.Logistic(weightedQuantile(eta, w, min(max(share, 0), 1))-f.Thresholds[d]), 5)
	}
	f.Indeterminate = models.Band{Low: at(under - o.Undecided/2), High: at(under + o.Undecided/2)}
}

// weightedQuantile is the q-quantile of ascending x with weights w: each value stands at
// the middle of its own weight, with linear interpolation between.
func weightedQuantile(x, w []float64, q float64) float64 {
	var total, sum, last float64
	for _, v := range w {
		total += v
	}
	for i, v := range x {
		at := (sum + w[i]/2) / total
		if at >= q {
			if i == 0 || at == last {
				return v
			}
			return v - (at-q)/(at-last)*(v-x[i-1])
		}
		sum, last = sum+w[i], at
	}
	return x[len(x)-1]
}

// rank is the inverse of weightedQuantile.
func rank(x, w []float64, v float64) float64 {
	var total, sum, last float64
	for _, v := range w {
		total += v
	}
	for i, at := range x {
		here := (sum + w[i]/2) / total
		if at >= v {
			if i == 0 || at == x[i-1] {
				return here
			}
			return here - (at-v)/(at-x[i-1])*(here-last)
		}
		sum, last = sum+w[i], here
	}
	return 1
}
