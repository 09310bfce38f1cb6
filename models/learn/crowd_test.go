package learn

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/screen"
)

// crowd is people whose voices differ from the norms in a known way.
type crowd struct {
	shift, scale float64   // of every feature, in standard deviations of the norm
	more         []float64 // shift of each feature besides; may be nil
	correlation  [][]float64
	ways         []screen.Speech // in turn; 0 for free speech that is not given
	unsexed      int             // of so many people one does not give the sex; 0 for none
	seconds      float64         // of speech; 0 for so much that there is no sampling error
}

// voices draws n people with one recording each.
func (c *crowd) voices(t testing.TB, f *models.BayesFile, n int, seed uint64) []Voice {
	t.Helper()
	r := c.correlation
	if r == nil {
		r = f.Correlation
	}
	var chol mat.Cholesky
	s := mat.NewSymDense(len(r), nil)
	for i := range r {
		for j := range i + 1 {
			s.SetSym(i, j, r[i][j])
		}
	}
	if !chol.Factorize(s) {
		t.Fatal("the correlations are not positive definite")
	}
	var root mat.TriDense
	chol.LTo(&root)
	rng := rand.New(rand.NewPCG(seed, 77))
	out := make([]Voice, n)
	for i := range out {
		in := &features.Recording{Features: features.VoiceSchema().Vector(nil), FixedGain: true, Speech: screen.FreeSpeech}
		if len(c.ways) > 0 {
			in.Speech = c.ways[i%len(c.ways)]
		}
		g := int(max(in.Speech, 1)) - 1
		in.Metadata.Gender = screen.Female
		if rng.IntN(2) == 0 {
			g += numWays
			in.Metadata.Gender = screen.Male
		}
		e := make([]float64, len(r))
		for k := range e {
			e[k] = rng.NormFloat64()
		}
		const endless = 1e9
		in.Features.Values[in.Features.Schema.Index("speech.duration_s")] = cmp.Or(c.seconds, endless)
		for k := range f.Features {
			x := &f.Features[k]
			var z float64
			for l := range k + 1 {
				z += root.At(k, l) * e[l]
			}
			if c.seconds > 0 {
				z += math.Sqrt(noiseOf(f, x, in)) * rng.NormFloat64()
			}
			z = c.shift + c.scale*z
			if c.more != nil {
				z += c.more[k]
			}
			norm := spreadOf(x, g)
			x.Put(in.Features, norm.Center+norm.Scale*z)
		}
		for _, x := range f.Sex {
			if at := in.Features.Schema.Index(x.Name); math.IsNaN(in.Features.Values[at]) {
				norm := x.Female
				if g >= numWays {
					norm = x.Male
				}
				in.Features.Values[at] = math.Exp(norm.Center + norm.Scale*rng.NormFloat64())
			}
		}
		if c.unsexed > 0 && i%c.unsexed == 0 {
			in.Metadata.Gender = 0
		}
		out[i] = Voice{Account: "a", User: fmt.Sprint("u", i), Recording: in}
	}
	return out
}

func scorerOf(t testing.TB, f *models.BayesFile) *models.Bayes {
	t.Helper()
	b, err := models.NewBayes(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func adapt(t testing.TB, prior *models.BayesFile, voices []Voice, o *AdaptOptions) *Adapted {
	t.Helper()
	got, err := Adapt(t.Context(), prior, scorerOf(t, prior), voices, o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// off returns the greatest and the mean difference of norms from the prior's moved
// and scaled, over some groups: of the centers in standard deviations of the prior,
// and of the logarithms of the scales.
func off(prior, f *models.BayesFile, shift, scale float64, groups ...int) (most, mean [2]float64) {
	for i := range f.Features {
		for _, g := range groups {
			is, was := spreadOf(&f.Features[i], g), spreadOf(&prior.Features[i], g)
			for k, d := range []float64{(is.Center-was.Center)/was.Scale - shift, math.Log(is.Scale / was.Scale / scale)} {
				most[k] = max(most[k], math.Abs(d))
				mean[k] += d / float64(len(f.Features)*len(groups))
			}
		}
	}
	return most, mean
}

// other is a correlation that is not that of the shipped models: half of it, and half
// of 0.3 between all.
func other(f *models.BayesFile) [][]float64 {
	out := make([][]float64, len(f.Correlation))
	for i, row := range f.Correlation {
		out[i] = make([]float64, len(row))
		for j, v := range row {
			out[i][j] = 0.5*v + 0.15
			if i == j {
				out[i][j] = 1
			}
		}
	}
	return out
}

func correlationOff(a, b [][]float64) (most float64) {
	for i := range a {
		for j := range a {
			most = max(most, math.Abs(a[i][j]-b[i][j]))
		}
	}
	return most
}
