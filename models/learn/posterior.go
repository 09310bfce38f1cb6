package learn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/stats"
	"github.com/voicescreen/voicescreen/models"
)

// gaussian is a normal distribution of the parameters of a proportional odds
// model of four bands: p weights, and then θ2, ln(θ2 − θ1), ln(θ3 − θ2).
type gaussian struct {
	mean       []float64
	covariance *mat.SymDense
}

// gaussianOf returns what f says about its parameters.
func gaussianOf(f *models.BayesFile) *gaussian {
	n := len(f.Features) + 3
	g := &gaussian{covariance: mat.NewSymDense(n, nil)}
	for _, x := range f.Features {
		g.mean = append(g.mean, x.Weight)
	}
	g.mean = append(g.mean, f.Thresholds[1], math.Log(f.Thresholds[1]-f.Thresholds[0]), math.Log(f.Thresholds[2]-f.Thresholds[1]))
	for i := range n {
		for j := range i + 1 {
			g.covariance.SetSym(i, j, f.Covariance[i][j])
		}
	}
	return g
}

// thresholds are those of parameters whose last three begin at p.
func thresholds(x []float64, p int) [3]float64 {
	return [3]float64{x[p] - math.Exp(x[p+1]), x[p], x[p] + math.Exp(x[p+2])}
}

// into returns f with the parameters of g.
func (g *gaussian) into(f *models.BayesFile) *models.BayesFile {
	out := *f
	p := len(f.Features)
	out.Features = append([]models.BayesFeature(nil), f.Features...)
	for i := range p {
		out.Features[i].Weight = stats.Significant(g.mean[i], 5)
	}
	theta := thresholds(g.mean, p)
	out.Thresholds = []float64{stats.Significant(theta[0], 5), stats.Significant(theta[1], 5), stats.Significant(theta[2], 5)}
	out.Covariance = make([][]float64, p+3)
	for i := range out.Covariance {
		out.Covariance[i] = make([]float64, p+3)
		for j := range out.Covariance[i] {
			out.Covariance[i][j] = stats.Significant(g.covariance.At(i, j), 8)
		}
	}
	return &out
}

// Draw draws the weights of the features and the thresholds of a model from what
// its file holds possible: the normal distribution of its parameters.
func Draw(f *models.BayesFile, rng *rand.Rand) (weights []float64, theta [3]float64) {
	g := gaussianOf(f)
	var chol mat.Cholesky
	chol.Factorize(g.covariance) // Check saw that it is positive definite
	var root mat.TriDense
	chol.LTo(&root)
	e := make([]float64, len(g.mean))
	for i := range e {
		e[i] = rng.NormFloat64()
	}
	draw := slices.Clone(g.mean)
	for i := range draw {
		for j := range i + 1 {
			draw[i] += root.At(i, j) * e[j]
		}
	}
	n := len(f.Features)
	return draw[:n], thresholds(draw, n)
}

// labelled is the data of a posterior: rows of standardised features, labels,
// and how much each row counts.
type labelled struct {
	x [][]float64
	y []Label
	w []float64
}

// posterior is Laplace's approximation to the distribution of the parameters
// given prior and data: normal round the mode, with the inverse of the second
// derivative of −log posterior there as covariance (Bishop 2006, section
// 4.4). Newton's method with the step halved until the posterior rises; the
// likelihood of a row is
//
//	Σ ℓb·P(band b) = ℓ0 + Σ (ℓk − ℓk−1)·F(η − θk),  F(v) = 1/(1 + exp(−v)),
//
// to the power of its weight. With noisy labels it is not concave everywhere;
// where the second derivative is not positive definite its diagonal is raised.
func posterior(prior *gaussian, d *labelled) (*gaussian, error) {
	n := len(prior.mean)
	var chol mat.Cholesky
	precision := mat.NewSymDense(n, nil)
	if !chol.Factorize(prior.covariance) || chol.InverseTo(precision) != nil {
		return nil, fmt.Errorf("%w: the covariance of the prior is singular", ErrFit)
	}
	at := append([]float64(nil), prior.mean...)
	next := make([]float64, n)
	value := d.loss(prior, precision, at)
	for range newtonSteps {
		g, h := d.derivatives(prior, precision, at)
		step, err := descend(h, g)
		if err != nil {
			return nil, err
		}
		size := 1.0
		for ; ; size /= 2 {
			for i := range at {
				next[i] = at[i] - size*step.AtVec(i)
			}
			if v := d.loss(prior, precision, next); v <= value || size < 1e-8 {
				value = v
				break
			}
		}
		at, next = next, at
		if size*mat.Norm(step, math.Inf(1)) < newtonDone {
			_, h := d.derivatives(prior, precision, at)
			cov := mat.NewSymDense(n, nil)
			if !chol.Factorize(h) || chol.InverseTo(cov) != nil {
				return nil, fmt.Errorf("%w: the curvature is singular", ErrFit)
			}
			return &gaussian{at, cov}, nil
		}
	}
	return nil, fmt.Errorf("%w: no convergence in %d steps", ErrFit, newtonSteps)
}

