package simulate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// TestRecordingsWithoutLabels is the study of what they give, in small: in a population
// that is measured otherwise than that of the norms, 200 recordings bring the intervals
// to the truth, and cost nothing in an ordinary one.
func TestRecordingsWithoutLabels(t *testing.T) {
	t.Parallel()
	const people = 200
	populations, leastCover, mostECE := *scale*cost.Sized(6, 4), cost.Sized(0.85, 0.8), cost.Sized(0.03, 0.04)
	mostLost := cost.Sized(0.002, 0.004) // AUC where the norms are right but for one shift of all features
	for _, c := range []screen.Category{screen.Depression, screen.Anxiety} {
		got, err := Adapt(t.Context(), shippedModel(t, c).File(), &AdaptOptions{Recordings: []int{0, people}, Populations: populations, Test: cost.Sized(200, 60), Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range got {
			t.Logf("%v: %+v", c, u)
			switch {
			case u.Recordings == 0:
				if u.Used.Value != 0 || u.More.Value != 0 {
					t.Errorf("%v, no recordings: got %+v, want the prior", c, u)
				}
				if u.Scenario != ScenarioOrdinary && !u.Stated && u.Covered.Value > 0.55 {
					t.Errorf("%v: got coverage %+v of the prior's norms, want a population in which they fail", c, u.Covered)
				}
			case u.Scenario == ScenarioOrdinary:
				if u.More.Value < -mostLost || u.Covered.Value+u.Covered.SE < leastCover {
					t.Errorf("%v, ordinary: got %+v, want an AUC that is at most %v lower, and coverage of %v within its standard error", c, u, mostLost, leastCover)
				}
			case u.Scenario == ScenarioDrift:
				if u.More.Value < -mostLost || u.Covered.Value+u.Covered.SE < leastCover || u.Stated && u.ECE.Value > mostECE || u.Used.Value < 0.9 {
					t.Errorf("%v, drifted: got %+v, want an AUC that is at most %v lower, coverage of %v, and where the base rate is stated a calibration error of at most %v", c, u, mostLost, leastCover, mostECE)
				}
			default:
				if u.Covered.Value+u.Covered.SE < leastCover || u.More.Value+u.More.SE < 0 || u.Stated && u.ECE.Value > mostECE || u.Used.Value < 0.9 {
					t.Errorf("%v, measured otherwise: got %+v, want coverage of %v, an AUC not below the prior's, and where the base rate is stated a calibration error of at most %v", c, u, leastCover, mostECE)
				}
			}
		}
	}
}

// TestMeasuredOtherwise compares what is drawn with what the population is to be.
func TestMeasuredOtherwise(t *testing.T) {
	const people, tolerance = 20_000, 0.04
	f := shippedModel(t, screen.Depression).File()
	p := newPopulation(f, rand.New(rand.NewPCG(1, 1))).measuredOtherwise()
	if got := p.share(); math.Abs(got-driftShare) > 1e-6 {
		t.Errorf("got a share of %v, want %v", got, driftShare)
	}
	var sum, square, n, truth float64
	const a, b = 0, 3 // features
	x := &f.Features[a]
	for _, who := range p.people(people) {
		norm := x.Norms.Free.Male
		if who.Recording.Metadata.Gender == screen.Female {
			norm = x.Norms.Free.Female
		}
		truth += who.truth / people
		if who.Recording.Metadata.Gender == 0 {
			continue
		}
		z := (x.Value(who.Recording.Features) - norm.Center) / norm.Scale
		sum, square = sum+z, square+z*z
		n++
	}
	mean := sum / n
	sd := math.Sqrt(square/n - mean*mean)
	if math.Abs(mean-driftShift) > tolerance || math.Abs(sd/p.drift.spread[a]-1) > tolerance || math.Abs(truth-driftShare) > 0.01 {
		t.Errorf("got mean %.3f, spread %.3f and share %.3f, want %.2f, %.3f and %.2f", mean, sd, truth, driftShift, p.drift.spread[a], driftShare)
	}
	if p.correlation[a][b] == f.Correlation[a][b] {
		t.Error("the correlation is that of the norms")
	}
}

// TestLabelsOnAdaptedNorms learns from labels in populations that are measured
// otherwise, at a base rate that is stated, with the shipped norms and with norms that
// were adapted to these people and as many others before: the labels are worth no less.
func TestLabelsOnAdaptedNorms(t *testing.T) {
	t.Parallel()
	const people, labels = 300, 150
	populations, test := *scale*cost.Sized(8, 2), cost.Sized(400, 100)
	base := shippedModel(t, screen.Depression)
	var shipped, adapted struct{ auc, ece, covered float64 }
	for rep := range populations {
		p := newPopulation(base.File(), rand.New(rand.NewPCG(12, uint64(rep)))).measuredOtherwise()
		tested, recorded := p.people(test), p.people(people)
		norms, _, err := adaptedTo(t.Context(), base, recorded, p.share())
		if err != nil {
			t.Fatal(err)
		}
		former, err := base.WithBaseRate(p.share())
		if err != nil {
			t.Fatal(err)
		}
		for b, sum := range map[*models.Bayes]*struct{ auc, ece, covered float64 }{former: &shipped, norms: &adapted} {
			learned, err := inUse(t.Context(), b, examplesOf(recorded[:labels]))
			if err != nil {
				t.Fatal(err)
			}
			var truth, probability []float64
			for _, who := range tested {
				s := learned.ScoreRow(learned.Row(who.Recording), who.Recording.Features)
				truth, probability = append(truth, who.truth), append(probability, s.Probability)
				if s.Low <= who.truth && who.truth <= s.High {
					sum.covered += 1 / float64(test*populations)
				}
			}
			sum.auc += expectedAUC(probability, truth) / float64(populations)
			sum.ece += expectedECE(probability, truth) / float64(populations)
		}
	}
	t.Logf("%d labels on the shipped norms %+v, on adapted ones %+v", labels, shipped, adapted)
	if adapted.auc < shipped.auc-0.002 || adapted.ece > shipped.ece || adapted.covered < 0.88 {
		t.Errorf("%d labels: got %+v on adapted norms, want an AUC and a calibration error not worse than on the shipped ones, %+v, and a coverage of 0.88", labels, adapted, shipped)
	}
}
