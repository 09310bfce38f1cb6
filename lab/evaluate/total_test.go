package evaluate_test

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/lab/evaluate"
)

func TestTotals(t *testing.T) {
	// Differences 1, −1, 2; means 4 and 14/3; sums of squares 8 and 50/3, of
	// products 10: CCC is 2·10/(8 + 50/3 + 3·4/9).
	got := evaluate.NewTotals([]float64{2, 4, 6}, []float64{3, 3, 8})
	want := evaluate.Totals{N: 3, RMSE: math.Sqrt(2), MAE: 4.0 / 3, CCC: 20 / (8 + 50.0/3 + 4.0/3)}
	if got.N != want.N || !near(got.RMSE, want.RMSE) || !near(got.MAE, want.MAE) || !near(got.CCC, want.CCC) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if same := evaluate.NewTotals([]float64{1, 5}, []float64{1, 5}); same.RMSE != 0 || !near(same.CCC, 1) {
		t.Errorf("got %+v for the truth itself", same)
	}
	if apart := evaluate.NewTotals([]float64{4, 4}, []float64{5, 5}); apart.CCC != 0 {
		t.Errorf("got %+v for two constants, want a CCC of 0", apart)
	}
	if one := evaluate.NewTotals([]float64{4, 4}, []float64{4, 4}); !math.IsNaN(one.CCC) {
		t.Errorf("got %+v for one constant, want NaN", one)
	}
	if none := evaluate.NewTotals(nil, nil); !math.IsNaN(none.RMSE) || !math.IsNaN(none.CCC) {
		t.Errorf("got %+v for nothing, want NaN", none)
	}
}
