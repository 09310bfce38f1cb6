package learn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/shipped"
	"github.com/voicescreen/voicescreen/screen"
)

// shippedFile is the shipped model of a category that learns.
func shippedFile(t testing.TB, c screen.Category) *models.BayesFile {
	t.Helper()
	f, err := shipped.Bayes(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// population40 draws labelled people, 40 % of whom have a score of 10 or more,
// by the definition of the model: voices of either sex with the norms and the
// correlations of the file, and bands by proportional odds of parameters that
// the file holds possible.
func population40(t testing.TB, f *models.BayesFile, n int, seed uint64) []Example {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, seed))
	w, theta := Draw(f, rng)
	p := len(w)
	r := mat.NewSymDense(p, nil)
	var variance float64
	for i := range p {
		for j := range p {
			r.SetSym(i, j, f.Correlation[i][j])
			variance += w[i] * w[j] * f.Correlation[i][j]
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(r) {
		t.Fatal("the correlations are not those of anything")
	}
	var root mat.TriDense
	chol.LTo(&root)
	move := models.NormalThreshold(math.Sqrt(variance), 0.4) - theta[models.DecisionBand]
	out := make([]Example, n)
	for i := range out {
		e := make([]float64, p)
		for j := range e {
			e[j] = rng.NormFloat64()
		}
		v := features.VoiceSchema().Vector(nil)
		female := rng.IntN(2) == 0
		gender := map[bool]screen.Gender{true: screen.Female, false: screen.Male}[female]
		norm := func(female, male models.Spread) models.Spread {
			if gender == screen.Female {
				return female
			}
			return male
		}
		var eta float64
		for j, x := range f.Features {
			var z float64
			for k := range j + 1 {
				z += root.At(j, k) * e[k]
			}
			s := norm(x.Norms.Free.Female, x.Norms.Free.Male)
			x.Put(v, s.Center+s.Scale*z)
			eta += w[j] * min(max(z, -f.Clip), f.Clip)
		}
		for _, x := range f.Sex {
			if i := v.Schema.Index(x.Name); math.IsNaN(v.Values[i]) {
				s := norm(x.Female, x.Male)
				v.Values[i] = math.Exp(s.Center + s.Scale*rng.NormFloat64())
			}
		}
		in := &features.Recording{Features: v, FixedGain: true, Speech: screen.FreeSpeech}
		if rng.IntN(5) > 0 { // of one in five the sex is not said
			in.Metadata.Gender = gender
		}
		label, u := Label{Kind: PHQ9}, rng.Float64()
		band := 0
		for k, at := range theta {
			if u < dsp.Logistic(eta-at-move) {
				band = k + 1
			}
		}
		label.Likelihood[band] = 1
		out[i] = Example{User: fmt.Sprint("u", i), Recording: in, Label: label}
	}
	return out
}

func each(e []Example, change func(*Example)) {
	for i := range e {
		change(&e[i])
	}
}
