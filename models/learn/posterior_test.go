package learn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// TestDerivativesAreThoseOfTheLoss compares with differences, for labels of
// every kind.
func TestDerivativesAreThoseOfTheLoss(t *testing.T) {
	const step, tolerance = 1e-4, 1e-5
	prior := gaussianOf(shippedFile(t, screen.Anxiety))
	n := len(prior.mean)
	rng := rand.New(rand.NewPCG(1, 1))
	d := &labelled{}
	for i := range 40 {
		x := make([]float64, n-3)
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		var y Label
		switch i % 4 {
		case 0:
			y, _ = PHQ2Label([]int{i % 3, 1})
		case 1:
			y = InterviewLabel(i%8 == 1)
		default:
			y.Likelihood[rng.IntN(4)] = 1
		}
		d.x, d.y, d.w = append(d.x, x), append(d.y, y), append(d.w, rng.Float64())
	}
	precision := mat.NewSymDense(n, nil)
	for i := range n {
		precision.SetSym(i, i, 2)
		if i > 0 {
			precision.SetSym(i, i-1, 0.3)
		}
	}
	at := append([]float64(nil), prior.mean...)
	for i := range at {
		at[i] += 0.3 * rng.NormFloat64()
	}
	g, h := d.derivatives(prior, precision, at)
	moved := func(i int, by float64) []float64 {
		out := append([]float64(nil), at...)
		out[i] += by
		return out
	}
	for i := range n {
		up, down := moved(i, step), moved(i, -step)
		want := (d.loss(prior, precision, up) - d.loss(prior, precision, down)) / (2 * step)
		if math.Abs(g.AtVec(i)-want) > tolerance*(1+math.Abs(want)) {
			t.Errorf("gradient %d: got %v, want %v", i, g.AtVec(i), want)
		}
		gu, _ := d.derivatives(prior, precision, up)
		gd, _ := d.derivatives(prior, precision, down)
		for j := range n {
			want := (gu.AtVec(j) - gd.AtVec(j)) / (2 * step)
			if math.Abs(h.At(i, j)-want) > tolerance*(1+math.Abs(want)) {
				t.Errorf("second derivative %d, %d: got %v, want %v", i, j, h.At(i, j), want)
			}
		}
	}
}

// TestLikelihoodsAddUp says that the bands are all there is, and that labels in
// the far tails are not lost to rounding.
func TestLikelihoodsAddUp(t *testing.T) {
	theta := [3]float64{-1, 0.5, 2}
	for _, eta := range []float64{-50, -3, 0, 0.7, 4, 50} {
		var total float64
		for b := range 4 {
			var y Label
			y.Likelihood[b] = 1
			p := likelihood(&y, eta, theta)
			if !(p > 0) {
				t.Errorf("eta %v, band %d: got %v, want above 0", eta, b, p)
			}
			total += p
		}
		if math.Abs(total-1) > 1e-12 {
			t.Errorf("eta %v: the bands have %v together, want 1", eta, total)
		}
	}
}

// TestPosteriorIsLogisticRegressionForInterviews compares with Logistic, which
// knows two classes: interviews say nothing else, and a wide prior nothing.
func TestPosteriorIsLogisticRegressionForInterviews(t *testing.T) {
	const wide, tolerance = 1e4, 1e-3
	rng := rand.New(rand.NewPCG(2, 2))
	d := &labelled{}
	var y []bool
	for range 500 {
		x := []float64{rng.NormFloat64(), rng.NormFloat64()}
		positive := rng.Float64() < dsp.Logistic(0.8*x[0]-0.5*x[1]-1)
		d.x, d.y, d.w, y = append(d.x, x), append(d.y, InterviewLabel(positive)), append(d.w, 1), append(y, positive)
	}
	prior := &gaussian{mean: make([]float64, 5), covariance: mat.NewSymDense(5, nil)}
	for i := range 5 {
		prior.covariance.SetSym(i, i, wide)
	}
	prior.covariance.SetSym(3, 3, 1)
	prior.covariance.SetSym(4, 4, 1)
	got, err := posterior(prior, d)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Logistic(d.x, y, nil, 1/wide)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range append(want.Weights, -want.Intercept) {
		if math.Abs(got.mean[i]-w) > tolerance {
			t.Errorf("parameter %d: got %v, want %v", i, got.mean[i], w)
		}
	}
	if got.mean[3] != 0 || math.Abs(got.covariance.At(3, 3)-1) > 1e-9 {
		t.Errorf("distances of thresholds: got mean %v and variance %v, want the prior's", got.mean[3], got.covariance.At(3, 3))
	}
}

