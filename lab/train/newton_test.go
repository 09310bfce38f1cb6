package train

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/models/learn"
)

func TestFastLogisticAgreesWithLogistic(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows, columns, tolerance = 300, 25, 1e-4 // of the linear predictor
	var x [][]float64
	var y []bool
	var w []float64
	for range rows {
		z := make([]float64, columns)
		var s float64
		for k := range z {
			z[k] = rng.NormFloat64() + 0.5*s
			s += 0.3 * z[k]
		}
		x, y, w = append(x, z), append(y, s+rng.NormFloat64() > 0.5), append(w, 0.2+rng.Float64())
	}
	for _, lambda := range []float64{1, 50} {
		want, err := learn.Logistic(x, y, w, lambda)
		if err != nil {
			t.Fatal(err)
		}
		got := fastLogistic(x, y, w, lambda)
		for i := range x {
			if d := math.Abs(got.Predict(x[i]) - want.Predict(x[i])); !(d <= tolerance) {
				t.Fatalf("penalty %v, row %d: differs by %v, want at most %v", lambda, i, d, tolerance)
			}
		}
	}
}
