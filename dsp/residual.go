package dsp

import "math"

const (
	residualOrder = 12     // two poles for each of five resonances below 5.5 kHz and two for the source
	residualBlock = 0.10   // s between prediction models; chosen: the vocal tract moves little meanwhile, and five longest periods fit
	residualFloor = 1e-3   // share of the power added as white noise to the model, so that it raises bands without voice by at most 30 dB; chosen
	ringAfter     = 0.0012 // s after an excitation and
	ringBefore    = 0.0006 // s before the next one in which the vocal tract does not ring freely: the lengths of a short pulse and of its spectrum's zeros; chosen
	ringRidge     = 1e-6   // least and
	ringRidgeMost = 2e-3   // largest share of the power added to the diagonal; chosen, from regular equations to the floor of the first model
	residualTaps  = residualOrder + 1 + 4
)

// residual computes the linear prediction residual of short pieces of a
// signal, smoothed by the binomial 1 4 6 4 1, with one model for each block.
type residual struct {
	rate  float64
	block int
	taps  [][residualTaps]float64      // of each block, reversed and smoothed
	ar    [][residualOrder + 1]float64 // of each block, the prediction error filter
	a, b  []float64
}

// model fits a model to each block of y by the autocorrelation method (see
// [Levinson]).
func (s *residual) model(y []float64, rate float64) {
	s.rate, s.block = rate, max(1, int(residualBlock*rate))
	s.taps, s.ar = s.taps[:0], s.ar[:0]
	for at := 0; at < len(y); at += s.block {
		// half a block on either side takes part
		part := y[max(0, at-s.block/2):min(len(y), at+s.block+s.block/2)]
		var r [residualOrder + 1]float64
		autocorrelate(r[:], part, hasAVX)
		r[0] *= 1 + residualFloor
		s.taps = append(s.taps, [residualTaps]float64{})
		s.ar = append(s.ar, [residualOrder + 1]float64{})
		var a [residualOrder + 1]float64
		Levinson(a[:], nil, r[:]) // no prediction, a = 1, 0, …, of silence
		s.setTaps(len(s.taps)-1, a)
	}
}

// refit fits the models again, only to the samples between the excitations. There the
// vocal tract rings freely and prediction is exact, so that the partials of a high
// voice do not pull the model (the covariance method on the closed phase; D. Wong, J.
// Markel and A. Gray, "Least squares glottal inverse filtering from the acoustic speech
// waveform", IEEE Trans. ASSP 27, 1979). pulses are the excited samples of y,
// ascending. If few samples give an unstable model, the ridge grows until the model is
// stable. A block without a stable new model keeps its first one, which is stable.
func (s *residual) refit(y, pulses []float64) {
	// Blocks overlap by half: a period is in two, whose sums are kept.
	half := s.block / 2
	var sums [2]gram
	b := 0 // the first block that is not finished
	for k := 1; k < len(pulses); k++ {
		for b < len(s.taps) && pulses[k] >= float64((b+1)*s.block+half) {
			s.refitBlock(b, &sums[b%2])
			b++
		}
		T := pulses[k] - pulses[k-1]
		after, before := min(ringAfter*s.rate, 0.35*T), min(ringBefore*s.rate, 0.15*T)
		from, to := int(math.Ceil(pulses[k-1]+after)), int(pulses[k]-before)+1
		if !(to-from > 0 && from >= residualOrder && to <= len(y) && T < longestPeriod*s.rate) {
			continue
		}
		g := newGram(y, from, to)
		for c := b; c < min(b+2, len(s.taps)) && pulses[k] >= float64(c*s.block-half); c++ {
			sums[c%2].add(&g)
		}
	}
	for ; b < len(s.taps); b++ {
		s.refitBlock(b, &sums[b%2])
	}
}

// refitBlock fits the model of a block again to its sums, which it clears.
func (s *residual) refitBlock(block int, g *gram) {
	for ridge := ringRidge; ridge < ringRidgeMost; ridge *= 10 {
		if a, ok := g.solve(ridge * g[0][0]); ok && stable(a) {
			s.setTaps(block, a)
			break
		}
	}
	*g = gram{}
}

// A gram holds the sums Σ y[n−i]·y[n−j] of the covariance method for j ≥ i.
type gram [residualOrder + 1][residualOrder + 1]float64

// newGram returns the sums over the samples from … to−1.
func newGram(y []float64, from, to int) (c gram) {
	const m = residualOrder
	var sums [16]float64 // of the lags len(lags)−1 … 0: sixteen cost no more than thirteen
	lags := sums[:min(len(sums), from+1)]
	last := len(lags) - 1
	correlate(lags, y[from:to], y[from-last:], hasAVX)
	for j := range m + 1 {
		c[0][j] = lags[last-j]
	}
	before, leaving := (*[m]float64)(y[from-m:from]), (*[m]float64)(y[to-m:to])
	for i := range m {
		now, next := &c[i], &c[i+1]
		in, out := before[m-1-i], leaving[m-1-i]
		for j := i; j < m; j++ {
			// the sum one sample earlier
			next[j+1] = now[j] + in*before[m-1-j] - out*leaving[m-1-j]
		}
	}
	return c
}

