package train

import (
	"fmt"
	"math"
	"sync"

	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models/learn"
)

// vectorMachine is the solution of a support vector machine: the decision
// value at x is Σ coefficients[i]·k(rows[i], x) + intercept.
type vectorMachine struct {
	coefficients []float64 // one a row, most of them 0 or at their bound
	intercept    float64
}

const (
	// svmDone is how far the optimality conditions may be missed: LIBSVM's
	// default.
	svmDone = 1e-3
	// svmSteps bounds the steps by LIBSVM's own rule, at least ten million or
	// a hundred a row.
	svmSteps = 10_000_000
	// svmTau stands for a curvature that is not positive, as in LIBSVM.
	svmTau = 1e-12
)

// svm trains a support vector machine with the bound bound[i] on the
// coefficient of row i, given the matrix of the kernel: the α that minimise
//
//	½ Σ αᵢαⱼyᵢyⱼK[i][j] − Σ αᵢ,  0 ≤ αᵢ ≤ bound[i],  Σ αᵢyᵢ = 0
//
// by sequential minimal optimisation with the working set of second order (Fan,
// Chen and Lin, "Working set selection using second order information for
// training support vector machines", JMLR 6, 2005, algorithm 2).
func svm(kernel [][]float32, positive []bool, bound []float64) (*vectorMachine, error) {
	n := len(kernel)
	s := &smo{kernel: kernel, y: make([]float64, n), bound: bound, alpha: make([]float64, n), gradient: make([]float64, n)}
	for i := range s.y {
		s.y[i] = 2*float64(stats.Indicator(positive[i])) - 1
		s.gradient[i] = -1
	}
	for range max(svmSteps, 100*n) {
		i, j := s.pair()
		if j < 0 {
			m := &vectorMachine{coefficients: s.alpha, intercept: s.intercept()}
			for i := range m.coefficients {
				m.coefficients[i] *= s.y[i]
			}
			return m, nil
		}
		s.step(i, j)
	}
	return nil, fmt.Errorf("%w: the support vector machine does not converge", learn.ErrFit)
}

// smo is the state of a training.
type smo struct {
	kernel   [][]float32
	y        []float64 // ±1
	bound    []float64
	alpha    []float64
	gradient []float64 // of the objective
}

// rises says whether yᵢαᵢ may grow, falls whether it may shrink.
func (s *smo) rises(i int) bool {
	return s.y[i] > 0 && s.alpha[i] < s.bound[i] || s.y[i] < 0 && s.alpha[i] > 0
}

func (s *smo) falls(i int) bool {
	return s.y[i] < 0 && s.alpha[i] < s.bound[i] || s.y[i] > 0 && s.alpha[i] > 0
}

// pair selects the two rows to change next, j = −1 at the optimum.
func (s *smo) pair() (i, j int) {
	i, j = -1, -1
	most, least := math.Inf(-1), math.Inf(1)
	for t := range s.y {
		if v := -s.y[t] * s.gradient[t]; s.rises(t) && v > most {
			i, most = t, v
		}
	}
	if i < 0 {
		return i, j
	}
	best := math.Inf(1)
	row := s.kernel[i]
	for t := range s.y {
		if !s.falls(t) {
			continue
		}
		v := -s.y[t] * s.gradient[t]
		least = min(least, v)
		if b := most - v; b > 0 {
			if gain := -b * b / s.curvature(i, t, row); gain < best {
				j, best = t, gain
			}
		}
	}
	if most-least < svmDone {
		return i, -1
	}
	return i, j
}

func (s *smo) curvature(i, j int, row []float32) float64 {
	a := float64(row[i]) + float64(s.kernel[j][j]) - 2*float64(row[j])
	if a <= 0 {
		return svmTau
	}
	return a
}

// step moves αᵢ and αⱼ to the minimum over the two within their bounds.
func (s *smo) step(i, j int) {
	// Along yᵢαᵢ + d, yⱼαⱼ − d the sum is kept.
	d := (-s.y[i]*s.gradient[i] + s.y[j]*s.gradient[j]) / s.curvature(i, j, s.kernel[i])
	room := func(t int, up bool) float64 { // how far αₜ may go
		if up {
			return s.bound[t] - s.alpha[t]
		}
		return s.alpha[t]
	}
	di, dj := room(i, s.y[i] > 0), room(j, s.y[j] < 0)
	d = min(d, di, dj)
	old := [2]float64{s.alpha[i], s.alpha[j]}
	s.alpha[i] += s.y[i] * d
	s.alpha[j] -= s.y[j] * d
	// What reaches its bound is exactly there, whatever the rounding.
	if d == di {
		s.alpha[i] = edge(s.y[i] > 0, s.bound[i])
	}
	if d == dj {
		s.alpha[j] = edge(s.y[j] < 0, s.bound[j])
	}
	ai, aj := (s.alpha[i]-old[0])*s.y[i], (s.alpha[j]-old[1])*s.y[j]
	ki, kj := s.kernel[i], s.kernel[j]
	for t := range s.gradient {
		s.gradient[t] += s.y[t] * (ai*float64(ki[t]) + aj*float64(kj[t]))
	}
}

func edge(up bool, bound float64) float64 {
	if up {
		return bound
	}
	return 0
}

// intercept is the mean of yᵢ·gradientᵢ over the rows between their bounds,
// negated, or the middle of what the others leave open.
func (s *smo) intercept() float64 {
	var sum, n float64
	low, high := math.Inf(-1), math.Inf(1)
	for t := range s.y {
		v := -s.y[t] * s.gradient[t]
		switch up, down := s.rises(t), s.falls(t); {
		case up && down:
			sum += v
			n++
		case up:
			low = max(low, v)
		case down:
			high = min(high, v)
		}
	}
	if n > 0 {
		return sum / n
	}
	return (low + high) / 2
}

// gram returns the matrix of the Gaussian kernel exp(−γ|xᵢ − xⱼ|²) between the
// rows of x, computed by so many goroutines.
func gram(x [][]float32, gamma float64, workers int) [][]float32 {
	n := len(x)
	k := make([][]float32, n)
	flat := make([]float32, n*n)
	norm := make([]float32, n)
	for i := range k {
		k[i] = flat[i*n : (i+1)*n]
		norm[i] = dot32(x[i], x[i])
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				for j := range i + 1 {
					d := max(norm[i]+norm[j]-2*dot32(x[i], x[j]), 0)
					v := float32(math.Exp(-gamma * float64(d)))
					k[i][j], k[j][i] = v, v
				}
			}
		})
	}
	wg.Wait()
	return k
}

// dot32 is the dot product, in four sums: twice as fast as one.
func dot32(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}
