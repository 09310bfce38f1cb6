package httpadapter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

// decisionCases is how many random scores the property is tried on. Chosen: a
// second, and thousands of each kind.
const decisionCases = 20000

// Whatever base rate, prior, thresholds and voice: the class never contradicts the
// probability beside it, and what a band leaves undecided is never answered true.
func TestAnswersAgreeWithTheProbability(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 1))
	scorers := decisionScorers(t, r)
	seen := map[string]int{}
	for range decisionCases {
		score, rated := randomScore(t, r, scorers[r.IntN(len(scorers))])
		own := randomThresholds(r, score.Category)
		if score.Category == screen.Deepfake && r.IntN(2) == 0 {
			score.SetPrior(math.Exp(-8 * r.Float64()))
		}
		screen.AccountThresholds{"clinic": {score.Category: own}}.Apply("clinic", &score)
		fault := ""
		if score.Category == screen.Deepfake {
			fault = faultOfDeepfake(&score, &own)
		} else {
			fault = faultOfClass(&score, &own, rated)
		}
		if fault != "" {
			t.Fatalf("%s: %+v with thresholds %s", fault, score, text(&own))
		}
		seen[fmt.Sprint(score.Category, score.Decision, score.Probability >= 0.5, own.Low != nil)]++
	}
	for _, c := range screen.Categories() {
		for _, d := range []screen.Decision{screen.Negative, screen.Positive, screen.Indeterminate} {
			for _, own := range []bool{false, true} {
				if seen[fmt.Sprint(c, d, true, own)]+seen[fmt.Sprint(c, d, false, own)] < 20 {
					t.Errorf("%v, %v, own thresholds %v: hardly tried: %v", c, d, own, seen)
				}
			}
		}
	}
}

// decisionScorers are the shipped models at many base rates, and models with
// thresholds all over the place. Each is beside whether its base rate was given.
func decisionScorers(t *testing.T, r *rand.Rand) (list []ratedScorer) {
	t.Helper()
	for _, c := range []screen.Category{screen.Depression, screen.Anxiety} {
		f, err := shipped.Bayes(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, rate := range []float64{0, 0.005, 0.061, 0.3, 0.5, 0.8, 0.97} {
			b, err := models.NewBayes(f)
			if err == nil && rate > 0 {
				b, err = b.WithBaseRate(rate)
			}
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, ratedScorer{b, rate > 0})
		}
		for range 20 { // such as were learned where most people are ill
			g := *f
			g.Thresholds = []float64{r.NormFloat64() - 1, 0, 0}
			g.Thresholds[1] = g.Thresholds[0] + r.ExpFloat64()
			g.Thresholds[2] = g.Thresholds[1] + r.ExpFloat64()
			g.Cuts = nil
			at := g.Thresholds[1] + r.NormFloat64() // on the scale of the thresholds
			for _, cut := range f.Cuts {
				p := 1 / (1 + math.Exp(g.Thresholds[slices.Index(models.BandScores[:], cut.Score)]-at))
				g.Cuts = append(g.Cuts, models.Cut{Score: cut.Score, Probability: p})
				at += r.ExpFloat64()
			}
			g.Indeterminate.Low = 0.9 * r.Float64()
			g.Indeterminate.High = g.Indeterminate.Low + (1-g.Indeterminate.Low)*r.Float64()
			b, err := models.NewBayes(&g)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, ratedScorer{b, false})
		}
	}
	for range 40 {
		list = append(list, ratedScorer{randomLinear(t, r), false})
	}
	return list
}

type ratedScorer struct {
	models.Scorer
	rated bool
}