// add adds the sums of other samples.
func (g *gram) add(other *gram) {
	for i := range g {
		for j := i; j < len(g); j++ {
			g[i][j] += other[i][j]
		}
	}
}

// solve returns the prediction error filter that minimises the sum of squares
// plus ridge·Σa², by Cholesky's decomposition; ok is false if the sums do not
// determine it.
func (g *gram) solve(ridge float64) (a [residualOrder + 1]float64, ok bool) {
	const m = residualOrder
	var l [m][m]float64
	var z, diagonal [m]float64 // diagonal is 1/l[i][i]: a product is faster than a quotient
	for i := range m {
		row := &l[i]
		for j := range i {
			v, other := g[j+1][i+1], &l[j]
			for k := range j {
				v -= row[k] * other[k]
			}
			row[j] = v * diagonal[j]
		}
		v, y := g[i+1][i+1]+ridge, -g[0][i+1]
		for k := range i {
			v -= row[k] * row[k]
			y -= row[k] * z[k]
		}
		if !(v > 0) || math.IsInf(v, 0) {
			return a, false
		}
		diagonal[i] = 1 / math.Sqrt(v)
		z[i] = y * diagonal[i]
	}
	for i := m - 1; i >= 0; i-- {
		v := z[i]
		for k := i + 1; k < m; k++ {
			v -= l[k][i] * a[k+1]
		}
		a[i+1] = v * diagonal[i]
	}
	a[0] = 1
	return a, true
}

// stable reports whether 1/A is a stable filter: by the step-down recursion, whether
// the magnitudes of all reflection coefficients are less than 1.
func stable(a [residualOrder + 1]float64) bool {
	for m := residualOrder; m > 0; m-- {
		k := a[m]
		if !(math.Abs(k) < 1) {
			return false
		}
		prev := a
		for i := 1; i < m; i++ {
			a[i] = (prev[i] - k*prev[m-i]) / (1 - k*k)
		}
	}
	return true
}

// setTaps makes the filter of a block from its prediction error filter.
func (s *residual) setTaps(block int, a [residualOrder + 1]float64) {
	var taps [residualTaps]float64
	for i, v := range a {
		for j, w := range [5]float64{1. / 16, 4. / 16, 6. / 16, 4. / 16, 1. / 16} {
			taps[residualTaps-1-i-j] += v * w // reversed: the filter takes a dot product
		}
	}
	s.taps[block], s.ar[block] = taps, a
}

// at returns the residual of the samples from … to−1 of y, nil if the filter
// reaches beyond y. The result is valid until the next call.
func (s *residual) at(y []float64, from, to int) []float64 {
	return s.filter(&s.a, y, from, to, (from+to)/2)
}

// other returns the residual of the samples from … to−1 of y by the model of sample
// ref, and nil if the filter reaches beyond y. The result is valid until the next
// call; that of at stays valid.
func (s *residual) other(y []float64, from, to, ref int) []float64 {
	return s.filter(&s.b, y, from, to, ref)
}

// filter returns the residual in the memory of scratch, and nil if the filter reaches
// beyond y.
func (s *residual) filter(scratch *[]float64, y []float64, from, to, ref int) []float64 {
	// the smoothing is centred; the prediction looks back
	const ahead, back = 2, residualTaps - 1 - 2
	if from < back || to+ahead > len(y) || from >= to {
		return nil
	}
	taps := s.taps[s.index(ref)][:]
	*scratch = sized(*scratch, to-from)
	dst := *scratch
	correlate(dst, taps, y[from-back:], hasAVX)
	return dst
}

// index is the block to which sample i belongs.
func (s *residual) index(i int) int { return min(max(i, 0)/s.block, len(s.taps)-1) }

// ring returns the samples from … to−1 of y as they would be without new excitation,
// predicted from the samples before. It returns nil if y has too few of these. The
// result is valid until the next call.
func (s *residual) ring(y []float64, from, to int) []float64 {
	const m = residualOrder
	if from < m || to > len(y) || from >= to {
		return nil
	}
	a := &s.ar[s.index(from)]
	s.a = sized(s.a, m+to-from)
	z := s.a
	copy(z, y[from-m:from])
	for i := m; i < len(z); i++ {
		// four sums that do not depend on one another; the latest sample last: it was
		// not known before
		b := (*[m]float64)(z[i-m:])
		v0 := a[12]*b[0] + a[8]*b[4] + a[4]*b[8]
		v1 := a[11]*b[1] + a[7]*b[5] + a[3]*b[9]
		v2 := a[10]*b[2] + a[6]*b[6] + a[2]*b[10]
		v3 := a[9]*b[3] + a[5]*b[7]
		z[i] = -(((v0 + v1) + (v2 + v3)) + a[1]*b[11])
	}
	return z[m:]
}
