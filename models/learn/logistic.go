package learn

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/stats"
)

// ErrFit is wrapped by the error of a fit that has no solution: one class only,
// numbers that are not finite, no convergence.
var ErrFit = errors.New("learn: no fit")

// Coefficients are those of a linear predictor, intercept + Σ weight·x.
type Coefficients struct {
	Intercept float64
	Weights   []float64
}

// Predict is the linear predictor at x.
func (c *Coefficients) Predict(x []float64) float64 {
	eta := c.Intercept
	for i, w := range c.Weights {
		eta += w * x[i]
	}
	return eta
}

const (
	newtonSteps = 100   // Newton's method needs ten or so
	newtonDone  = 1e-10 // of the largest step in any coefficient
)

// Logistic fits a logistic regression with ridge penalty: the c that minimise
//
//	Σ weight·log(1 + exp(∓η)) + ½·λ·Σ c.Weights²
//
// over the rows of x, where the intercept is not penalised. weight may be nil
// for all 1. Newton's method (iteratively reweighted least squares; McCullagh
// and Nelder 1989, section 4.4) with the step halved until the loss falls. λ
// must be positive: without it separable classes have no minimum.
func Logistic(x [][]float64, positive []bool, weight []float64, lambda float64) (*Coefficients, error) {
	p := &problem{x: x, y: positive, w: weight, lambda: lambda}
	if err := p.check(); err != nil {
		return nil, err
	}
	n := len(x[0]) + 1 // the last coefficient is the intercept
	beta, next := make([]float64, n), make([]float64, n)
	loss := p.loss(beta)
	for range newtonSteps {
		step, err := p.newton(beta)
		if err != nil {
			return nil, err
		}
		size := 1.0
		for ; ; size /= 2 {
			for i := range beta {
				next[i] = beta[i] - size*step.AtVec(i)
			}
			if l := p.loss(next); l <= loss || size < 1e-8 {
				loss = l
				break
			}
		}
		beta, next = next, beta
		if size*mat.Norm(step, math.Inf(1)) < newtonDone {
			return &Coefficients{Intercept: beta[n-1], Weights: beta[:n-1]}, nil
		}
	}
	return nil, fmt.Errorf("%w: no convergence in %d steps", ErrFit, newtonSteps)
}

// problem is the data of a logistic regression.
type problem struct {
	x      [][]float64
	y      []bool
	w      []float64
	lambda float64
}

func (p *problem) check() error {
	var classes [2]bool
	if len(p.x) == 0 || len(p.x) != len(p.y) || p.w != nil && len(p.w) != len(p.x) {
		return fmt.Errorf("%w: %d rows, %d labels, %d weights", ErrFit, len(p.x), len(p.y), len(p.w))
	}
	if !(p.lambda > 0) {
		return fmt.Errorf("%w: penalty %v, want > 0", ErrFit, p.lambda)
	}
	for i, row := range p.x {
		if len(row) != len(p.x[0]) {
			return fmt.Errorf("%w: row %d has %d values, want %d", ErrFit, i, len(row), len(p.x[0]))
		}
		for _, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%w: row %d has a value that is not finite", ErrFit, i)
			}
		}
		if w := p.weight(i); !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("%w: row %d has weight %v", ErrFit, i, w)
		}
		if p.weight(i) > 0 {
			classes[stats.Indicator(p.y[i])] = true
		}
	}
	if !classes[0] || !classes[1] {
		return fmt.Errorf("%w: one class has no rows", ErrFit)
	}
	return nil
}

func (p *problem) weight(i int) float64 {
	if p.w == nil {
		return 1
	}
	return p.w[i]
}

func (p *problem) eta(beta []float64, i int) float64 {
	k := len(beta) - 1
	eta := beta[k]
	for j, v := range p.x[i] {
		eta += beta[j] * v
	}
	return eta
}

func (p *problem) loss(beta []float64) float64 {
	var l float64
	for i := range p.x {
		eta := p.eta(beta, i)
		if p.y[i] {
			eta = -eta
		}
		l += p.weight(i) * softplus(eta)
	}
	for _, b := range beta[:len(beta)-1] {
		l += p.lambda / 2 * b * b
	}
	return l
}

// softplus is log(1 + exp(x)) without overflow.
func softplus(x float64) float64 { return dsp.LogAdd(x, 0) }

// newton returns H⁻¹g at beta.
func (p *problem) newton(beta []float64) (*mat.VecDense, error) {
	n := len(beta)
	g := mat.NewVecDense(n, nil)
	rows := mat.NewDense(len(p.x), n, nil) // √(w·q·(1−q))·(x, 1): H = rowsᵀ·rows + λ
	for i, x := range p.x {
		q := dsp.Logistic(p.eta(beta, i))
		r := p.weight(i) * (q - float64(stats.Indicator(p.y[i])))
		root := math.Sqrt(p.weight(i) * q * (1 - q))
		for j, v := range x {
			g.SetVec(j, g.AtVec(j)+r*v)
			rows.Set(i, j, root*v)
		}
		g.SetVec(n-1, g.AtVec(n-1)+r)
		rows.Set(i, n-1, root)
	}
	h := mat.NewSymDense(n, nil)
	h.SymOuterK(1, rows.T())
	for j := range n - 1 {
		g.SetVec(j, g.AtVec(j)+p.lambda*beta[j])
		h.SetSym(j, j, h.At(j, j)+p.lambda)
	}
	// The intercept alone has no penalty: where all q are 0 or 1 its row is 0.
	h.SetSym(n-1, n-1, h.At(n-1, n-1)+1e-12)
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return nil, fmt.Errorf("%w: the curvature is singular", ErrFit)
	}
	step := mat.NewVecDense(n, nil)
	if err := chol.SolveVecTo(step, g); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFit, err)
	}
	return step, nil
}

// Platt fits the calibration of scores to probabilities, 1/(1+exp(−(a·s+b))),
// by logistic regression on the scores with the targets that Platt (1999)
// draws in from 0 and 1: (n₊+1)/(n₊+2) and 1/(n₋+2). weight may be nil for
// all 1; the counts are then those of the rows.
func Platt(scores []float64, positive []bool, weight []float64) (a, b float64, err error) {
	if len(scores) != len(positive) {
		return 0, 0, fmt.Errorf("%w: %d scores, %d labels", ErrFit, len(scores), len(positive))
	}
	var n [2]float64
	for _, y := range positive {
		n[stats.Indicator(y)]++
	}
	// A target between the classes is a row of each, in its proportion.
	x := make([][]float64, 0, 2*len(scores))
	y := make([]bool, 0, 2*len(scores))
	w := make([]float64, 0, 2*len(scores))
	for i, s := range scores {
		target := 1 / (n[0] + 2)
		if positive[i] {
			target = (n[1] + 1) / (n[1] + 2)
		}
		each := 1.0
		if weight != nil {
			each = weight[i]
		}
		x = append(x, []float64{s}, []float64{s})
		y = append(y, true, false)
		w = append(w, each*target, each*(1-target))
	}
	if n[0] == 0 || n[1] == 0 {
		return 0, 0, fmt.Errorf("%w: one class has no rows", ErrFit)
	}
	c, err := Logistic(x, y, w, 1e-6) // a penalty that does not show
	if err != nil {
		return 0, 0, err
	}
	return c.Weights[0], c.Intercept, nil
}
