package models

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// unfamiliar is the probability, under a normal distribution of features, below
// which a distance from the norms makes a recording unfamiliar. Features are not
// normal, so it is not a share of recordings: it is the probability of a distance
// of 2 over 21 features. Measured on recordings of 40 s, each made of clips of one
// speaker: 146 speakers of the norms have a median distance of 0.89 and a maximum
// of 1.87; 36 others have a median of 1.08, and one is beyond 2; 11 recordings of
// song, single words and vowels have 1.9.
const unfamiliar = 1.7e-9

// isUnfamiliar reports whether the row differs from the recordings of the norms.
func (b *Bayes) isUnfamiliar(r Row) bool {
	d, n := b.distance(r)
	return n > 0 && distuv.ChiSquared{K: float64(n)}.Survival(d*d*float64(n)) < unfamiliar
}

// distance returns the distance of a row from the mean of the norms: the root of the
// mean square of its standardised features, decorrelated by their correlation R plus
// the variances V of their sampling errors (Mahalanobis 1936),
//
//	√(zᵀ·(R + V)⁻¹·z / n)
//
// over the n measured features; 0 if n is 0. It is about 1 for recordings like those
// of the norms. Features are clipped by the file's Clip, so that a single extreme
// value does not decide. Earlier recordings have no effect.
func (b *Bayes) distance(r Row) (d float64, n int) {
	o := b.observationOf(&r)
	if o.chol == nil {
		return 0, 0
	}
	n = len(o.have)
	z := mat.NewVecDense(n, nil)
	for i, a := range o.have {
		z.SetVec(i, r.alone[a])
	}
	var solved mat.VecDense
	if o.chol.SolveVecTo(&solved, z) != nil {
		return 0, 0 // impossible: Check requires a positive definite correlation
	}
	return math.Sqrt(mat.Dot(z, &solved) / float64(n)), n
}