// descend is H⁻¹g, with H raised until it is positive definite.
func descend(h *mat.SymDense, g *mat.VecDense) (*mat.VecDense, error) {
	var chol mat.Cholesky
	n := g.Len()
	for raise := 1e-3; !chol.Factorize(h); raise *= 10 {
		if !(raise < 1e12) {
			return nil, fmt.Errorf("%w: the curvature is not finite", ErrFit)
		}
		for i := range n {
			h.SetSym(i, i, h.At(i, i)+raise)
		}
	}
	step := mat.NewVecDense(n, nil)
	if err := chol.SolveVecTo(step, g); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFit, err)
	}
	return step, nil
}

// loss is −log of the posterior density, but for a constant.
func (d *labelled) loss(prior *gaussian, precision *mat.SymDense, at []float64) float64 {
	n := len(at)
	off := mat.NewVecDense(n, nil)
	for i := range at {
		off.SetVec(i, at[i]-prior.mean[i])
	}
	l := mat.Inner(off, precision, off) / 2
	p := n - 3
	theta := thresholds(at, p)
	for i, x := range d.x {
		l -= d.w[i] * math.Log(max(likelihood(&d.y[i], dsp.Dot(at[:p], x), theta), math.SmallestNonzeroFloat64))
	}
	return l
}

// likelihood is that of a label at the linear predictor eta.
func likelihood(y *Label, eta float64, theta [3]float64) float64 {
	// Band by band, as differences of the smaller tails: 1 − F would lose
	// what is far out.
	var l float64
	upper := 1.0 // P(band ≥ b)
	for b := range 4 {
		next := 0.0
		if b < 3 {
			next = dsp.Logistic(eta - theta[b])
		}
		p := upper - next
		if b < 3 && eta > theta[b] { // 1 − F(v) = F(−v)
			p = dsp.Logistic(theta[b] - eta)
			if b > 0 {
				p -= dsp.Logistic(theta[b-1] - eta)
			}
		}
		l += y.Likelihood[b] * max(p, 0)
		upper = next
	}
	return l
}

// derivatives are gradient and second derivative of loss.
func (d *labelled) derivatives(prior *gaussian, precision *mat.SymDense, at []float64) (*mat.VecDense, *mat.SymDense) {
	n := len(at)
	p := n - 3
	theta := thresholds(at, p)
	below, above := math.Exp(at[p+1]), math.Exp(at[p+2])
	// Of vk = η − θk by θ2, ln(θ2 − θ1) and ln(θ3 − θ2).
	by := [3][3]float64{{-1, below, 0}, {-1, 0, 0}, {-1, 0, -above}}
	g, h := make([]float64, n), make([][]float64, n)
	for i := range h {
		h[i] = make([]float64, n)
	}
	for i, x := range d.x {
		s, c := curve(&d.y[i], dsp.Dot(at[:p], x), theta)
		w := d.w[i]
		var total, all float64
		var cross [3]float64 // of η with each of the three
		for k := range 3 {
			total += s[k]
			for l := range 3 {
				all += c[k][l]
				for m := range 3 {
					cross[m] += c[k][l] * by[l][m]
				}
			}
		}
		for a, xa := range x {
			g[a] -= w * total * xa
			row, scaled := h[a], w*all*xa
			for b, xb := range x[:a+1] {
				row[b] -= scaled * xb
			}
		}
		for m := range 3 {
			row := h[p+m]
			for a, xa := range x {
				row[a] -= w * cross[m] * xa
			}
			for k := range 3 {
				g[p+m] -= w * s[k] * by[k][m]
				for l := range 3 {
					for m2 := range m + 1 {
						row[p+m2] -= w * c[k][l] * by[k][m] * by[l][m2]
					}
				}
			}
		}
		h[p+1][p+1] -= w * s[0] * below // second derivatives of v1 and v3
		h[p+2][p+2] += w * s[2] * above
	}
	gradient, hessian := mat.NewVecDense(n, g), mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			hessian.SetSym(i, j, h[i][j]+precision.At(i, j))
		}
		for j := range n {
			gradient.SetVec(i, gradient.AtVec(i)+precision.At(i, j)*(at[j]-prior.mean[j]))
		}
	}
	return gradient, hessian
}

// curve is the first and the second derivatives of the logarithm of a label's
// likelihood by v1, v2, v3.
func curve(y *Label, eta float64, theta [3]float64) (s [3]float64, c [3][3]float64) {
	l := likelihood(y, eta, theta)
	if !(l > 0) {
		return s, c
	}
	for k := range 3 {
		f := dsp.Logistic(eta - theta[k])
		slope := (y.Likelihood[k+1] - y.Likelihood[k]) * f * dsp.Logistic(theta[k]-eta)
		s[k] = slope / l
		c[k][k] = s[k] * (1 - 2*f)
	}
	for k := range 3 {
		for j := range 3 {
			c[k][j] -= s[k] * s[j]
		}
	}
	return s, c
}
