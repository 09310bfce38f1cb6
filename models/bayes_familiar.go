package models

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// unfamiliar is how improbable a distance from the norms must be, if features
// were normal, for a recording to be unlike those behind them. They are not
// normal, so this is no share of recordings: it is where the distance over 21
// features is 2. Measured on recordings of 40 s put together from the clips of
// one speaker: 146 speakers behind the norms have a median of 0.89 and at most
// 1.87, of 36 others with a median of 1.08 one is beyond 2, and 11 of song,
// single words and vowels have 1.9.
const unfamiliar = 1.7e-9

// isUnfamiliar says whether the row is unlike the recordings behind the norms.
func (b *Bayes) isUnfamiliar(r Row) bool {
	d, n := b.distance(r)
	return n > 0 && distuv.ChiSquared{K: float64(n)}.Survival(d*d*float64(n)) < unfamiliar
}

// distance is how far a row lies from the middle of the norms: the root of the
// mean square of its standardised features after their correlation R is taken
// out (Mahalanobis 1936),
//
//	√(zᵀ·R⁻¹·z / n)
//
// over the n features that were measured, which is about 1 for recordings like
// those of the norms; 0 if none was measured. Features are held within the
// file's clip, so that a single broken one does not decide. How the person spoke
// before does not count.
func (b *Bayes) distance(r Row) (d float64, n int) {
	have := r.measured()
	if n = len(have); n == 0 {
		return 0, 0
	}
	z := mat.NewVecDense(n, nil)
	for i, a := range have {
		z.SetVec(i, r.alone[a])
	}
	var chol mat.Cholesky
	var solved mat.VecDense
	if !chol.Factorize(b.correlations(have)) || chol.SolveVecTo(&solved, z) != nil {
		return 0, 0 // cannot be: Check saw that the whole is positive definite
	}
	return math.Sqrt(mat.Dot(z, &solved) / float64(n)), n
}
