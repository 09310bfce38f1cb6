package models_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

// bayesFile is a small model: three features, of which the last needs a fixed
// gain and the first two are correlated.
func bayesFile() *models.BayesFile {
	cov := make([][]float64, 6)
	for i := range cov {
		cov[i] = make([]float64, 6)
		cov[i][i] = 0.04
	}
	cov[3][3] = 0.64
	return &models.BayesFile{
		Format: models.BayesFormat, Name: "test", Version: "1", Category: screen.Depression, Schema: "voice/1", Description: "a test",
		Thresholds:    []float64{1, 2, 3},
		Cuts:          []models.Cut{{Score: 10, Probability: 0.2}, {Score: 15, Probability: 0.1}},
		Indeterminate: models.Band{Low: 0.15, High: 0.25}, Clip: 3, Baseline: 1, SampledAt: 60, Speech: models.SpeechWeights{Free: 1},
		Sex:       []models.SexFeature{{Name: "f0.median_hz", Female: models.Spread{Center: math.Log(200), Scale: 0.15}, Male: models.Spread{Center: math.Log(110), Scale: 0.15}}},
		TrainedOn: []models.Data{{Data: "nothing", Licence: "none"}}, Metrics: []models.Metric{}, Licence: "MIT",
		Features: []models.BayesFeature{
			{Name: "pause.mean_s", Unit: "s", Transform: models.Identity, Norms: models.Alike(models.Norm{Female: models.Spread{Center: 0.5, Scale: 0.1}, Male: models.Spread{Center: 0.6, Scale: 0.2}}), Weight: 0.8, Stability: 0.75},
			{Name: "pause.sd_s", Unit: "s", Transform: models.Identity, Norms: models.Alike(models.Norm{Female: models.Spread{Center: 0.3, Scale: 0.1}, Male: models.Spread{Center: 0.3, Scale: 0.1}}), Weight: 0.5},
			{Name: "level.mean_dbfs", Unit: "dBFS", Transform: models.Identity, Norms: models.Alike(models.Norm{Female: models.Spread{Center: -30, Scale: 5}, Male: models.Spread{Center: -30, Scale: 5}}), Weight: -0.6, FixedGain: true},
		},
		Correlation: [][]float64{{1, 0.6, 0.2}, {0.6, 1, 0}, {0.2, 0, 1}},
		Covariance:  cov,
	}
}

