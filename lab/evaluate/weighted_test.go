package evaluate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/internal/stats"
)

// A row of weight n counts as n rows of weight 1, which the plain figures measure.
func TestWeightedFiguresCountARowSeveralTimes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var scores, weight, plain []float64
	var y, many []bool
	for range 60 {
		positive, n := rng.IntN(2) == 1, 1+rng.IntN(3)
		s := math.Round(10*(rng.Float64()+0.2*float64(stats.Indicator(positive)))) / 12
		scores, weight, y = append(scores, s), append(weight, float64(n)), append(y, positive)
		for range n {
			plain, many = append(plain, s), append(many, positive)
		}
	}
	const tolerance = 1e-12 // rounding
	if got, want := WeightedAUC(scores, y, weight), stats.AUC(plain, many); math.Abs(got-want) > tolerance {
		t.Errorf("AUC: got %v, want %v", got, want)
	}
	rate, _ := EER(plain, many)
	if got := WeightedEER(scores, y, weight); math.Abs(got-rate) > tolerance {
		t.Errorf("EER: got %v, want %v", got, rate)
	}
	if got, want := WeightedECE(scores, y, weight, 10), stats.ECE(plain, many, 10); math.Abs(got-want) > tolerance {
		t.Errorf("ECE: got %v, want %v", got, want)
	}
}

func TestWeightedFiguresOfOneClass(t *testing.T) {
	s, y, w := []float64{0.1, 0.2}, []bool{true, true}, []float64{1, 1}
	if got := WeightedAUC(s, y, w); !math.IsNaN(got) {
		t.Errorf("AUC: got %v, want NaN", got)
	}
	if got := WeightedEER(s, y, w); !math.IsNaN(got) {
		t.Errorf("EER: got %v, want NaN", got)
	}
	s[0], y[0] = math.NaN(), false
	if got := WeightedAUC(s, y, w); !math.IsNaN(got) {
		t.Errorf("AUC of NaN: got %v, want NaN", got)
	}
}
