package dsp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	residualOrder = 12   // two poles for each of five resonances below 5.5 kHz and two for the source
	residualBlock = 0.10 // s between prediction models; chosen: the vocal tract moves little in it, and it holds five longest periods
	residualFloor = 1e-3 // share of the power added as white noise to the model, so that bands without voice are not raised by more than 30 dB
	residualTaps  = residualOrder + 1 + 4
)

// residual computes the linear prediction residual of short pieces of a
// signal, smoothed by the binomial 1 4 6 4 1, with one model for each block.
type residual struct {
	rate  float64
	block int
	taps  [][residualTaps]float64
	a, b  []float64
}

// model fits a model to each block of y (autocorrelation method,
// Levinson–Durbin recursion; Makhoul 1975, eq. 37 and 38).
func (s *residual) model(y []float64, rate float64) {
	s.rate, s.block = rate, max(1, int(residualBlock*rate))
	s.taps = s.taps[:0]
	for at := 0; at < len(y); at += s.block {
		// half a block on either side takes part
		part := y[max(0, at-s.block/2):min(len(y), at+s.block+s.block/2)]
		var r [residualOrder + 1]float64
		for k := range r {
			if k < len(part) {
				r[k] = floats.Dot(part[k:], part[:len(part)-k])
			}
		}
		r[0] *= 1 + residualFloor
		a := predict(r[:])
		var taps [residualTaps]float64
		for i, v := range a {
			for j, w := range [5]float64{1. / 16, 4. / 16, 6. / 16, 4. / 16, 1. / 16} {
				taps[residualTaps-1-i-j] += v * w // reversed: at takes a dot product
			}
		}
		s.taps = append(s.taps, taps)
	}
}

// predict returns the prediction error filter 1, a1, a2, … of the
// autocorrelation r.
func predict(r []float64) (a [residualOrder + 1]float64) {
	a[0] = 1
	e := r[0]
	if !(e > 0) || math.IsInf(e, 0) {
		return a
	}
	for m := 1; m <= residualOrder; m++ {
		k := r[m]
		for i := 1; i < m; i++ {
			k += a[i] * r[m-i]
		}
		k = -k / e
		prev := a
		for i := 1; i < m; i++ {
			a[i] = prev[i] + k*prev[m-i]
		}
		a[m] = k
		e *= 1 - k*k
	}
	return a
}

// at returns the residual of the samples from … to−1 of y, nil if the filter
// reaches beyond y. The result is valid until the next call.
func (s *residual) at(y []float64, from, to int) []float64 {
	s.a = s.filter(s.a, y, from, to, (from+to)/2)
	return s.a
}

// other is like at with the model that belongs to sample ref, and leaves the
// result of at valid.
func (s *residual) other(y []float64, from, to, ref int) []float64 {
	s.b = s.filter(s.b, y, from, to, ref)
	return s.b
}

func (s *residual) filter(dst, y []float64, from, to, ref int) []float64 {
	// the smoothing is centred; the prediction looks back
	const ahead, back = 2, residualTaps - 1 - 2
	if from < back || to+ahead > len(y) || from >= to {
		return nil
	}
	taps := s.taps[min(max(ref, 0)/s.block, len(s.taps)-1)][:]
	dst = resize(dst, to-from)
	for i := range dst {
		at := from + i - back
		dst[i] = floats.Dot(taps, y[at:at+residualTaps])
	}
	return dst
}
