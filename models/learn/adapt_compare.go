package learn

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
)

// studentNu is the degrees of freedom of the density by which norms are compared.
// Chosen: tails heavy enough that a person ten standard deviations away counts like a
// few others, and a variance that exists.
const studentNu = 5

// compare compares norms estimated from four fifths of the people with those of prior
// and former on the others, and decides.
func (a *adapter) compare(ctx context.Context, out *Adapted, former *models.Bayes, seed uint64) error {
	was := former.File()
	if !sameFeatures(a.prior, was) { // norms of an earlier version of the engine
		was = a.prior
	}
	overPrior, overFormer := make([]float64, len(a.voices)), make([]float64, len(a.voices))
	for _, fold := range stats.Folds(a.group, adaptFolds, seed) {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, _, _, err := a.estimate(fold.Train)
		if err != nil {
			return err
		}
		for _, i := range fold.Test {
			is := a.logDensity(f, i)
			overPrior[i], overFormer[i] = is-a.logDensity(a.prior, i), is-a.logDensity(was, i)
		}
	}
	all := stats.Indices(len(a.voices))
	fresh := all
	if was.Adapted != nil {
		fresh = a.after(was.Adapted.To)
	}
	out.Gain, out.OverFormer = a.gain(overPrior, all), a.gain(overFormer, fresh)
	if out.Fresh = was.Adapted != nil && out.OverFormer.People >= LeastPeople; !out.Fresh {
		out.OverFormer = a.gain(overFormer, all)
	}
	out.decide(was.Adapted != nil)
	return nil
}

// sameFeatures reports whether two models measure the same features alike.
func sameFeatures(a, b *models.BayesFile) bool {
	return slices.EqualFunc(a.Features, b.Features, func(x, y models.BayesFeature) bool {
		return x.Name == y.Name && x.Unit == y.Unit && x.Transform == y.Transform && x.FixedGain == y.FixedGain && slices.Equal(x.Of, y.Of) && x.Noise == y.Noise
	})
}

// decide sets Better and Reason. formerAdapted is whether the former norms were
// adapted to recordings.
func (out *Adapted) decide(formerAdapted bool) {
	g, f := out.Gain, out.OverFormer
	switch {
	case !(g.Mean > g.SE):
		out.Reason = fmt.Sprintf("on held-out people the log density of the features is not higher than under the shipped norms by more than a standard error: %+.3f a person, standard error %.3f, %d people", g.Mean, g.SE, g.People)
	case formerAdapted && out.Fresh && !(f.Mean >= -f.SE):
		out.Reason = fmt.Sprintf("on people recorded since the norms in use were adapted the log density of the features is lower than under those by more than a standard error: %+.3f a person, standard error %.3f, %d people", f.Mean, f.SE, f.People)
	default:
		out.Better = true
		out.Reason = fmt.Sprintf("on held-out people the log density of the features is higher than under the shipped norms by more than a standard error: %+.3f a person, standard error %.3f, %d people", g.Mean, g.SE, g.People)
	}
}

// after returns the voices of the people of whom none is of a day up to the given one.
func (a *adapter) after(day string) []int {
	seen := map[string]bool{}
	for i := range a.voices {
		if a.voices[i].Time.UTC().Format(time.DateOnly) <= day {
			seen[a.group[i]] = true
		}
	}
	var out []int
	for i := range a.voices {
		if !seen[a.group[i]] {
			out = append(out, i)
		}
	}
	return out
}

// gain returns the mean of v over the people of some voices.
func (a *adapter) gain(v []float64, index []int) Gain {
	at := map[string]int{}
	var people []float64 // in the order of their first voice: sums are to be the same each time
	for _, i := range index {
		k, seen := at[a.group[i]]
		if !seen {
			k = len(people)
			at[a.group[i]] = k
			people = append(people, 0)
		}
		people[k] += a.rows[i].weight * v[i]
	}
	g := Gain{People: len(people)}
	if g.People < 2 {
		return g
	}
	n := float64(g.People)
	var square float64
	for _, x := range people {
		g.Mean += x / n
	}
	for _, x := range people {
		square += (x - g.Mean) * (x - g.Mean)
	}
	g.SE = math.Sqrt(square / (n - 1) / n)
	return g
}

// logDensity returns the logarithm of the density of the measured features of voice i
// under the norms and the correlation of f, plus a constant: a mixture over the norms
// that the voice may belong to of Student's t with ν degrees of freedom and the
// covariance R + V, V the variances of the sampling errors (Kotz and Nadarajah 2004,
// equation 1.1, scaled to that covariance),
//
//	−½·ln|R + V| − Σ ln scale − (ν + n)/2·ln(1 + zᵀ·(R + V)⁻¹·z/(ν − 2)).
func (a *adapter) logDensity(f *models.BayesFile, i int) float64 {
	r := &a.rows[i]
	var have []int
	for k, v := range r.value {
		if !math.IsNaN(v) {
			have = append(have, k)
		}
	}
	if len(have) == 0 {
		return 0
	}
	c := mat.NewSymDense(len(have), nil)
	for x, p := range have {
		for y, q := range have[:x+1] {
			c.SetSym(x, y, f.Correlation[p][q])
		}
		c.SetSym(x, x, c.At(x, x)+r.noise[p])
	}
	var chol mat.Cholesky
	if !chol.Factorize(c) {
		return math.Inf(-1) // impossible: the correlation is positive definite
	}
	half := chol.LogDet() / 2
	z, solved := mat.NewVecDense(len(have), nil), mat.NewVecDense(len(have), nil)
	n := float64(len(have))
	total := math.Inf(-1)
	for g, share := range before(a.prior, a.voices[i].Recording) {
		if share == 0 {
			continue
		}
		l := math.Log(share) - half
		for k, p := range have {
			s := spreadOf(&f.Features[p], g)
			z.SetVec(k, min(max((r.value[p]-s.Center)/s.Scale, -farthest), farthest))
			l -= math.Log(s.Scale)
		}
		if chol.SolveVecTo(solved, z) != nil {
			return math.Inf(-1)
		}
		l -= (studentNu + n) / 2 * math.Log1p(mat.Dot(z, solved)/(studentNu-2))
		total = dsp.LogAdd(total, l)
	}
	return total
}

// farthest is beyond which a standardised value does not count as farther: it makes
// infinite values finite.
const farthest = 1e3
