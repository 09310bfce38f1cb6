package dsp

import (
	"math"
	"sync"
)

const (
	interpTaps   = 16 // samples that contribute to an interpolated value; chosen, see tabulate for the error
	interpPhases = 32 // steps between two samples at which the kernels are tabulated; Newton's step bridges them; chosen
	interpPad    = interpTaps / 2
)

// An interpolator finds maxima between the samples of a band-limited sequence.
// It is read-only and safe for concurrent use.
type interpolator struct {
	kernel [interpPhases + 1][3][interpTaps]float64 // value, first and second derivative
}

// newInterpolator returns the one interpolator, whose tables are computed once.
var newInterpolator = sync.OnceValue(func() *interpolator {
	in := &interpolator{}
	in.tabulate()
	return in
})

// tabulate fills the kernels: a sinc under a Kaiser window of interpTaps
// samples, exact to 3e-5 up to 0.6 of the Nyquist frequency, and its first two
// derivatives.
func (in *interpolator) tabulate() {
	const (
		half = interpTaps / 2.0
		beta = 8.96 // 90 dB (Kaiser's formula 0.1102·(A − 8.7))
		h    = 1e-3 // step of the numerical derivatives: exact to 1e-6
	)
	sinc := func(u float64) float64 {
		if math.Abs(u) >= half {
			return 0
		}
		w := bessel0(beta*math.Sqrt(1-u*u/(half*half))) / bessel0(beta)
		if u == 0 {
			return w
		}
		return w * math.Sin(math.Pi*u) / (math.Pi * u)
	}
	for p := range in.kernel {
		for j := range interpTaps {
			u := float64(p)/interpPhases - float64(j-interpPad+1)
			a, b, d := sinc(u-h), sinc(u), sinc(u+h)
			in.kernel[p][0][j], in.kernel[p][1][j], in.kernel[p][2][j] = b, (d-a)/(2*h), (a-2*b+d)/(h*h)
		}
	}
}

// bessel0 is besselI0 with the terms multiplied in another order. The two differ
// in the last place, and with either in both places the features of voice/1 would
// no longer be the same bits.
func bessel0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > 1e-17*sum; k++ {
		term *= x * x / (4 * k * k)
		sum += term
	}
	return sum
}

// peak returns the place and the height of the maximum of r near its sample k,
// a local maximum: that of the parabola through r[k−1 … k+1], then two of
// Newton's steps on the interpolated sequence. interpPad + 1 samples must lie on
// both sides of k.
func (in *interpolator) peak(r []float64, k int) (at, v float64) {
	a, b, d := r[k-1], r[k], r[k+1]
	curve := a - 2*b + d
	if !(curve < 0) {
		return float64(k), b
	}
	u := float64(k) + min(max(0.5*(a-d)/curve, -0.5), 0.5)
	for range 2 {
		if math.IsNaN(u) { // the samples were infinite
			return float64(k), b
		}
		m := int(u)
		p := int((u-float64(m))*interpPhases + 0.5)
		y := r[m+1-interpPad : m+1+interpPad]
		ker := &in.kernel[p]
		v0, v1, v2 := dotProduct(ker[0][:], y, hasAVX), dotProduct(ker[1][:], y, hasAVX), dotProduct(ker[2][:], y, hasAVX)
		at = float64(m) + float64(p)/interpPhases
		if !(v2 < 0) {
			return at, v0
		}
		u = min(max(at-v1/v2, float64(k)-1), float64(k)+1)
		v = v0 + (v1+0.5*v2*(u-at))*(u-at)
	}
	if math.IsNaN(u) {
		return float64(k), b
	}
	return u, v
}
