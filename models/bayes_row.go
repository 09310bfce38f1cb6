package models

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
)

// Row is the standardised features of one recording, in the order of the Features of
// a Bayes model.
type Row struct {
	// Z is what much speech of the person would show, in standard deviations: the
	// mean given all measured features, each with its sampling error.
	Z        []float64
	Measured []bool    // the feature counts and was measured
	Counts   []bool    // the feature is used for this recording; see BayesFeature.FixedGain
	Female   float64   // probability of a female voice
	Speech   []float64 // probability of each of screen.Speeches
	Earlier  int       // number of earlier recordings of the person that were used

	alone []float64     // of the measured: z as measured, without earlier recordings
	noise []float64     // of the measured: variance of the sampling error
	norms []underNorm   // the norms that the recording may belong to
	rest  *mat.SymDense // covariance of the standardised features around Z; nil if all are exact
}

// underNorm is the standardised features of a recording by one norm.
type underNorm struct {
	share float64   // probability that the recording belongs to the norm
	z     []float64 // as Row.Z
}

// Row standardises the features of a recording, which must be of schema
// voice/1. A value that is NaN or infinite counts as not measured.
func (b *Bayes) Row(in *features.Recording) Row {
	n := len(b.file.Features)
	r := Row{
		Z: make([]float64, n), Measured: make([]bool, n), Counts: make([]bool, n),
		Female: b.probablyFemale(in), Speech: make([]float64, numSpeech), alone: make([]float64, n), noise: make([]float64, n),
	}
	speech := in.Features.Get("speech.duration_s")
	value := make([]float64, n)
	exact := true
	for i := range b.file.Features {
		x := &b.file.Features[i]
		r.Counts[i] = in.FixedGain || !x.FixedGain
		value[i] = x.Value(in.Features)
		r.Measured[i] = r.Counts[i] && !math.IsNaN(value[i])
		if r.Measured[i] {
			r.noise[i] = x.Sampling.At(speech, b.file.SampledAt)
		}
		exact = exact && r.Measured[i] && r.noise[i] == 0
	}
	for sex, share := range [2]float64{r.Female, 1 - r.Female} {
		if share == 0 {
			continue
		}
		ways := b.probableSpeech(in, sex, &r, value)
		for way, p := range ways {
			r.Speech[way] += share * p
			if p > 0 {
				r.norms = append(r.norms, b.under(in, norm{sex, screen.Speeches()[way]}, share*p, &r, value))
			}
		}
	}
	if !exact {
		b.infer(&r)
	}
	for _, u := range r.norms {
		for i, z := range u.z {
			r.Z[i] += u.share * z
		}
	}
	return r
}

// norm identifies one norm of every feature.
type norm struct {
	sex    int // 0 female, 1 male
	speech screen.Speech
}

// of returns the spread of a feature by the norm.
func (n norm) of(x *BayesFeature) Spread {
	if n.sex == 0 {
		return x.Norms.Of(n.speech).Female
	}
	return x.Norms.Of(n.speech).Male
}

// under returns the measured features of a recording standardised by a norm. It adds
// what is the same for all norms, and the mean of what is not, to r.
func (b *Bayes) under(in *features.Recording, n norm, share float64, r *Row, value []float64) underNorm {
	u := underNorm{share, make([]float64, len(value))}
	for i := range b.file.Features {
		if !r.Measured[i] {
			continue
		}
		s := n.of(&b.file.Features[i])
		var used int
		u.z[i], used = b.standard(i, s, value[i], in.Earlier)
		r.alone[i] += share * b.at(s, value[i])
		r.Earlier = max(r.Earlier, used)
	}
	return u
}

