package train

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
)

// covariates are the features that no model has as terms, but on which the centres of
// the others depend: a high voice has fewer harmonics, a short recording a smaller
// range. Of signal-to-noise ratio, level and noise of bands, share of activity and
// voice none gained as a covariate; see docs/DEEPFAKE-TRIALS.md.
var covariates = []string{"voice.pitch_oct", "voice.length_log"}

const (
	// conditionPenalty is λ of the slopes, with recordings of people that weigh as many
	// as there are, all copies together. 10 and 400 read the same within 0.002 of AUC.
	conditionPenalty = 100
	// conditionClip holds the features of that regression, as clip those of the model.
	conditionClip = 4
)

// split makes covariates of a design's features of that name.
func (d *Design) split() {
	all, columns := d.features, d.columns
	d.features, d.columns = nil, nil
	for k, f := range all {
		if slices.Contains(covariates, f.Name) {
			d.covariates = append(d.covariates, models.Covariate{Name: f.Name, Unit: f.Unit, Center: f.Center, Scale: f.Scale})
			d.given = append(d.given, columns[k])
		} else {
			d.features, d.columns = append(d.features, f), append(d.columns, columns[k])
		}
	}
	for k := range d.features {
		d.features[k].Slopes = make([]float64, 2*len(d.covariates))
	}
}

// conditioned is the design whose centres are what people with the covariates have: the
// ridge regression of each feature on them over the recordings of people among the rows
// of index, in all copies. Centre and scale are again median and interquartile range,
// over both classes. A design without covariates stays.
func (t *trainer) conditioned(d *Design, index []int) *Design {
	if len(d.covariates) == 0 {
		return d
	}
	out := *d
	out.features = slices.Clone(d.features)
	all, slopes := t.slopes(d, index)
	for j := range out.features {
		f := &out.features[j]
		f.Slopes = make([]float64, 2*len(d.covariates))
		for k := range f.Slopes {
			f.Slopes[k] = stats.Significant(slopes.At(k, j)*f.Scale, 5)
		}
		f.Center = 0
		var rest []float64
		for _, v := range all {
			if x := v.values[d.columns[j]]; !math.IsNaN(x) {
				rest = append(rest, f.Above(x, v.terms))
			}
		}
		f.Center = stats.Significant(dsp.PercentileInPlace(rest, 50), 5)
		if scale := (dsp.PercentileInPlace(rest, 75) - dsp.PercentileInPlace(rest, 25)) / 1.349; scale > 0 {
			f.Scale = stats.Significant(scale, 5)
		}
	}
	return &out
}

// A conditionRow is one vector with the terms of its covariates.
type conditionRow struct{ values, terms []float64 }

// slopes returns the vectors of the rows of index, and the slopes of each feature of d,
// in its scales: a row of the matrix for each term, a column for each feature.
func (t *trainer) slopes(d *Design, index []int) (all []conditionRow, slopes *mat.Dense) {
	terms := 2*len(d.covariates) + 1 // the last is 1
	weights := rowWeights(t.train, index)
	normal, right := mat.NewSymDense(terms, nil), mat.NewDense(terms, len(d.features), nil)
	for k := range terms - 1 {
		normal.SetSym(k, k, conditionPenalty)
	}
	z, a := make([]float64, len(d.features)), make([]float64, terms)
	for k, i := range index {
		for _, segments := range t.vectors[i] {
			for _, v := range segments {
				u := d.terms(v)
				all = append(all, conditionRow{v.Values, u})
				if t.train[i].Positive {
					continue
				}
				copy(a, u)
				a[terms-1] = 1
				w := weights[k] / float64(len(segments))
				normal.SymRankOne(normal, w, mat.NewVecDense(terms, a))
				d.raw(z, v)
				for r := range a {
					floats.AddScaled(right.RawRowView(r), w*a[r], z)
				}
			}
		}
	}
	var c mat.Cholesky
	slopes = mat.NewDense(terms, len(d.features), nil)
	if !c.Factorize(normal) || c.SolveTo(slopes, right) != nil {
		slopes.Zero() // no recordings of people
	}
	return all, slopes
}

// raw puts the features of v in scales of the design without covariates into z.
func (d *Design) raw(z []float64, v features.Vector) {
	for j, f := range d.features {
		z[j] = 0
		if x := v.Values[d.columns[j]]; !math.IsNaN(x) {
			z[j] = min(max((x-f.Center)/f.Scale, -conditionClip), conditionClip)
		}
	}
}
