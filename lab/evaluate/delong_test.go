package evaluate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/lab/evaluate"
)

// slowDeLong is the definition: ψ of every pair, the placement values, and the sample
// covariances of both scores' placement values, entry by entry.
func slowDeLong(a, b []float64, positive []bool) (areas [2]float64, variance float64) {
	var x, y [2][]float64
	for k, scores := range [][]float64{a, b} {
		for i, s := range scores {
			if positive[i] {
				x[k] = append(x[k], s)
			} else {
				y[k] = append(y[k], s)
			}
		}
	}
	m, n := len(x[0]), len(y[0])
	v10, v01 := [2][]float64{make([]float64, m), make([]float64, m)}, [2][]float64{make([]float64, n), make([]float64, n)}
	for k := range 2 {
		for i := range m {
			for j := range n {
				psi := 0.0
				switch {
				case x[k][i] > y[k][j]:
					psi = 1
				case x[k][i] == y[k][j]:
					psi = 0.5
				}
				v10[k][i] += psi / float64(n)
				v01[k][j] += psi / float64(m)
				areas[k] += psi / float64(m*n)
			}
		}
	}
	covariance := func(v [2][]float64, r, s int) (c float64) {
		for i := range v[r] {
			c += (v[r][i] - areas[r]) * (v[s][i] - areas[s])
		}
		return c / float64(len(v[r])-1)
	}
	for r := range 2 {
		for s := range 2 {
			sign := 1.0
			if r != s {
				sign = -1
			}
			variance += sign * (covariance(v10, r, s)/float64(m) + covariance(v01, r, s)/float64(n))
		}
	}
	return areas, variance
}

func TestDeLongIsItsDefinition(t *testing.T) {
	const tolerance = 1e-12 // of areas and variances, the rounding of some thousand additions
	rng := rand.New(rand.NewPCG(11, 12))
	for range 100 {
		n := 4 + rng.IntN(50)
		a, b, y := make([]float64, n), make([]float64, n), make([]bool, n)
		for i := range a {
			a[i] = float64(rng.IntN(15)) // many ties
			b[i] = a[i] + float64(rng.IntN(9))
			y[i] = i < 2 || i > 3 && rng.IntN(3) == 0
		}
		areas, variance := slowDeLong(a, b, y)
		got := evaluate.NewDeLong(a, b, y, 0.95)
		if math.Abs(got.A-areas[0]) > tolerance || math.Abs(got.B-areas[1]) > tolerance || math.Abs(got.SE*got.SE-variance) > tolerance {
			t.Fatalf("got %+v, want areas %v and variance %v", got, areas, variance)
		}
		if auc := stats.AUC(a, y); math.Abs(got.A-auc) > tolerance {
			t.Fatalf("got %v, want the AUC %v", got.A, auc)
		}
		if got.SE > 0 && (math.Abs(got.High-got.Difference-1.959963984540054*got.SE) > tolerance || math.Abs(got.Z-got.Difference/got.SE) > tolerance) {
			t.Fatalf("got %+v, want an interval of 1.96 standard errors", got)
		}
	}
}

// TestDeLongAgainstPROC compares with what testdata/delong.R prints.
func TestDeLongAgainstPROC(t *testing.T) {
	const tolerance = 1e-12 // 15 decimals are stored
	n := 200
	a, b, y := make([]float64, n), make([]float64, n), make([]bool, n)
	for i := range n {
		y[i] = i*7%20 < 7
		a[i], b[i] = float64(i*37%101), float64(i*53%89/4)
		if y[i] {
			a[i] += 25
			b[i] += 3
		}
	}
	got := evaluate.NewDeLong(a, b, y, 0.95)
	for name, c := range map[string]struct{ got, want float64 }{
		"A": {got.A, 0.6965934065934066}, "B": {got.B, 0.6052747252747253}, "Z": {got.Z, 1.6431459827364947}, "P": {got.P, 0.1003527329385818},
		"low": {got.Low, -0.0176073230538764}, "high": {got.High, 0.2002446856912391},
	} {
		if math.Abs(c.got-c.want) > tolerance {
			t.Errorf("%s: got %.15g, want %.15g", name, c.got, c.want)
		}
	}
}

