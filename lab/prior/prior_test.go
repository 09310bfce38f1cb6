package prior

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// shippedPriors are those behind the shipped models.
var shippedPriors = []func() *Prior{Depression, Anxiety}

// priorFile makes the file of a prior of the shipped norms.
func priorFile(t *testing.T, p *Prior) *models.BayesFile {
	t.Helper()
	norms, err := ShippedNorms()
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.File(norms)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestShippedPriorsAreMadeHere compares the shipped files and cards with what
// this package makes of the effects and the norms, byte for byte.
func TestShippedPriorsAreMadeHere(t *testing.T) {
	const dir = "../../models/shipped"
	norms, err := ShippedNorms()
	if err != nil {
		t.Fatal(err)
	}
	files, err := Files(dir, norms)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 4 {
		t.Errorf("got %d files, want two models and two cards", len(files))
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the prior makes; run voicelab priors", path)
		}
	}
}

// rounding is what four decimals of every weight and threshold may move a share
// of people.
const rounding = 1e-3

// gridStep is the largest weight of one point of OverNormal: what a share up to
// some point may be wrong by.
const gridStep = 0.02

// TestPriorKeepsItsPromises integrates over the population of the norms.
func TestPriorKeepsItsPromises(t *testing.T) {
	for _, prior := range shippedPriors {
		p := prior()
		f := priorFile(t, p)
		b, err := models.NewBayes(f)
		if err != nil {
			t.Fatal(err)
		}
		s := b.Spread()
		var shares [3]float64
		var undecided, negative, below, hit, above, won, lost float64
		cut := f.Cuts[len(f.Cuts)-2].Probability // of a score of 10
		models.OverNormal(s, func(eta, w float64) {
			for k, theta := range f.Thresholds {
				shares[k] += w * dsp.Logistic(eta-theta)
			}
			q := dsp.Logistic(eta - f.Thresholds[models.DecisionBand])
			if q >= f.Indeterminate.Low && q <= f.Indeterminate.High {
				undecided += w
			}
			won += w * q * (below + w*(1-q)/2)
			below += w * (1 - q)
			above += w * q
			if q < cut {
				negative += w * (1 - q)
			} else {
				hit += w * q
			}
		})
		lost = above*below - won
		if got := won / (won + lost); math.Abs(got-p.AUC) > rounding {
			t.Errorf("%s: got AUC %.4f, want %.4f", p.Name, got, p.AUC)
		}
		for k, want := range p.AtLeast {
			if math.Abs(shares[k]-want) > rounding {
				t.Errorf("%s: got a share of %.4f at %d or more, want %.4f", p.Name, shares[k], models.BandScores[k], want)
			}
		}
		if math.Abs(undecided-p.Undecided) > gridStep {
			t.Errorf("%s: got a share of %.3f undecided, want %.3f", p.Name, undecided, p.Undecided)
		}
		if got := negative / below; math.Abs(got-p.Specificity) > gridStep {
			t.Errorf("%s: got specificity %.3f, want %.3f", p.Name, got, p.Specificity)
		}
		t.Logf("%s: sd %.3f, sensitivity %.3f, specificity %.3f, of 100 positives %.1f", p.Name, s, hit/above, negative/below, 100*hit/(hit+below-negative))
	}
}

// scoreAt scores a voice in the middle of the norms of women but for one
// feature, z standard deviations off.
func scoreAt(t *testing.T, f *models.BayesFile, feature string, z float64) screen.Score {
	t.Helper()
	b, err := models.NewBayes(f)
	if err != nil {
		t.Fatal(err)
	}
	s := features.VoiceSchema()
	v := features.Vector{Schema: s, Values: make([]float64, s.Len())}
	for i := range v.Values {
		v.Values[i] = math.NaN()
	}
	for _, x := range f.Features {
		at := x.Norms.Free.Female.Center
		if x.Name == feature {
			at += z * x.Norms.Free.Female.Scale
		}
		x.Put(v, at)
	}
	got, err := b.Score(t.Context(), &features.Recording{Features: v, FixedGain: true, Speech: screen.FreeSpeech, Metadata: screen.Metadata{Gender: screen.Female}})
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

// TestPriorDirections says that every finding moves the score as the evidence
// has it, each feature on its own.
func TestPriorDirections(t *testing.T) {
	for _, prior := range shippedPriors {
		p := prior()
		f := priorFile(t, p)
		for _, e := range p.Effects {
			diff := scoreAt(t, f, e.Feature, 1).Probability - scoreAt(t, f, e.Feature, -1).Probability
			if diff*e.D < 0 || (e.D == 0) != (diff == 0) {
				t.Errorf("%s: %s raises the probability by %.4f, want the sign of %.2f", p.Name, e.Feature, diff, e.D)
			}
		}
	}
}

// TestCorrelatedEffectsShare says that two features that measure the same get
// together what one would have got.
func TestCorrelatedEffectsShare(t *testing.T) {
	spread := models.Spread{Center: 0, Scale: 1}
	norms := func(r float64) *Norms {
		return &Norms{
			Features:    []Norm{{"pause.mean_s", 99, spread, spread}, {"pause.sd_s", 99, spread, spread}, {"jitter.local", 99, spread, spread}},
			Correlation: [][]float64{{1, r, 0}, {r, 1, 0}, {0, 0, 1}},
		}
	}
	p := &Prior{Effects: []Effect{{Feature: "pause.mean_s", D: 0.3}, {Feature: "pause.sd_s", D: 0.3}, {Feature: "jitter.local", D: 0.3}}}
	for _, r := range []float64{0, 0.5, 0.99} {
		w, err := p.share(norms(r))
		if err != nil {
			t.Fatal(err)
		}
		// R⁻¹(d, d) = d/(1 + r) for each of the pair.
		if want := 0.3 / (1 + r); math.Abs(w[0]-want) > 1e-12 || math.Abs(w[1]-want) > 1e-12 || math.Abs(w[2]-0.3) > 1e-12 {
			t.Errorf("r = %v: got weights %v, want %v twice and 0.3", r, w, want)
		}
	}
	// A suppressor: R⁻¹d is negative for the weaker of two.
	p.Effects[1].D = 0.1
	w, err := p.share(norms(0.7))
	if err != nil {
		t.Fatal(err)
	}
	if !(w[0] > 0 && w[1] > 0) {
		t.Errorf("got weights %v, want none against its evidence", w)
	}
}