// probableSpeech returns the probability of each way of speaking given the sex: that
// of the recording, or the weights of the file times the density of the features
// that distinguish the ways. These are assumed to be normal with the file's
// correlation, plus their sampling error.
func (b *Bayes) probableSpeech(in *features.Recording, sex int, r *Row, value []float64) (p [numSpeech]float64) {
	if in.Speech.Valid() {
		p[in.Speech-1] = 1
		return p
	}
	p = b.file.Speech.of()
	var have []int
	for _, i := range b.ways {
		if r.Measured[i] {
			have = append(have, i)
		}
	}
	if len(have) == 0 {
		return p
	}
	var chol mat.Cholesky
	if !chol.Factorize(b.observed(have, r.noise)) {
		return p // impossible: Check requires a positive definite correlation
	}
	var density [numSpeech]float64
	z, solved := mat.NewVecDense(len(have), nil), mat.NewVecDense(len(have), nil)
	for way, s := range screen.Speeches() {
		for k, i := range have {
			spread := norm{sex, s}.of(&b.file.Features[i])
			z.SetVec(k, b.at(spread, value[i]))
			density[way] -= math.Log(spread.Scale)
		}
		if chol.SolveVecTo(solved, z) != nil {
			return p
		}
		density[way] -= mat.Dot(z, solved) / 2
	}
	return given(p, density)
}

// given returns the weights w times the exponentials of density, as shares.
func given(w, density [numSpeech]float64) [numSpeech]float64 {
	var sum float64
	most := slices.Max(density[:])
	for k := range w {
		w[k] *= math.Exp(density[k] - most)
		sum += w[k]
	}
	if !(sum > 0) { // the most probable way has no weight, the others are too improbable
		return [numSpeech]float64{1. / numSpeech, 1. / numSpeech, 1. / numSpeech}
	}
	for k := range w {
		w[k] /= sum
	}
	return w
}

// at returns the z of a value by a norm, clipped.
func (b *Bayes) at(norm Spread, v float64) float64 {
	return min(max((v-norm.Center)/norm.Scale, -b.file.Clip), b.file.Clip)
}

// standard returns the z of feature i by a norm, and the number of earlier recordings
// that were used. See Bayes for the formula.
func (b *Bayes) standard(i int, norm Spread, value float64, earlier []features.Vector) (z float64, used int) {
	z = b.at(norm, value)
	var mean, m float64
	for _, v := range earlier {
		if v.Schema != features.VoiceSchema() {
			continue
		}
		if x := b.file.Features[i].Value(v); !math.IsNaN(x) {
			mean += b.at(norm, x)
			m++
		}
	}
	if m == 0 || b.file.Baseline == 0 {
		return z, 0
	}
	rho := b.file.Features[i].Stability
	if rho > 0 {
		predict := rho / (rho + (1-rho)/m)
		left := 1 - rho*predict
		change := min(max((z-predict*mean/m)/math.Sqrt(left), -b.file.Clip), b.file.Clip) / math.Sqrt(left)
		z = (1-b.file.Baseline)*z + b.file.Baseline*change
	}
	return z, int(m)
}

// probablyFemale returns the probability of a female voice: 1 or 0 if the metadata
// has Female or Male, otherwise that given the voice, with a prior of 0.5.
func (b *Bayes) probablyFemale(in *features.Recording) float64 {
	switch in.Metadata.Gender {
	case screen.Female:
		return 1
	case screen.Male:
		return 0
	}
	var odds float64
	for i, x := range b.file.Sex {
		v := math.Log(in.Features.Values[b.sex[i]])
		if dsp.Finite(v) {
			odds += x.Female.logDensity(v) - x.Male.logDensity(v)
		}
	}
	// Some women have a voice like a man's, which a normal distribution makes too
	// improbable. Chosen: an error of at least one in a thousand.
	const doubt = 1e-3
	return doubt + (1-2*doubt)*dsp.Logistic(odds)
}

// logDensity returns the logarithm of the normal density, up to a constant.
func (s Spread) logDensity(x float64) float64 {
	z := (x - s.Center) / s.Scale
	return -z*z/2 - math.Log(s.Scale)
}

