package fit

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// TestDerivativesAreThoseOfTheLoss compares with differences, for labels of
// every kind.
func TestDerivativesAreThoseOfTheLoss(t *testing.T) {
	const step, tolerance = 1e-4, 1e-5
	prior := gaussianOf(priorFile(t, AnxietyPrior()))
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
	p := newPopulation(priorFile(t, DepressionPrior()), rand.New(rand.NewPCG(3, 3))).withShare(0.4)
	people := p.people(400)
	spread := func(change func([]Example) []Example) float64 {
		examples := change(examplesOf(people))
		base, err := models.NewBayes(p.file)
		if err != nil {
			t.Fatal(err)
		}
		d := &labelled{w: personWeights(examples)}
		for _, e := range examples {
			d.x, d.y = append(d.x, base.Row(e.Recording).Z), append(d.y, e.Label)
		}
		g, err := fitAll(p.file, d)
		if err != nil {
			t.Fatal(err)
		}
		return g.covariance.At(len(p.weight), len(p.weight))
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

func TestLabels(t *testing.T) {
	for _, c := range []struct {
		name string
		make func() (Label, error)
		want [4]float64
	}{
		{"PHQ-9 of 0", func() (Label, error) { return ScoreLabel(PHQ9, make([]int, 9)) }, [4]float64{1, 0, 0, 0}},
		{"PHQ-9 of 9", func() (Label, error) { return ScoreLabel(PHQ9, []int{1, 1, 1, 1, 1, 1, 1, 1, 1}) }, [4]float64{0, 1, 0, 0}},
		{"PHQ-9 of 10", func() (Label, error) { return ScoreLabel(PHQ9, []int{2, 1, 1, 1, 1, 1, 1, 1, 1}) }, [4]float64{0, 0, 1, 0}},
		{"GAD-7 of 15", func() (Label, error) { return ScoreLabel(GAD7, []int{3, 2, 2, 2, 2, 2, 2}) }, [4]float64{0, 0, 0, 1}},
		{"PHQ-2 of 0", func() (Label, error) { return PHQ2Label([]int{0, 0}) }, [4]float64{0.78, 0.78, 0.14, 0.14}},
		{"PHQ-2 of 2", func() (Label, error) { return PHQ2Label([]int{0, 2}) }, [4]float64{0.14, 0.14, 0.25, 0.25}},
		{"PHQ-2 of 6", func() (Label, error) { return PHQ2Label([]int{3, 3}) }, [4]float64{0.08, 0.08, 0.61, 0.61}},
		{"an interview", func() (Label, error) { return InterviewLabel(true), nil }, [4]float64{0, 0, 1, 1}},
	} {
		if got, err := c.make(); err != nil || got.Likelihood != c.want {
			t.Errorf("%s: got %v and error %v, want %v", c.name, got.Likelihood, err, c.want)
		}
	}
	for name, bad := range map[string]func() (Label, error){
		"items":   func() (Label, error) { return ScoreLabel(PHQ9, make([]int, 7)) },
		"is 4":    func() (Label, error) { return PHQ2Label([]int{0, 4}) },
		"is -1":   func() (Label, error) { return ScoreLabel(GAD7, []int{-1, 0, 0, 0, 0, 0, 0}) },
		"0 items": func() (Label, error) { return ScoreLabel(PHQ2, nil) },
	} {
		if _, err := bad(); !errors.Is(err, ErrLabel) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got error %v, want an ErrLabel that says so", name, err)
		}
	}
}

// population40 draws labelled people, 40 % of whom have a score of 10 or more.
func population40(t testing.TB, prior *models.BayesFile, n int) []Example {
	t.Helper()
	return examplesOf(newPopulation(prior, rand.New(rand.NewPCG(4, 4))).withShare(0.4).people(n))
}

func TestLearnSaysWhatItLearnedFrom(t *testing.T) {
	prior := priorFile(t, DepressionPrior())
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	examples := population40(t, prior, 600)
	for i := range examples {
		examples[i].Account = []string{"a", "b"}[i/2%2]
		examples[i].User = fmt.Sprint("user ", i/2) // two sessions each
	}
	got, err := Learn(t.Context(), prior, base, examples, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := got.File
	if !f.IsCalibrated || f.Version != prior.Version+"+600" || *f.Labels != (models.Labels{Sessions: 600, Users: 300, Accounts: 2, PHQ9: 600}) {
		t.Errorf("got version %s, calibrated %v, labels %+v", f.Version, f.IsCalibrated, f.Labels)
	}
	if !got.Better || got.New.LogScore <= got.Former.LogScore || len(f.Metrics) != 1 {
		t.Errorf("got %+v with metrics %v, want it better where the base rate is 0.4", got, f.Metrics)
	}
	again, err := Learn(t.Context(), prior, base, examples, nil)
	if err != nil || !reflect.DeepEqual(got, again) {
		t.Errorf("got another model the second time, error %v", err)
	}
	// What was learned is kept if nothing new comes.
	next, err := models.NewBayes(f)
	if err != nil {
		t.Fatal(err)
	}
	if once, err := Learn(t.Context(), prior, next, examples[:100], nil); err != nil || once.Better {
		t.Errorf("got %+v and error %v from a sixth of the labels, want the former model kept", once, err)
	}
}

// TestLearnGoesOn learns from some labels, and then from those and as many
// new ones: the former model is not to be judged by what it has seen.
func TestLearnGoesOn(t *testing.T) {
	prior := priorFile(t, DepressionPrior())
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	examples := population40(t, prior, 1600)
	for i := range examples {
		examples[i].Time = time.Date(2026, 1, 1+i/400, 9, 0, 0, 0, time.UTC)
	}
	first, err := Learn(t.Context(), prior, base, examples[:400], nil)
	if err != nil || !first.Better || first.Fresh || first.File.Labels.To != "2026-01-01" {
		t.Fatalf("got %+v and error %v, want it learned", first, err)
	}
	former, err := models.NewBayes(first.File)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Learn(t.Context(), prior, former, examples, nil)
	if err != nil || !second.Better || !second.Fresh || second.New.Sessions != 1200 || second.Former.Sessions != 1200 {
		t.Errorf("got %+v and error %v, want it better on the 1200 new ones", second, err)
	}
	if second.File.Metrics[0].N != 1600 {
		t.Errorf("got metrics %+v, want those of all", second.File.Metrics)
	}
	few, err := Learn(t.Context(), prior, former, examples[:405], nil)
	if err != nil || few.Fresh || few.New.Sessions != 405 {
		t.Errorf("got %+v and error %v, want five new ones not to decide", few, err)
	}
}

// TestFiguresCountWhatTheyAreOf says that the AUC in the file is of the labels
// that leave no doubt, and not of the others.
func TestFiguresCountWhatTheyAreOf(t *testing.T) {
	prior := priorFile(t, DepressionPrior())
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	examples := population40(t, prior, 200)
	each(examples[:80], func(e *Example) { e.Label, err = PHQ2Label([]int{1, 0}) })
	got, err := Learn(t.Context(), prior, base, examples, nil)
	if err != nil || len(got.File.Metrics) != 1 || got.File.Metrics[0].N != 120 || got.File.Labels.Sessions != 200 {
		t.Errorf("got metrics %+v and error %v, want an AUC of 120 of the 200 sessions", got.File.Metrics, err)
	}
}

// TestThresholdsOfTheLeastSlope says that where the labels would turn the
// weights round the thresholds are the best for the weights that are kept.
func TestThresholdsOfTheLeastSlope(t *testing.T) {
	const tolerance = 1e-3 // of the gradient; 2,000 labels curve the loss by hundreds
	prior := priorFile(t, DepressionPrior())
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(6, 6))
	before := gaussianOf(prior)
	p := len(prior.Features)
	d := &labelled{}
	for _, e := range population40(t, prior, 2000) {
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

func TestLearnRefusesWhatItCannotLearnFrom(t *testing.T) {
	prior := priorFile(t, DepressionPrior())
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func([]Example) []Example
		want   error
	}{
		"none":           {func(e []Example) []Example { return nil }, ErrFewLabels},
		"one user":       {func(e []Example) []Example { each(e, func(e *Example) { e.User = "u" }); return e }, ErrFewLabels},
		"one class":      {func(e []Example) []Example { each(e, func(e *Example) { e.Label = InterviewLabel(false) }); return e }, ErrFewLabels},
		"no recording":   {func(e []Example) []Example { e[3].Recording = nil; return e }, ErrLabel},
		"another schema": {func(e []Example) []Example { e[3].Recording = &features.Recording{}; return e }, ErrLabel},
		"no label":       {func(e []Example) []Example { e[3].Label = Label{}; return e }, ErrLabel},
		"NaN":            {func(e []Example) []Example { e[3].Label.Likelihood[1] = math.NaN(); return e }, ErrLabel},
	} {
		if _, err := Learn(t.Context(), prior, base, c.change(population40(t, prior, 60)), nil); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func each(e []Example, change func(*Example)) {
	for i := range e {
		change(&e[i])
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

// TestLearnFromPHQ2Alone learns where no label leaves no doubt: what can then not
// be measured is null.
func TestLearnFromPHQ2Alone(t *testing.T) {
	prior := priorFile(t, DepressionPrior())
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	examples := population40(t, prior, 100)
	each(examples, func(e *Example) {
		positive, _ := e.Label.binary()
		if e.Label, err = PHQ2Label([]int{2 * stats.Indicator(positive), stats.Indicator(positive)}); err != nil {
			t.Fatal(err)
		}
	})
	got, err := Learn(t.Context(), prior, base, examples, nil)
	if err != nil || got.New.Sessions != 0 || len(got.File.Metrics) != 0 {
		t.Fatalf("got %+v and error %v, want it to learn and to know no AUC", got, err)
	}
	text, err := json.Marshal(got.New)
	if err != nil || !strings.Contains(string(text), `"auc":{"high":null,"low":null,"value":null},"ece":null`) {
		t.Errorf("got %s and error %v", text, err)
	}
}

// TestLearnFromPoorRecordings says that features that are constant or missing
// in all recordings leave the prior of their weights as it is, and give
// numbers.
func TestLearnFromPoorRecordings(t *testing.T) {
	prior := priorFile(t, DepressionPrior())
	base, err := models.NewBayes(prior)
	if err != nil {
		t.Fatal(err)
	}
	examples := population40(t, prior, 300)
	schema := features.VoiceSchema()
	each(examples, func(e *Example) {
		e.Recording.Metadata = screen.Metadata{}
		e.Recording.FixedGain = false
		for _, name := range []string{"jitter.local", "f0.sd_st"} {
			e.Recording.Features.Values[schema.Index(name)] = math.NaN()
		}
		e.Recording.Features.Values[schema.Index("shimmer.local_db")] = 1
	})
	got, err := Learn(t.Context(), prior, base, examples, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.File.Check(); err != nil {
		t.Error(err)
	}
	if math.IsNaN(got.New.LogScore + got.New.AUC.Value + got.Former.ECE) {
		t.Errorf("got %+v, want numbers", got)
	}
}

// BenchmarkLearn10000 is a calibration on 10,000 labelled sessions, with its cross-validation.
func BenchmarkLearn10000(b *testing.B) {
	norms, err := ShippedNorms()
	if err != nil {
		b.Fatal(err)
	}
	prior, err := DepressionPrior().File(norms)
	if err != nil {
		b.Fatal(err)
	}
	base, err := models.NewBayes(prior)
	if err != nil {
		b.Fatal(err)
	}
	examples := population40(b, prior, 10000)
	for b.Loop() {
		if _, err := Learn(b.Context(), prior, base, examples, nil); err != nil {
			b.Fatal(err)
		}
	}
}
