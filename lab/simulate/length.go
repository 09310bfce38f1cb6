package simulate

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/voicescreen/voicescreen/models"
)

// lengths are the durations of speech in seconds of Result.Lengths.
var lengths = []float64{15, 30, 60, 90, 120, 240}

// length measures the prior on recordings of one duration, of a number of people in
// populations that it holds possible: the same for all durations.
func length(ctx context.Context, base *models.Bayes, seconds float64, populations, people int, seed uint64) (Length, error) {
	row := Length{Speech: seconds, Populations: populations}
	share := 1 / float64(populations)
	var square, sum, squares, n float64
	for rep := range populations {
		if err := ctx.Err(); err != nil {
			return row, err
		}
		p := newPopulation(base.File(), rand.New(rand.NewPCG(seed, uint64(2_000_000_011+rep))))
		p.speech = seconds
		var truth, probability []float64
		var inside float64
		for _, who := range p.people(people) {
			s := base.ScoreRow(base.Row(who.Recording), who.Recording.Features)
			truth, probability = append(truth, who.truth), append(probability, s.Probability)
			if s.Low <= who.truth && who.truth <= s.High {
				inside += 1 / float64(people)
			}
			row.Width += share / float64(people) * (logit(s.High) - logit(s.Low))
			l := logit(s.Probability)
			sum, squares, n = sum+l, squares+l*l, n+1
		}
		row.AUC += share * expectedAUC(probability, truth)
		row.Covered += share * inside
		square += share * inside * inside
	}
	row.SE = math.Sqrt(max(square-row.Covered*row.Covered, 0) * share)
	row.Spread = math.Sqrt(squares/n - sum*sum/n/n)
	return row, nil
}

// lengthPeople is how many people of a population are looked at, at most. Chosen: enough
// for an AUC.
const lengthPeople = 200

func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }
