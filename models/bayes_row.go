package models

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/screen"
)

// Row is the standardised features of one recording, in the order of the Features of
// a Bayes model.
type Row struct {
	Z        []float64 // standardised; a feature that was not measured has its mean given the others
	Measured []bool    // the feature counts and was measured
	Counts   []bool    // the feature is used for this recording; see BayesFeature.FixedGain
	Female   float64   // probability of a female voice
	Earlier  int       // number of earlier recordings of the person that were used

	alone        []float64     // Z of the measured without earlier recordings
	female, male []float64     // Z of the measured by each sex's norms
	gaps         []int         // features that were not measured
	rest         *mat.SymDense // covariance of the gaps given the measured; nil if there are none
}

// Row standardises the features of a recording, which must be of schema
// voice/1. A value that is NaN or infinite counts as not measured.
func (b *Bayes) Row(in *features.Recording) Row {
	n := len(b.file.Features)
	r := Row{
		Z: make([]float64, n), Measured: make([]bool, n), Counts: make([]bool, n),
		Female: b.probablyFemale(in), alone: make([]float64, n), female: make([]float64, n), male: make([]float64, n),
	}
	for i, x := range b.file.Features {
		r.Counts[i] = in.FixedGain || !x.FixedGain
		value := in.Features.Values[b.index[i]]
		if !r.Counts[i] || !dsp.Finite(value) {
			r.gaps = append(r.gaps, i)
			continue
		}
		r.Measured[i] = true
		var used int
		r.female[i], used = b.standard(i, x.Female, value, in.Earlier)
		r.male[i], _ = b.standard(i, x.Male, value, in.Earlier)
		r.Z[i] = r.Female*r.female[i] + (1-r.Female)*r.male[i]
		r.alone[i] = r.Female*b.at(x.Female, value) + (1-r.Female)*b.at(x.Male, value)
		r.Earlier = max(r.Earlier, used)
	}
	b.infer(&r)
	return r
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
		if v.Schema == features.VoiceSchema() && dsp.Finite(v.Values[b.index[i]]) {
			mean += b.at(norm, v.Values[b.index[i]])
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

// infer sets the z of the features that were not measured, and their covariance:
// given the measured z of a normal distribution with correlation R, the others have
// mean R₂₁·R₁₁⁻¹·z and covariance R₂₂ − R₂₁·R₁₁⁻¹·R₁₂.
func (b *Bayes) infer(r *Row) {
	if len(r.gaps) == 0 {
		return
	}
	have := r.measured()
	r.rest = b.correlations(r.gaps)
	if len(have) == 0 {
		return
	}
	across := mat.NewDense(len(have), len(r.gaps), nil)
	for i, a := range have {
		for j, c := range r.gaps {
			across.Set(i, j, b.file.Correlation[a][c])
		}
	}
	var chol mat.Cholesky
	var solved mat.Dense
	if !chol.Factorize(b.correlations(have)) || chol.SolveTo(&solved, across) != nil {
		return // impossible: Check requires a positive definite correlation
	}
	for j, gap := range r.gaps {
		for i, a := range have {
			r.Z[gap] += solved.At(i, j) * r.Z[a]
		}
	}
	for i := range r.gaps {
		for j := range i + 1 {
			v := r.rest.At(i, j)
			for k := range have {
				v -= across.At(k, i) * solved.At(k, j)
			}
			r.rest.SetSym(i, j, v)
		}
	}
}

// measured returns the indexes of the features that were measured.
func (r *Row) measured() []int {
	var have []int
	for i, ok := range r.Measured {
		if ok {
			have = append(have, i)
		}
	}
	return have
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
