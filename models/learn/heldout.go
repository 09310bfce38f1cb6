package learn

import (
	"encoding/json"
	"math"

	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
)

// HeldOut is how well a model does on people it has not seen.
type HeldOut struct {
	// LogScore is the mean logarithm of the probability that the model gave
	// to the labels, each weighted as it was in learning (Good 1952); higher
	// is better.
	LogScore float64
	// AUC is for scores of 10 or more, over the pairs of people who were held out
	// together; NaN without labels on both sides. Each fold has a model of its own, and
	// one that saw fewer people with high scores gives all of its fold lower ones:
	// people of different folds would rank by that (G. Forman and M. Scholz, ACM SIGKDD
	// Explorations 12, 2010).
	AUC      Figure
	ECE      float64 // expected calibration error over ten bins, of labels that leave no doubt
	Brier    float64
	Sessions int // of which the labels leave no doubt
}

// MarshalJSON has null for a figure that is NaN.
func (h HeldOut) MarshalJSON() ([]byte, error) {
	type figures struct {
		LogScore stats.Number `json:"log_score"`
		AUC      Figure       `json:"auc"`
		ECE      stats.Number `json:"ece"`
		Brier    stats.Number `json:"brier"`
		Sessions int          `json:"sessions"`
	}
	return json.Marshal(figures{stats.Number(h.LogScore), h.AUC, stats.Number(h.ECE), stats.Number(h.Brier), h.Sessions})
}

// Figure is a figure with its 95 % interval over people.
type Figure struct{ Value, Low, High float64 }

// MarshalJSON has null for what is NaN.
func (f Figure) MarshalJSON() ([]byte, error) {
	type figure struct {
		High  stats.Number `json:"high"`
		Low   stats.Number `json:"low"`
		Value stats.Number `json:"value"`
	}
	return json.Marshal(figure{stats.Number(f.High), stats.Number(f.Low), stats.Number(f.Value)})
}

const (
	eceBins         = 10  // usual; see stats.ECE
	heldOutResample = 200 // bootstraps of people: enough for an interval to two digits
)

// figures are those of predictions of some examples.
func (l *learner) figures(predictions []prediction, index []int, seed uint64) HeldOut {
	var out HeldOut
	var total float64
	var probability []float64
	var positive []bool
	var people []string
	var fold []int
	for _, i := range index {
		out.LogScore += l.weights[i] * l.logScore(predictions, i)
		total += l.weights[i]
		side, known := l.examples[i].Label.binary()
		if known {
			probability, positive = append(probability, predictions[i].probability()), append(positive, side)
			people, fold = append(people, l.person[i].String()), append(fold, l.fold[i])
		}
	}
	out.LogScore /= total
	out.Sessions = len(probability)
	out.AUC.Value = stats.WithinAUC(probability, positive, fold)
	out.AUC.Low, out.AUC.High = math.NaN(), math.NaN()
	if !math.IsNaN(out.AUC.Value) {
		i := stats.BootstrapClusters(positive, people, 0.95, heldOutResample, seed, stats.WithinAUCOf(probability, positive, fold))
		out.AUC.Low, out.AUC.High = min(i.Low, out.AUC.Value), max(i.High, out.AUC.Value)
	}
	out.ECE, out.Brier = stats.ECE(probability, positive, eceBins), stats.Brier(probability, positive)
	return out
}

// logScore is the logarithm of the probability of label i.
func (l *learner) logScore(predictions []prediction, i int) float64 {
	p := &predictions[i]
	return math.Log(max(likelihood(&l.examples[i].Label, p.eta, p.theta), math.SmallestNonzeroFloat64))
}

// gain is by how much the log score of a is higher than that of b, summed over
// people, with its standard error.
func (l *learner) gain(a, b []prediction) (sum, se float64) {
	at := map[person]int{}
	var people []float64 // in the order of their first example: sums are to be the same each time
	for i := range l.examples {
		who := l.person[i]
		if _, seen := at[who]; !seen {
			at[who] = len(people)
			people = append(people, 0)
		}
		people[at[who]] += l.weights[i] * (l.logScore(a, i) - l.logScore(b, i))
	}
	var square float64
	for _, v := range people {
		sum, square = sum+v, square+v*v
	}
	n := float64(len(people))
	return sum, math.Sqrt(max(square-sum*sum/n, 0) * n / (n - 1))
}

// metrics are the figures for a model file, on sessions of data.
func (h *HeldOut) metrics(data string) []models.Metric {
	out := []models.Metric{}
	if math.IsNaN(h.AUC.Low) || math.IsNaN(h.AUC.High) {
		return out
	}
	return append(out, models.Metric{
		Name: "auc", Value: stats.Significant(h.AUC.Value, 5), Low: min(stats.Significant(h.AUC.Low, 5), stats.Significant(h.AUC.Value, 5)), High: max(stats.Significant(h.AUC.High, 5), stats.Significant(h.AUC.Value, 5)),
		Interval: "95 %, bootstrap over users", Data: data, Split: "cross-validated by user, within folds, before the last calibration", N: h.Sessions,
	})
}
