package dsp

import "math"

// maxRootSteps bounds Laguerre's iteration. It converges cubically, in under ten
// steps for the predictors of speech. 40 is chosen as an end for pathological
// polynomials, whose inexact roots polishing or the bandwidth limit then drops.
const maxRootSteps = 40

// upperRoots appends to dst the roots with a positive imaginary part of the
// real polynomial a[0]·zᵖ + a[1]·zᵖ⁻¹ + … + a[p], one of each conjugate pair,
// and returns the extended slice. a[0] must be 1 and p at most lpcOrder.
//
// Laguerre's method (Press et al., Numerical Recipes, 3rd edition, section
// 9.5.1) on the polynomial deflated by the real quadratic or linear factor of
// each root found, and of the last two by the formula for a quadratic; then a Newton
// step on a itself, from an error of the deflations' rounding, which it squares.
func upperRoots(dst [][2]float64, a []float64) [][2]float64 {
	var q [lpcTerms]float64
	n := copy(q[:], a) - 1
	for n >= 2 {
		x, y := -0.5*q[1], math.Sqrt(q[2]-0.25*q[1]*q[1]) // NaN: two real roots
		if n > 2 {
			x, y = laguerre(q[:n+1])
		}
		if n > 2 && math.Abs(y) < 1e-9 { // real to rounding: no resonance
			for i := 1; i < n; i++ {
				q[i] += x * q[i-1]
			}
			n--
			continue
		}
		if y < 0 {
			y = -y
		}
		r, s := 2*x, x*x+y*y
		q[1] += r * q[0]
		for i := 2; i < n-1; i++ {
			q[i] += r*q[i-1] - s*q[i-2]
		}
		n -= 2
		if !(y >= 1e-9) {
			continue
		}
		x, y = newton(a, x, y)
		if y > 0 {
			dst = append(dst, [2]float64{x, y})
		}
	}
	return dst
}

// horner returns the real polynomial p and its first two derivatives at
// z = x+iy as p(z), p'(z), p"(z)/2, each as real and imaginary part.
//
// Dividing by the real quadratic with the roots z and z* needs half the
// products of complex arithmetic: p(z) = bₙ - bₙ₋₁·z* for p's quotient b, and
// each derivative comes from the quotient's own value,
// p'(z) = 2iy·q(z) + bₙ₋₁ (Stoer & Bulirsch, Introduction to Numerical
// Analysis, section 5.6).
func horner(a []float64, x, y float64) (pr, pi, dr, di, er, ei float64) {
	r, s := 2*x, x*x+y*y
	var b1, b2, c1, c2, d1, d2 float64 // last and last but one of each quotient
	n := len(a) - 1
	for k, v := range a {
		b := v + r*b1 - s*b2
		b1, b2 = b, b1
		if k <= n-2 {
			c := b + r*c1 - s*c2
			c1, c2 = c, c1
		}
		if k <= n-4 {
			d := c1 + r*d1 - s*d2
			d1, d2 = d, d1
		}
	}
	// Values at z of p and of the quotients q = p/quadratic, t = q/quadratic.
	pr, pi = b1-x*b2, y*b2
	qr, qi := c1-x*c2, y*c2
	tr, ti := d1-x*d2, y*d2
	if n < 2 {
		return pr, pi, b2, 0, 0, 0
	}
	dr, di = b2-2*y*qi, 2*y*qr
	// q'(z) = 2iy·t(z) + c2, and p"(z)/2 = q(z) + 2iy·q'(z).
	ur, ui := c2-2*y*ti, 2*y*tr
	er, ei = qr-2*y*ui, qi+2*y*ur
	return pr, pi, dr, di, er, ei
}

// laguerre returns one root of the polynomial a, of degree 2 or more.
func laguerre(a []float64) (x, y float64) {
	m := float64(len(a) - 1)
	x, y = -0.3, 0.9 // amid the roots of a voice: of twelve starts the one with the fewest steps, 3.5
	for range maxRootSteps {
		pr, pi, dr, di, er, ei := horner(a, x, y)
		if pr == 0 && pi == 0 {
			return x, y
		}
		// G = p'/p, H = G² - p"/p, step = m / (G ± √((m-1)(mH-G²))).
		gr, gi := quotient(dr, di, pr, pi)
		fr, fi := quotient(2*er, 2*ei, pr, pi)
		g2r, g2i := gr*gr-gi*gi, 2*gr*gi
		hr, hi := g2r-fr, g2i-fi
		sr, si := root((m-1)*(m*hr-g2r), (m-1)*(m*hi-g2i))
		if sr*gr+si*gi < 0 {
			sr, si = -sr, -si
		}
		ur, ui := quotient(m, 0, gr+sr, gi+si)
		if math.IsNaN(ur) || math.IsNaN(ui) {
			return x, y
		}
		x, y = x-ur, y-ui
		// The next error is of the order of the step's cube, 1e-15.
		if ur*ur+ui*ui <= 1e-10*(x*x+y*y) {
			return x, y
		}
	}
	return x, y
}

// newton returns z - p(z)/p'(z) for z = x+iy, or z where that is undefined.
func newton(a []float64, x, y float64) (float64, float64) {
	pr, pi, dr, di, _, _ := horner(a, x, y)
	ur, ui := quotient(pr, pi, dr, di)
	if math.IsNaN(ur) || math.IsNaN(ui) || math.IsInf(ur, 0) || math.IsInf(ui, 0) {
		return x, y
	}
	return x - ur, y - ui
}

// quotient is (a+ib)/(c+id).
func quotient(a, b, c, d float64) (float64, float64) {
	s := 1 / (c*c + d*d)
	return (a*c + b*d) * s, (b*c - a*d) * s
}

// root is the principal square root of a+ib.
func root(a, b float64) (float64, float64) {
	m := math.Sqrt(a*a + b*b)
	re := math.Sqrt(0.5 * max(0, m+a))
	im := math.Sqrt(0.5 * max(0, m-a))
	return re, math.Copysign(im, b)
}