// TestDeLongCovers draws two correlated scores of normal classes, one and 0.6 standard
// deviations apart, and counts the intervals that contain the true difference of the
// areas. Under equal areas it counts the false alarms of the test.
func TestDeLongCovers(t *testing.T) {
	const trials, n, level = 1000, 120, 0.95
	rng := rand.New(rand.NewPCG(13, 14))
	area := func(d float64) float64 { return math.Erfc(-d/2) / 2 } // Φ(d/√2)
	for _, shift := range [][2]float64{{1, 0.6}, {0.8, 0.8}} {
		truth := area(shift[0]) - area(shift[1])
		var held, rejected int
		a, b, y := make([]float64, n), make([]float64, n), make([]bool, n)
		for range trials {
			for i := range n {
				y[i] = i%3 == 0
				common := rng.NormFloat64()
				a[i] = math.Sqrt(0.6)*common + math.Sqrt(0.4)*rng.NormFloat64()
				b[i] = math.Sqrt(0.6)*common + math.Sqrt(0.4)*rng.NormFloat64()
				if y[i] {
					a[i] += shift[0]
					b[i] += shift[1]
				}
			}
			d := evaluate.NewDeLong(a, b, y, level)
			if d.Low <= truth && truth <= d.High {
				held++
			}
			if d.P < 1-level {
				rejected++
			}
		}
		t.Logf("shift %v: %d of %d intervals hold the difference %.3f, %d reject", shift, held, trials, truth, rejected)
		// 0.95 ± four standard errors of a share in 1000 trials, 0.028.
		if held < 922 || held > 978 {
			t.Errorf("shift %v: got %d of %d intervals that hold the truth, want about 950", shift, held, trials)
		}
		if truth == 0 && rejected != trials-held {
			t.Errorf("got %d rejections of equal areas, want the %d whose interval excludes 0", rejected, trials-held)
		}
	}
}

func TestDeLongThatIsUndefined(t *testing.T) {
	y := []bool{true, true, false, false}
	s := []float64{4, 2, 3, 1}
	if d := evaluate.NewDeLong(s, s, y, 0.95); d.Difference != 0 || d.SE != 0 || !math.IsNaN(d.P) || !math.IsNaN(d.Low) {
		t.Errorf("equal scores: got %+v, want no difference and no P", d)
	}
	if d := evaluate.NewDeLong(s, []float64{1, 2, 3, 4}, []bool{true, false, false, false}, 0.95); d.Difference != 1 || !math.IsNaN(d.SE) || !math.IsNaN(d.P) {
		t.Errorf("one positive: got %+v, want a difference without a standard error", d)
	}
	for name, b := range map[string][]float64{"NaN": {math.NaN(), 1, 2, 3}, "no positive": s} {
		y := y
		if name == "no positive" {
			y = make([]bool, 4)
		}
		if d := evaluate.NewDeLong(s, b, y, 0.95); !math.IsNaN(d.A) || !math.IsNaN(d.Difference) || !math.IsNaN(d.P) {
			t.Errorf("%s: got %+v, want NaN", name, d)
		}
	}
}

// TestDeLongWithSeveralRecordingsOfAPerson draws four recordings of each of 40 people,
// whose scores depend on the person as much as on the recording. The intervals of
// DeLong are too narrow there, and those of a paired bootstrap of people are not.
func TestDeLongWithSeveralRecordingsOfAPerson(t *testing.T) {
	const trials, people, each, resamples = 150, 40, 4, 200
	rng := rand.New(rand.NewPCG(15, 16))
	n := people * each
	a, b, y, who := make([]float64, n), make([]float64, n), make([]bool, n), make([]string, n)
	var held, heldPeople int
	for trial := range trials {
		for p := range people {
			ofA, ofB := rng.NormFloat64(), rng.NormFloat64()
			for k := range each {
				i := p*each + k
				y[i], who[i] = p%2 == 0, string(rune('A'+p))
				a[i], b[i] = ofA+rng.NormFloat64(), ofB+rng.NormFloat64()
				if y[i] {
					a[i]++
					b[i]++
				}
			}
		}
		if d := evaluate.NewDeLong(a, b, y, 0.95); d.Low <= 0 && 0 <= d.High {
			held++
		}
		one, two := stats.AUCOf(a, y), stats.AUCOf(b, y)
		paired := func(index []int) float64 { return one(index) - two(index) }
		if i := stats.BootstrapClusters(y, who, 0.95, resamples, uint64(trial), paired); i.Low <= 0 && 0 <= i.High {
			heldPeople++
		}
	}
	t.Logf("%d of %d intervals of DeLong and %d of the bootstrap hold the truth", held, trials, heldPeople)
	// 0.95 less four standard errors of a share in 150 trials, 0.071, and 0.02 for the
	// percentile bootstrap of 40 people. DeLong is well below.
	if held > 125 || heldPeople < 129 {
		t.Errorf("got %d of %d intervals of DeLong and %d of the bootstrap, want far fewer than 142, and about 142", held, trials, heldPeople)
	}
}
