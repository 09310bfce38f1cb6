package dsp

import "math"

// The cubic root by the algorithm of FreeBSD's s_cbrt.c (Sun Microsystems, 1993; error
// below 0.67 units of the last place), which package math has too: a third of the
// exponent gives five bits, a rational function 23, and Newton's step the rest.
const (
	cbrtBias = 715094163                  // (682 − 0.03306235651)·2²⁰
	cbrtC    = 5.42857142857142815906e-01 // 19/35
	cbrtD    = -7.05306122448979611050e-01
	cbrtE    = 1.41428571428571436819e+00
	cbrtF    = 1.60714285714285720630e+00
	cbrtG    = 3.57142857142857150787e-01
	cbrtMask = 0xffff_ffff_c000_0000 // 22 bits of the mantissa
	cbrtUnit = 1 << 30               // so that the estimate is above the root
)

// cbrtConstants are what the assembly reads, in the order of its use.
var cbrtConstants = [12]float64{
	math.Float64frombits(0xaaaaaaab), // 2³³/3
	math.Float64frombits(cbrtBias << 32),
	cbrtC, cbrtD, cbrtE, cbrtF, cbrtG,
	math.Float64frombits(cbrtMask), math.Float64frombits(cbrtUnit), leastNormal, math.MaxFloat64,
}

// cbrts computes the cubic roots of x in place. A number that is not finite, positive and
// normal stays as it is, so that 0 gives 0.
func cbrts(x []float64, avx2 bool) {
	j := 0
	if n := len(x) &^ 3; avx2 && n > 0 {
		cbrtsAVX2(&x[0], &cbrtConstants, n)
		j = n
	}
	for ; j < len(x); j++ {
		if x[j] >= leastNormal && x[j] <= math.MaxFloat64 {
			x[j] = cbrtGo(x[j])
		}
	}
}

func cbrtGo(x float64) float64 {
	t := math.Float64frombits((math.Float64bits(x)>>32/3 + cbrtBias) << 32)
	r := t * t / x
	s := cbrtC + r*t
	t *= cbrtG + cbrtF/(s+cbrtE+cbrtD/s)
	t = math.Float64frombits(math.Float64bits(t)&cbrtMask + cbrtUnit)
	r = x / (t * t)
	r = (r - t) / (t + t + r)
	return t + t*r
}
