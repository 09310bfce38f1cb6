package fit

import (
	"bytes"
	"flag"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/models"
)

var update = flag.Bool("update", false, "write the shipped model files of the priors")

// shippedPriors lists the shipped files that are priors.
var shippedPriors = map[string]func() *Prior{
	"../files/depression.json": DepressionPrior,
	"../files/anxiety.json":    AnxietyPrior,
}

// TestShippedPriorsAreMadeHere holds the shipped files to what this package
// makes of the effects and the norms, byte for byte.
func TestShippedPriorsAreMadeHere(t *testing.T) {
	norms, err := ShippedNorms()
	if err != nil {
		t.Fatal(err)
	}
	for path, prior := range shippedPriors {
		f, err := prior().File(norms)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := f.Write(&want); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s is not what the prior makes; run go test ./models/fit -update", path)
		}
	}
}

// rounding is what four decimals of every weight, threshold and cut may move
// a share of people.
const rounding = 1e-3

// gridStep is the largest weight of one point of overNormal: what a share up to
// some point may be wrong by.
const gridStep = 0.02

// TestPriorKeepsItsPromises integrates over the population of the norms.
func TestPriorKeepsItsPromises(t *testing.T) {
	norms, err := ShippedNorms()
	if err != nil {
		t.Fatal(err)
	}
	for _, prior := range shippedPriors {
		p := prior()
		f, err := p.File(norms)
		if err != nil {
			t.Fatal(err)
		}
		var variance float64
		for _, a := range f.Features {
			for _, b := range f.Features {
				variance += a.Weight * b.Weight * norms.correlation(a.Name, b.Name)
			}
		}
		s := math.Sqrt(variance)
		if got := normalCDF(s / math.Sqrt2); math.Abs(got-p.AUC) > rounding {
			t.Errorf("%s: got AUC %.4f, want %.4f", p.Name, got, p.AUC)
		}
		shares := make([]float64, len(p.AtLeast))
		var undecided, negative, below, hit, above float64
		cut := f.Link.Cuts[p.Decision-1]
		overNormal(s, func(eta, w float64) {
			for k, theta := range f.Link.Thresholds {
				shares[k] += w * logistic(eta-theta)
			}
			q := logistic(eta - f.Link.Thresholds[p.Decision-1])
			if q >= f.Indeterminate.Low && q <= f.Indeterminate.High {
				undecided += w
			}
			below += w * (1 - q)
			above += w * q
			if eta < cut {
				negative += w * (1 - q)
			} else {
				hit += w * q
			}
		})
		for k, want := range p.AtLeast {
			if math.Abs(shares[k]-want) > rounding {
				t.Errorf("%s: got a share of %.4f above threshold %d, want %.4f", p.Name, shares[k], k+1, want)
			}
		}
		if math.Abs(undecided-p.Undecided) > gridStep {
			t.Errorf("%s: got a share of %.3f undecided, want %.3f", p.Name, undecided, p.Undecided)
		}
		if got := negative / below; math.Abs(got-p.Specificity) > gridStep {
			t.Errorf("%s: got specificity %.3f, want %.3f", p.Name, got, p.Specificity)
		}
		// Of two normal distributions s apart: Φ(s − Φ⁻¹(specificity)).
		if got, want := hit/above, normalCDF(s-normalQuantile(p.Specificity)); math.Abs(got-want) > 2*gridStep {
			t.Errorf("%s: got sensitivity %.3f, want %.3f", p.Name, got, want)
		}
		t.Logf("%s: sensitivity %.3f, specificity %.3f", p.Name, hit/above, negative/below)
		if !slices.IsSorted(f.Link.Cuts) {
			t.Errorf("%s: cuts %v do not ascend", p.Name, f.Link.Cuts)
		}
	}
}

// TestPriorDirections says that every finding moves the score as the evidence
// has it, each feature on its own.
func TestPriorDirections(t *testing.T) {
	norms, err := ShippedNorms()
	if err != nil {
		t.Fatal(err)
	}
	for _, prior := range shippedPriors {
		p := prior()
		f, err := p.File(norms)
		if err != nil {
			t.Fatal(err)
		}
		l, err := models.NewLinear(f)
		if err != nil {
			t.Fatal(err)
		}
		score := func(feature string, z float64) float64 {
			s := models.VoiceSchema()
			v := models.Vector{Schema: s, Values: make([]float64, s.Len())}
			for _, x := range f.Features {
				v.Values[s.Index(x.Name)] = x.Center
				if x.Name == feature {
					v.Values[s.Index(x.Name)] += z * x.Scale
				}
			}
			return l.ScoreVector(v).Probability
		}
		for _, e := range p.Effects {
			diff := score(e.Feature, 1) - score(e.Feature, -1)
			if diff*e.D < 0 || (e.D == 0) != (diff == 0) {
				t.Errorf("%s: %s raises the probability by %.4f, want the sign of %.2f", p.Name, e.Feature, diff, e.D)
			}
		}
	}
}