// randomLinear is a deepfake model, or an ordinal model of depression.
func randomLinear(t *testing.T, r *rand.Rand) models.Scorer {
	t.Helper()
	f := &models.File{
		Format: models.FileFormat, Name: "random", Version: "1", Category: screen.Deepfake, Schema: "voice/1", Description: "a test",
		Link: models.Link{Kind: models.Logit}, Intercept: r.NormFloat64(), Clip: 3, Prior: 0.5, Licence: "none",
		TrainedOn: []models.Data{{Data: "nothing", Licence: "none"}},
		Features:  []models.Feature{{Name: "f0.sd_st", Unit: "st", Center: 3, Scale: 2, Weight: 1.5}, {Name: "hnr.mean_db", Unit: "dB", Center: 10, Scale: 5, Weight: -1}},
	}
	f.Indeterminate.Low = r.Float64()
	f.Indeterminate.High = f.Indeterminate.Low + (1-f.Indeterminate.Low)*r.Float64()
	if r.IntN(2) == 0 {
		f.Category = screen.Depression
		from := r.NormFloat64()
		f.Link = models.Link{Kind: models.Ordinal, Thresholds: []float64{from, from + 1}, Cuts: []float64{r.NormFloat64(), 0}, Decision: 1}
		f.Link.Cuts[1] = f.Link.Cuts[0] + r.ExpFloat64() + 0.01
	}
	l, err := models.NewLinear(f)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// randomScore scores a voice that is as different from the norms as people are, or
// more so. Some of its features are missing.
func randomScore(t *testing.T, r *rand.Rand, s ratedScorer) (screen.Score, bool) {
	t.Helper()
	v := features.Vector{Schema: features.VoiceSchema(), Values: make([]float64, features.VoiceSchema().Len())}
	norms, err := shipped.Bayes(screen.Depression)
	if err != nil {
		t.Fatal(err)
	}
	spread := 2 * r.Float64()
	for _, f := range norms.Features {
		y := math.NaN()
		if r.IntN(20) > 0 {
			norm := f.Norms.Free.Female
			y = norm.Center + spread*norm.Scale*r.NormFloat64()
		}
		f.Put(v, y)
	}
	scores, err := s.Score(t.Context(), &features.Recording{Features: v})
	if err != nil {
		t.Fatal(err)
	}
	return scores[0], s.rated
}

// randomThresholds are none, a band, classes, or both.
func randomThresholds(r *rand.Rand, c screen.Category) (t screen.Thresholds) {
	if r.IntN(2) == 0 {
		low := 0.9 * r.Float64()
		high := low + 0.01 + (0.99-low)*r.Float64()
		t.Low, t.High = &low, &high
	}
	if n := len(c.Severities()); n > 0 && r.IntN(3) == 0 {
		from := 0.0
		for range n - 1 {
			from += r.Float64() / float64(n-1)
			t.Classes = append(t.Classes, from)
		}
	}
	return t
}

func text(t *screen.Thresholds) string {
	if t.Low == nil {
		return fmt.Sprint("none, classes ", t.Classes)
	}
	return fmt.Sprint(*t.Low, " to ", *t.High, ", classes ", t.Classes)
}

// faultOfDeepfake says what is wrong with the answer to a deepfake session; "" if
// nothing is.
func faultOfDeepfake(s *screen.Score, own *screen.Thresholds) string {
	a := newItem(&voicescreen.Result{Product: screen.DeepfakeBinary, Status: screen.StatusSuccess, Scores: []screen.Score{*s}}, true).(*deepfake)
	is, upper := *a.PredictedIsDeepfake, 0.5
	if own.High != nil {
		upper = *own.High
	}
	switch {
	case *a.PredictedScore != fmt.Sprint(is):
		return "predicted_score is another answer than predicted_is_deepfake"
	case is != (s.Probability >= upper):
		return fmt.Sprintf("predicted_is_deepfake is %v, want it from %v on", is, upper)
	case math.Abs(*a.PredictedDeepfakeScore-100*s.Probability) > 0.0051:
		return "another score than the probability"
	case own.Low != nil && s.Probability >= *own.Low && s.Probability < upper && (is || s.Decision != screen.Indeterminate):
		return fmt.Sprintf("the band leaves it undecided, and the answer is %v, %v", is, s.Decision)
	case a.Detail.Scores[0].Decision != s.Decision:
		return "detail has another decision"
	}
	return ""
}

// faultOfClass says what is wrong with the answers to the sessions of a depression
// or anxiety score; "" if nothing is. A rated score is of a model whose base rate
// was given.
func faultOfClass(s *screen.Score, own *screen.Thresholds, rated bool) string {
	p, from := s.Probability, screen.SeverityOf(s.Category, screen.PositiveTotal)
	product := screen.DepressionSeverity
	if s.Category == screen.Anxiety {
		product = screen.AnxietySeverity
	}
	a := newItem(&voicescreen.Result{Product: product, Status: screen.StatusSuccess, Scores: []screen.Score{*s}}, false).(*prediction)
	if *a.PredictedScore != s.Severity.String() {
		return "the answer has another class"
	}
	if own.Classes != nil {
		class := 1
		for _, begins := range own.Classes {
			if p >= begins {
				class++
			}
		}
		if s.Severity.Rank() != class {
			return fmt.Sprintf("class %d, want %d by the customer's thresholds", s.Severity.Rank(), class)
		}
	} else if p >= 0.5 && s.Severity < from {
		return fmt.Sprintf("class %v, want at least %v", s.Severity, from)
	}
	binary := newItem(&voicescreen.Result{Product: screen.DepressionBinary, Status: screen.StatusSuccess, Scores: []screen.Score{*s}}, false).(*prediction)
	answer := *binary.PredictedScore
	if s.Doubtful() || own.Low == nil && s.Band == screen.Open {
		if answer != "additional_consideration_required" {
			return "an open decision is answered " + answer
		}
		return ""
	}
	if own.Low != nil {
		want := map[bool]string{true: "false", false: "additional_consideration_required"}[p < *own.Low]
		if p >= *own.High {
			want = "true"
		}
		if answer != want {
			return fmt.Sprintf("answered %s, want %s by the customer's thresholds", answer, want)
		}
		return ""
	}
	switch {
	case p >= 0.5 && answer == "false":
		return "negative from one half on"
	case p >= 0.5 && rated && answer != "true":
		return "not positive from one half on, with a base rate"
	case rated && own.Classes == nil && answer == "false" && s.Severity >= from:
		return "negative beside a class that is positive"
	}
	return ""
}

// A depression score without a class, of a record that an older version wrote, does
// not let the class of anxiety take its place.
func TestPredictedScoreIsOfTheFirstCategory(t *testing.T) {
	p := newPrediction(&voicescreen.Result{Product: screen.DepressionAnxiety, Status: screen.StatusSuccess, Scores: []screen.Score{
		{Category: screen.Depression, Probability: 0.2}, {Category: screen.Anxiety, Probability: 0.2, Severity: screen.Moderate},
	}}, false)
	if p.PredictedScore != nil || p.PredictedScoreDepression != nil || *p.PredictedScoreAnxiety != "moderate" {
		t.Errorf("got %v, want no predicted_score", p)
	}
}