func bayes(t testing.TB, f *models.BayesFile) *models.Bayes {
	t.Helper()
	b, err := models.NewBayes(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func scoreOf(t testing.TB, s models.Scorer, in *features.Recording) screen.Score {
	t.Helper()
	got, err := s.Score(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

// woman is a recording of a woman with the given features.
func woman(values map[string]float64) *features.Recording {
	return &features.Recording{Features: voice(values), FixedGain: true, Metadata: screen.Metadata{Gender: screen.Female}}
}

func closeTo(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %v, want %v within %v", what, got, want, tolerance)
	}
}

// exact is what rounding may do to a probability.
const exact = 1e-12

func TestBayesIsTheProportionalOddsModel(t *testing.T) {
	b := bayes(t, bayesFile())
	got := scoreOf(t, b, woman(map[string]float64{"pause.mean_s": 0.7, "pause.sd_s": 0.2, "level.mean_dbfs": -35}))
	eta := 2*0.8 - 1*0.5 + 1*0.6
	closeTo(t, "probability", got.Probability, dsp.Logistic(eta-2), exact)
	sd := math.Sqrt(0.04*(4+1+1) + 0.64)
	closeTo(t, "low", got.Low, dsp.Logistic(eta-2-1.6448536269514722*sd), exact)
	closeTo(t, "high", got.High, dsp.Logistic(eta-2+1.6448536269514722*sd), exact)
	if got.Severity != 3 || got.Decision != screen.Positive || got.Coverage != 1 || got.Partial() || got.Baseline != 0 {
		t.Errorf("got %+v, want the third class, positive and whole", got)
	}
	for i, want := range []screen.Contribution{{Feature: "pause.mean_s", Value: 0.7, Unit: "s", Logits: 1.6}, {Feature: "level.mean_dbfs", Value: -35, Unit: "dBFS", Logits: 0.6}, {Feature: "pause.sd_s", Value: 0.2, Unit: "s", Logits: -0.5}} {
		c := got.Contributions[i]
		closeTo(t, want.Feature, c.Logits, want.Logits, exact)
		if c.Feature != want.Feature || c.Value != want.Value || c.Unit != want.Unit {
			t.Errorf("got contribution %+v, want %+v", c, want)
		}
	}
}

// TestClassAndProbabilityAgree checks that class and decision rise with the
// probability, and that classes begin at the cuts.
func TestClassAndProbabilityAgree(t *testing.T) {
	b := bayes(t, bayesFile())
	last := screen.Score{Decision: screen.Negative}
	order := map[screen.Decision]int{screen.Negative: 0, screen.Indeterminate: 1, screen.Positive: 2}
	for z := -3.0; z <= 3; z += 0.01 {
		got := scoreOf(t, b, woman(map[string]float64{"pause.mean_s": 0.5 + z*0.1, "pause.sd_s": 0.3 + z*0.1, "level.mean_dbfs": -30}))
		if got.Probability < last.Probability || got.Severity < last.Severity || order[got.Decision] < order[last.Decision] {
			t.Fatalf("z = %v: got %+v after %+v", z, got, last)
		}
		if atLeastTen := got.Severity >= 2; atLeastTen != (got.Probability >= 0.2) {
			t.Errorf("z = %v: got class %d at probability %v, want the second from 0.2 on", z, got.Severity, got.Probability)
		}
		last = got
	}
	if last.Severity != 3 || last.Decision != screen.Positive {
		t.Errorf("got %+v at the end, want the highest class", last)
	}
}

// TestMissingFeaturesAreMarginalised draws what was not measured from its
// distribution given what was.
func TestMissingFeaturesAreMarginalised(t *testing.T) {
	const (
		draws     = 400000
		tolerance = 0.004 // of MacKay's approximation, at a standard deviation of 0.8 logits, and of the draws
	)
	b := bayes(t, bayesFile())
	in := woman(map[string]float64{"pause.mean_s": 0.8})
	in.Features.Values[in.Features.Schema.Index("pause.sd_s")] = math.Inf(1) // not a measurement either
	got := scoreOf(t, b, in)
	rng := rand.New(rand.NewPCG(1, 2))
	var mean float64
	for range draws {
		// Of three with r12 = 0.6, r13 = 0.2, r23 = 0, given the first at 3:
		// variances 1 − 0.36 and 1 − 0.04, covariance −0.12.
		x, y := rng.NormFloat64(), rng.NormFloat64()
		z2 := 1.8 + 0.8*x
		z3 := 0.6 - 0.15*x + math.Sqrt(0.96-0.0225)*y
		mean += dsp.Logistic(3*0.8+z2*0.5-z3*0.6-2) / draws
	}
	closeTo(t, "probability", got.Probability, mean, tolerance)
	closeTo(t, "coverage", got.Coverage, 0.8/1.9, exact)
	if !got.Partial() {
		t.Error("want a partial score")
	}
	full := scoreOf(t, b, woman(map[string]float64{"pause.mean_s": 0.8, "pause.sd_s": 0.48, "level.mean_dbfs": -27}))
	if got.High-got.Low <= full.High-full.Low {
		t.Errorf("got an interval of %v without two features and of %v with all, want it wider", got.High-got.Low, full.High-full.Low)
	}
}

func TestLevelCountsOnlyWithFixedGain(t *testing.T) {
	b := bayes(t, bayesFile())
	score := func(level float64, fixed bool) screen.Score {
		in := woman(map[string]float64{"pause.mean_s": 0.6, "pause.sd_s": 0.3, "level.mean_dbfs": level})
		in.FixedGain = fixed
		return scoreOf(t, b, in)
	}
	if loud, quiet := score(-20, false), score(-60, false); loud.Probability != quiet.Probability || loud.Coverage != 1 {
		t.Errorf("without a fixed gain: got %v and %v, want the same, whole", loud, quiet)
	}
	if loud, quiet := score(-20, true), score(-60, true); loud.Probability >= quiet.Probability {
		t.Errorf("with a fixed gain: got %v for a loud and %v for a quiet voice, want less for the loud", loud.Probability, quiet.Probability)
	}
}

// TestSexIsTakenFromTheMetadataOrTheVoice checks which norms standardise a voice.
func TestSexIsTakenFromTheMetadataOrTheVoice(t *testing.T) {
	b := bayes(t, bayesFile())
	row := func(g screen.Gender, f0 float64) models.Row {
		return b.Row(&features.Recording{Features: voice(map[string]float64{"pause.mean_s": 0.7, "f0.median_hz": f0}), Metadata: screen.Metadata{Gender: g}})
	}
	for _, c := range []struct {
		name      string
		gender    screen.Gender
		f0        float64
		female, z float64
		tolerance float64
	}{
		{"a woman with a low voice", screen.Female, 100, 1, 2, exact},
		{"a man with a high voice", screen.Male, 220, 0, 0.5, exact},
		{"nothing said, a high voice", 0, 210, 0.999, 2, 0.01},
		{"nothing said, a low voice", 0, 100, 0.001, 0.5, 0.01},
		{"other, between", screen.OtherGender, math.Sqrt(200 * 110), 0.5, 1.25, 1e-9},
		{"a transgender woman: the voice decides", screen.TransgenderFemale, 105, 0.001, 0.5, 0.01},
		{"nothing said, no pitch", 0, math.NaN(), 0.5, 1.25, exact},
	} {
		got := row(c.gender, c.f0)
		closeTo(t, c.name+": female", got.Female, c.female, c.tolerance)
		closeTo(t, c.name+": z", got.Z[0], c.z, c.tolerance)
	}
	narrow := scoreOf(t, b, &features.Recording{Features: voice(map[string]float64{"pause.mean_s": 0.9, "pause.sd_s": 0.3}), Metadata: screen.Metadata{Gender: screen.Male}})
	wide := scoreOf(t, b, &features.Recording{Features: voice(map[string]float64{"pause.mean_s": 0.9, "pause.sd_s": 0.3})})
	if wide.High-wide.Low <= narrow.High-narrow.Low {
		t.Error("want a wider interval where the sex is not known")
	}
}

// TestUnfamiliar checks that the combination of features counts: in the norms, mean
// and spread of pauses rise together, so long pauses of equal length are unfamiliar,
// and long pauses of unequal length are not.
func TestUnfamiliar(t *testing.T) {
	b := bayes(t, bayesFile())
	for _, c := range []struct {
		mean, sd, level float64
		want            bool
	}{
		{0.5, 0.3, -30, false}, // the middle of the norms
		{0.8, 0.6, -30, false}, // at 3, 3 and 0
		{0.8, 0.0, -45, true},  // at 3, −3 and −3
		{9.0, -9, -99, true},   // held to the same
	} {
		got := scoreOf(t, b, woman(map[string]float64{"pause.mean_s": c.mean, "pause.sd_s": c.sd, "level.mean_dbfs": c.level}))
		if is := slices.Contains(got.Cautions, screen.Unfamiliar); is != c.want {
			t.Errorf("%+v: got cautions %v, want unfamiliar %v", c, got.Cautions, c.want)
		}
		if decided := got.Decision != screen.Indeterminate; decided == c.want {
			t.Errorf("%+v: got %v at probability %v", c, got.Decision, got.Probability)
		}
	}
	// A great change since the last time is what the baseline listens for.
	in := woman(map[string]float64{"pause.mean_s": 0.7, "pause.sd_s": 0.15, "level.mean_dbfs": -30})
	in.Earlier = []features.Vector{voice(map[string]float64{"pause.mean_s": 0.2})}
	if got := scoreOf(t, b, in); got.Baseline != 1 || len(got.Cautions) > 0 {
		t.Errorf("beside an earlier recording: got %+v, want no caution", got)
	}
}

// TestBaseline holds the comparison with earlier recordings to the definition:
// the z of the change, over its standard deviation squared.
func TestBaseline(t *testing.T) {
	b := bayes(t, bayesFile())
	in := woman(map[string]float64{"pause.mean_s": 0.65, "pause.sd_s": 0.3, "level.mean_dbfs": -30})
	in.Earlier = []features.Vector{voice(map[string]float64{"pause.mean_s": 0.4}), voice(map[string]float64{"pause.mean_s": 0.6}), voice(nil)}
	const rho = 0.75
	predict := rho / (rho + (1-rho)/2)
	want := (1.5 - predict*0) / (1 - rho*predict)
	got := b.Row(in)
	closeTo(t, "z", got.Z[0], want, 1e-9)
	if got.Earlier != 2 || got.Z[1] != 0 {
		t.Errorf("got %d earlier recordings and z %v of an unstable feature, want 2 and 0", got.Earlier, got.Z[1])
	}
	if s := scoreOf(t, b, in); s.Baseline != 2 {
		t.Errorf("got baseline %d in the score, want 2", s.Baseline)
	}
	f := bayesFile()
	f.Baseline = 0
	if r := bayes(t, f).Row(in); r.Earlier != 0 || math.Abs(r.Z[0]-1.5) > 1e-9 {
		t.Errorf("got %+v with a baseline of no weight, want it unused", r)
	}
}

// TestBaselineDetectsChanges draws people with stable voices, half of whom changed.
// It compares how well z separates them without and with an earlier recording.
func TestBaselineDetectsChanges(t *testing.T) {
	const rho, effect, people = 0.75, 0.5, 4000
	b := bayes(t, bayesFile())
	rng := rand.New(rand.NewPCG(3, 4))
	var auc [2]float64
	for kind := range auc {
		var z [2][]float64
		for i := range people {
			self := math.Sqrt(rho) * rng.NormFloat64()
			at := func(shift float64) features.Vector {
				return voice(map[string]float64{"pause.mean_s": 0.5 + 0.1*(self+math.Sqrt(1-rho)*rng.NormFloat64()+shift)})
			}
			in := woman(nil)
			in.Features = at(effect * float64(i%2))
			if kind == 1 {
				in.Earlier = []features.Vector{at(0)}
			}
			z[i%2] = append(z[i%2], b.Row(in).Z[0])
		}
		for _, x := range z[1] {
			for _, y := range z[0] {
				if x > y {
					auc[kind] += 1 / float64(len(z[0])*len(z[1]))
				}
			}
		}
	}
	// Φ(d/√2), and Φ of the same with d over the standard deviation of what an
	// earlier recording leaves open, √(1 − ρ²).
	const tolerance = 0.02 // two standard errors
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	closeTo(t, "AUC alone", auc[0], phi(effect/math.Sqrt2), tolerance)
	closeTo(t, "AUC beside an earlier recording", auc[1], phi(effect/math.Sqrt(1-rho*rho)/math.Sqrt2), tolerance)
}

func TestBaseRateMovesAllTogether(t *testing.T) {
	b := bayes(t, bayesFile())
	for _, share := range []float64{0.01, 0.39, 0.9} {
		moved, err := b.WithBaseRate(share)
		if err != nil {
			t.Fatal(err)
		}
		var mean float64
		models.OverNormal(b.Spread(), func(eta, w float64) { mean += w * dsp.Logistic(eta-moved.File().Thresholds[1]) })
		closeTo(t, "mean probability", mean, share, 1e-9)
		closeTo(t, "stated share", scoreOf(t, moved, woman(nil)).Prior, share, 1e-9)
		for z := -3.0; z <= 3; z += 0.1 {
			in := woman(map[string]float64{"pause.mean_s": 0.5 + z*0.1, "pause.sd_s": 0.3, "level.mean_dbfs": -30})
			was, is := scoreOf(t, b, in), scoreOf(t, moved, in)
			if is.Probability >= screen.Half { // no cut moves above it
				if is.Severity < max(was.Severity, screen.MildToModerate) || is.Decision != screen.Positive {
					t.Fatalf("share %v, z %.1f: got class %d and %v at a probability of %v, want at least class 2, and positive", share, z, is.Severity, is.Decision, is.Probability)
				}
				continue
			}
			if was.Severity != is.Severity || was.Decision != is.Decision {
				t.Fatalf("share %v, z %.1f: got class %d and %v, want those of the other base rate, %d and %v", share, z, is.Severity, is.Decision, was.Severity, was.Decision)
			}
		}
	}
	for _, share := range []float64{0, 1, -1, math.NaN()} {
		if _, err := b.WithBaseRate(share); err == nil {
			t.Errorf("share %v: got no error", share)
		}
	}
}

// A scorer that has its base rate from labels, or is of a category that is not
// named, stays.
func TestBaseRatesAreForTheUncalibrated(t *testing.T) {
	plain, learned := bayesFile(), bayesFile()
	learned.IsCalibrated, learned.CalibratedOn = true, "labels"
	rates := map[screen.Category]float64{plain.Category: 0.3}
	for name, c := range map[string]struct {
		scorer models.Scorer
		rates  map[screen.Category]float64
		moved  bool
	}{
		"uncalibrated":     {bayes(t, plain), rates, true},
		"calibrated":       {bayes(t, learned), rates, false},
		"another category": {bayes(t, plain), map[screen.Category]float64{screen.Anxiety: 0.3}, false},
		"no rates":         {bayes(t, plain), nil, false},
	} {
		got, err := models.WithBaseRates(c.scorer, c.rates)
		if err != nil || (got != c.scorer) != c.moved {
			t.Errorf("%s: got a scorer that moved: %v, and error %v, want %v", name, got != c.scorer, err, c.moved)
		}
	}
	if s, err := models.WithBaseRates(bayes(t, plain), map[screen.Category]float64{plain.Category: 2}); s != nil || err == nil {
		t.Errorf("a share of 2: got %v and error %v, want an error alone", s, err)
	}
}

// TestBayesScoresAreNumbers scores vectors, earlier ones too, at the edges of
// everything.
func TestBayesScoresAreNumbers(t *testing.T) {
	scorers, err := shipped.Scorers()
	if err != nil {
		t.Fatal(err)
	}
	edges := []float64{math.NaN(), 0, 1, math.Inf(1), math.Inf(-1), 1e308, -1e308}
	for _, s := range append(scorers[:2:2], bayes(t, bayesFile())) {
		for _, x := range edges {
			for _, y := range edges {
				in := &features.Recording{Features: constant(x), Earlier: []features.Vector{constant(y), constant(x), {}}, FixedGain: x == 0}
				got := scoreOf(t, s, in)
				if _, err := json.Marshal(got); err != nil {
					t.Errorf("%s, all features %v, once %v: %v", s.Info().Name, x, y, err)
				}
				if !(got.Low <= got.Probability && got.Probability <= got.High) || got.Low < 0 || got.High > 1 || got.Severity < 1 || got.Decision == 0 {
					t.Errorf("%s, all features %v, once %v: got %+v", s.Info().Name, x, y, got)
				}
			}
		}
	}
}

// BenchmarkBayesScore is the time of a score once the features exist, for the
// shipped depression model, without a fixed gain and sex, beside three earlier recordings.
func BenchmarkBayesScore(b *testing.B) {
	scorers, err := shipped.Scorers()
	if err != nil {
		b.Fatal(err)
	}
	var in [2]*features.Recording // of other durations, in turn
	for i := range in {
		in[i] = &features.Recording{Features: constant(1 + float64(i)), Earlier: []features.Vector{constant(0.9), constant(1.1), constant(1.2)}}
	}
	for i := 0; b.Loop(); i++ {
		if _, err := scorers[0].Score(b.Context(), in[i%2]); err != nil {
			b.Fatal(err)
		}
	}
}
