package simulate

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/learn"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

var scale = flag.Int("scale", 1, "simulate so many `times` the usual number of populations")

// shippedModel is the shipped prior of a category.
func shippedModel(t *testing.T, c screen.Category) *models.Bayes {
	t.Helper()
	f, err := shipped.Bayes(c)
	if err != nil {
		t.Fatal(err)
	}
	b, err := models.NewBayes(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestIntervalsCoverTheTruth draws populations that the prior holds possible:
// in them the truth is to lie in the 90 % interval as often as that says.
func TestIntervalsCoverTheTruth(t *testing.T) {
	t.Parallel()
	const want, tolerance = 0.90, 0.03
	for _, c := range []screen.Category{screen.Depression, screen.Anxiety} {
		base := shippedModel(t, c)
		for n, populations := range cost.Sized(map[int]int{0: 200, 100: 50, 1000: 10}, map[int]int{0: 40, 100: 10, 1000: 3}) {
			share, se, err := cover(t.Context(), base, n, populations**scale, 1, posterior)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v, %d labels: %.3f ± %.3f", c, n, share, se)
			if math.Abs(share-want) > tolerance+2*se { // se is of chance: two of it, as there are six shares
				t.Errorf("%v, %d labels: got coverage %.3f, want %.2f within %.2f", c, n, share, want, tolerance)
			}
		}
	}
}

// TestSimulation is the study in small: what holds for the means over a few
// populations of it.
func TestSimulation(t *testing.T) {
	t.Parallel()
	labels, mostECE, mostLost := cost.Sized(2000, 400), cost.Sized(0.02, 0.04), cost.Sized(0.02, 0.04)
	belowPrior := cost.Sized(0, 0.01) // 100 people of one population cannot tell 0.01
	s, err := Run(t.Context(), shippedModel(t, screen.Depression).File(), &Options{Labels: []int{0, labels}, Replicates: *scale * cost.Sized(2, 1), Test: cost.Sized(400, 100), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]map[int]Row{}
	for _, r := range s.Rows {
		t.Logf("%+v", r)
		if rows[r.Scenario] == nil {
			rows[r.Scenario] = map[int]Row{}
		}
		rows[r.Scenario][r.Labels] = r
	}
	if r := rows[ScenarioKnown][labels]; r.ECE > mostECE || r.Active < r.Prior-belowPrior || r.Oracle-r.Active > mostLost {
		t.Errorf("as the prior says: got %+v, want a calibration error of at most %v and an AUC near the oracle's", r, mostECE)
	}
	if r := rows[ScenarioNoSignal][labels]; r.Active < r.Prior-0.01 {
		t.Errorf("labels at random: got AUC %.3f, want at least that of the prior, %.3f, less 0.01", r.Active, r.Prior)
	}
	before, after := rows[ScenarioDrift][0], rows[ScenarioDrift][labels]
	if before.Covered > 0.75 || after.Covered < 0.80 || before.ECE < 0.1 || after.ECE > mostECE || after.Active < before.Active || after.Oracle-after.Active > mostLost {
		t.Errorf("drifted: got %+v, then %+v, want it to recover", before, after)
	}
}

// TestExpectedFigures compares with outcomes drawn many times.
func TestExpectedFigures(t *testing.T) {
	const draws, tolerance = 2000, 0.01
	rng := rand.New(rand.NewPCG(5, 6))
	truth, scores := make([]float64, 60), make([]float64, 60)
	for i := range truth {
		truth[i] = rng.Float64()
		scores[i] = math.Round(10*(truth[i]+rng.NormFloat64()/2)) / 10 // with ties
	}
	var mean float64
	for range draws {
		y := make([]bool, len(truth))
		for i := range y {
			y[i] = rng.Float64() < truth[i]
		}
		auc := 0.0
		for i := range y {
			for j := range y {
				if y[i] && !y[j] {
					auc += float64(stats.Indicator(scores[i] > scores[j])) + float64(stats.Indicator(scores[i] == scores[j]))/2
				}
			}
		}
		mean += auc
	}
	// A person is not compared with themselves; here they are, as a tie.
	var self float64
	for _, p := range truth {
		self += p * (1 - p) / 2
	}
	var below, above float64
	for _, p := range truth {
		above += p
		below += 1 - p
	}
	if got, want := expectedAUC(scores, truth), (mean/draws+self)/(above*below); math.Abs(got-want) > tolerance {
		t.Errorf("got AUC %.4f, want %.4f", got, want)
	}
	if got := expectedECE([]float64{0.15, 0.15, 0.95}, []float64{0, 0.2, 0.9}); math.Abs(got-(0.1+0.05)/3) > 1e-12 {
		t.Errorf("got ECE %v, want 0.05", got)
	}
}

// TestRepeatedUsersDoNotNarrowTheIntervals draws populations in which each
// person comes three times, with a voice of which half stays and a label that
// is the first one's, given the voice, seven times out of ten. Intervals of
// people who were never seen are to cover the truth no less often than they
// say; counting each session as a person they would not.
func TestRepeatedUsersDoNotNarrowTheIntervals(t *testing.T) {
	t.Parallel()
	const users, sessions = 200, 3
	populations, least := *scale*cost.Sized(30, 10), cost.Sized(0.87, 0.82)
	const repeat = 0.7 // share of the labels of a person that stay: what learn supposes
	base := shippedModel(t, screen.Depression)
	var weighted, each float64
	for rep := range populations {
		p := newPopulation(base.File(), rand.New(rand.NewPCG(9, uint64(rep))))
		var examples []learn.Example
		for u := range users {
			trait, _ := p.voice()
			luck := p.rng.Float64()
			for s := range sessions {
				z, in := p.voice()
				var eta float64
				for j, x := range base.File().Features {
					z[j] = (z[j] + trait[j]) / math.Sqrt2
					norm := x.Norms.Free.Male
					if in.Metadata.Gender == screen.Female {
						norm = x.Norms.Free.Female
					}
					x.Put(in.Features, norm.Center+norm.Scale*z[j])
					eta += p.weight[j] * min(max(z[j], -base.File().Clip), base.File().Clip)
				}
				if in.Metadata.Gender == 0 {
					in.Metadata.Gender = screen.Male
				}
				if s > 0 && p.rng.Float64() > repeat {
					luck = p.rng.Float64()
				}
				var l learn.Label
				for k, theta := range p.theta {
					if k == 0 || luck < dsp.Logistic(eta-theta) {
						l = learn.Label{Kind: learn.PHQ9}
						l.Likelihood[k+stats.Indicator(luck < dsp.Logistic(eta-theta))] = 1
					}
				}
				examples = append(examples, learn.Example{User: fmt.Sprint(u), Recording: in, Label: l})
			}
		}
		apart := slices.Clone(examples)
		for i := range apart {
			apart[i].User = fmt.Sprint(i)
		}
		seen := p.people(coverPeople)
		for _, c := range []struct {
			examples []learn.Example
			share    *float64
		}{{examples, &weighted}, {apart, &each}} {
			b, err := learn.Posterior(base, c.examples)
			if err != nil {
				t.Fatal(err)
			}
			for _, who := range seen {
				s := b.ScoreRow(b.Row(who.Recording), who.Recording.Features)
				*c.share += float64(stats.Indicator(s.Low <= who.truth && who.truth <= s.High)) / float64(len(seen)*populations)
			}
		}
	}
	t.Logf("coverage %.3f, counting each session as a person %.3f", weighted, each)
	if weighted < least || weighted < each {
		t.Errorf("got coverage %.3f, and %.3f counting each session as a person, want at least %.2f and the first larger", weighted, each, least)
	}
}