// TestNoisyLabelsMoveLess says that a PHQ-2 says less than a PHQ-9, and that
// several sessions of one person say less than as many people.
func TestNoisyLabelsMoveLess(t *testing.T) {
	prior := shippedFile(t, screen.Depression)
	people := population40(t, prior, 400, 3)
	spread := func(change func([]Example) []Example) float64 {
		examples := change(slices.Clone(people))
		base, err := models.NewBayes(prior)
		if err != nil {
			t.Fatal(err)
		}
		d := &labelled{w: personWeights(personsOf(examples))}
		for _, e := range examples {
			d.x, d.y = append(d.x, base.Row(e.Recording).Z), append(d.y, e.Label)
		}
		g, err := fitAll(prior, d)
		if err != nil {
			t.Fatal(err)
		}
		return g.covariance.At(len(prior.Features), len(prior.Features))
	}
	whole := spread(func(e []Example) []Example { return e })
	noisy := spread(func(e []Example) []Example {
		for i := range e {
			positive, _ := e[i].Label.binary()
			e[i].Label, _ = PHQ2Label([]int{stats.Indicator(positive) * 3, 0})
		}
		return e
	})
	thrice := spread(func(e []Example) []Example { return append(append(append([]Example(nil), e...), e...), e...) })
	if !(noisy > 1.2*whole) {
		t.Errorf("got variance %v of the threshold from PHQ-2, %v from PHQ-9, want it clearly larger", noisy, whole)
	}
	// Three sessions count as 3/(1 + 2·0.7) = 1.25 people.
	if ratio := whole / thrice; ratio < 1.1 || ratio > 1.3 {
		t.Errorf("got %.2f times the precision from three sessions of each person, want about 1.25", ratio)
	}
}

// TestThresholdsOfTheLeastSlope says that where the labels would turn the
// weights round the thresholds are the best for the weights that are kept.
func TestThresholdsOfTheLeastSlope(t *testing.T) {
	const tolerance = 1e-3 // of the gradient; 2,000 labels curve the loss by hundreds
	prior := shippedFile(t, screen.Depression)
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(6, 6))
	before := gaussianOf(prior)
	p := len(prior.Features)
	d := &labelled{}
	for _, e := range population40(t, prior, 2000, 4) {
		x := base.Row(e.Recording).Z
		reverse := -dsp.Dot(before.mean[:p], x)
		d.x, d.y, d.w = append(d.x, x), append(d.y, InterviewLabel(rng.Float64() < dsp.Logistic(reverse-0.5))), append(d.w, 1)
	}
	g, err := fitSlope(prior, d)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range g.mean[:p] {
		if math.Abs(w-leastSlope*before.mean[i]) > 1e-9 {
			t.Errorf("weight %d: got %v, want %v times that of the prior, %v", i, w, leastSlope, before.mean[i])
		}
	}
	// The weights as they are: without the prior's pull on them, which has no
	// part in the thresholds.
	precision := mat.NewSymDense(p+3, nil)
	for i := range 3 {
		precision.SetSym(p+i, p+i, 1/before.covariance.At(p+i, p+i))
	}
	slope, _ := d.derivatives(before, precision, g.mean)
	for i := range 3 {
		if v := slope.AtVec(p + i); math.Abs(v) > tolerance {
			t.Errorf("threshold %d: got a loss that changes by %v, want none", i, v)
		}
	}
}

// TestPlattOnlyWhereItIsNeeded draws outcomes with the probabilities that were
// held out, which want no calibration, and with others, which do.
func TestPlattOnlyWhereItIsNeeded(t *testing.T) {
	const populations, people, most = 60, 600, 9 // a test of 5 % finds 3 of 60, and 9 or more once in 500
	made := func(rep int, slope, shift float64) *models.Calibration {
		rng := rand.New(rand.NewPCG(8, uint64(rep)))
		l := &learner{}
		for range people {
			eta := 0.7*rng.NormFloat64() - 0.5
			label := InterviewLabel(rng.Float64() < dsp.Logistic(slope*eta+shift))
			l.examples, l.weights = append(l.examples, Example{Label: label}), append(l.weights, 1)
			l.relearned = append(l.relearned, prediction{eta: eta})
		}
		c, err := l.platt()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	needless := 0
	for rep := range populations {
		needless += stats.Indicator(made(rep, 1, 0) != nil)
		if c := made(rep, 0.4, 0.5); c == nil || math.Abs(c.A-0.4) > 0.4 || math.Abs(c.B-0.5) > 0.4 {
			t.Errorf("population %d: got %+v where the slope is 0.4 and the shift 0.5", rep, c)
		}
	}
	if needless >= most {
		t.Errorf("%d of %d populations that need no calibration got one, want fewer than %d", needless, populations, most)
	}
}