// infer sets what the measured features say about all features. With R the
// correlation, V the variances of the sampling errors, and h the measured features,
// the standardised features given the measured z have (Bishop 2006, eq. 2.116)
//
//	mean R₌ₕ·(Rₕₕ + V)⁻¹·z and covariance R − R₌ₕ·(Rₕₕ + V)⁻¹·Rₕ₌,
//
// where = stands for all features. Without sampling errors the measured keep their z.
func (b *Bayes) infer(r *Row) {
	o := b.observationOf(r)
	r.rest = o.rest
	if o.chol == nil {
		return
	}
	z, a := mat.NewVecDense(len(o.have), nil), mat.NewVecDense(len(o.have), nil)
	for _, u := range r.norms {
		for k, i := range o.have {
			z.SetVec(k, u.z[i])
		}
		if o.chol.SolveVecTo(a, z) != nil { // a = (Rₕₕ + V)⁻¹·z
			return
		}
		for _, i := range o.gaps {
			for k, h := range o.have {
				u.z[i] += b.file.Correlation[i][h] * a.AtVec(k)
			}
		}
		for k, i := range o.have {
			u.z[i] -= r.noise[i] * a.AtVec(k) // Rₕₕ·a = z − V·a, exact without V
		}
	}
}

// observation is what the rows have in common that were measured in the same features
// with the same sampling errors. It is immutable.
type observation struct {
	noise      []float64     // of Row
	have, gaps []int         // indexes of the features that were measured, and of the others
	chol       *mat.Cholesky // of Rₕₕ + V; nil if nothing was measured
	rest       *mat.SymDense // of Row
}

// observationOf returns the observation of a row: that of the row before if both were
// measured alike, as recordings of equal duration are.
func (b *Bayes) observationOf(r *Row) *observation {
	have, gaps := r.measured()
	if o := b.last.Load(); o != nil && slices.Equal(o.have, have) && slices.Equal(o.noise, r.noise) {
		return o
	}
	o := b.observe(have, gaps, r.noise)
	b.last.Store(o)
	return o
}

// observe computes an observation.
func (b *Bayes) observe(have, gaps []int, noise []float64) *observation {
	n := len(b.file.Features)
	o := &observation{noise: noise, have: have, gaps: gaps, rest: mat.NewSymDense(n, nil)}
	o.rest.CopySym(symmetric(b.file.Correlation))
	if len(have) == 0 {
		return o
	}
	var chol mat.Cholesky
	if !chol.Factorize(b.observed(have, noise)) {
		return o // impossible: Check requires a positive definite correlation
	}
	across := mat.NewDense(len(have), n, nil) // Rₕ₌
	for k, i := range have {
		across.SetRow(k, b.file.Correlation[i])
	}
	var gain mat.Dense // (Rₕₕ + V)⁻¹·Rₕ₌
	if chol.SolveTo(&gain, across) != nil {
		return o
	}
	o.chol = &chol
	for i := range n {
		for j := range i + 1 {
			v := o.rest.At(i, j)
			for k := range have {
				v -= across.At(k, i) * gain.At(k, j)
			}
			o.rest.SetSym(i, j, v)
		}
	}
	return o
}

// measured returns the indexes of the features that were measured, and of the others.
func (r *Row) measured() (have, gaps []int) {
	for i, ok := range r.Measured {
		if ok {
			have = append(have, i)
		} else {
			gaps = append(gaps, i)
		}
	}
	return have, gaps
}

// correlations returns the correlation matrix of some features, at least one.
func (b *Bayes) correlations(of []int) *mat.SymDense {
	r := mat.NewSymDense(len(of), nil)
	for i, a := range of {
		for j, c := range of[:i+1] {
			r.SetSym(i, j, b.file.Correlation[a][c])
		}
	}
	return r
}

// observed returns the covariance matrix of some features, at least one, as
// measured: the correlations, and the variances noise of the sampling errors.
func (b *Bayes) observed(of []int, noise []float64) *mat.SymDense {
	r := b.correlations(of)
	for k, i := range of {
		r.SetSym(k, k, r.At(k, k)+noise[i])
	}
	return r
}
