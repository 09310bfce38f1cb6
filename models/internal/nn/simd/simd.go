package simd

import "math"

// table holds every constant 16 times, to fill the longest register.
type table [][16]float32

func repeat(values ...float32) table {
	t := make(table, len(values))
	for i, v := range values {
		for j := range t[i] {
			t[i][j] = v
		}
	}
	return t
}

// exp2Table holds c0 to c6 of 2^f = Σ ck·f^k for |f| ≤ 1/2, the minimax polynomial
// of the relative error, which is at most 2e-9 before rounding to float32; then the
// smallest exponent without a subnormal result, and log2(e).
var exp2Table = repeat(1, 0.693147182, 0.240226462, 0.0555032864, 0.00961848907, 0.00133999309, 0.000153458124,
	-125, math.Log2E)

// geluTable holds c0 to c8 of log2 Φ(−u) = Σ ck·u^k, where Φ is the normal
// distribution function; then 0. The fit over 0 ≤ u ≤ 6 minimises the largest error
// of u·Φ(−u), which is 1e-8 for all u ≥ 0: beyond the fit the sum falls towards −∞.
var geluTable = repeat(-0.999998868, -1.15112329, -0.459115446, -0.0527141988, 0.00733338343, -0.000323341723,
	-0.000114462804, 2.50833273e-05, -1.690403e-06, 0)

// exp2 returns 2^y for −125 ≤ y ≤ 127.
func exp2(y float32) float32 {
	n := float32(math.RoundToEven(float64(y)))
	f := y - n
	p := exp2Table[6][0]
	for k := 5; k >= 0; k-- {
		p = p*f + exp2Table[k][0]
	}
	return math.Float32frombits(math.Float32bits(p) + uint32(int32(n))<<23)
}

// GELU replaces each number x by x·Φ(x) = x/2·(1 + erf(x/√2)) (Hendrycks and
// Gimpel 2016, the exact form), computed as max(x, 0) − |x|·Φ(−|x|). The error
// is below 1e-7 + 1e-7·|x|. x may be empty.
func GELU(x []float32) {
	n := vectorLength(x)
	if n > 0 {
		vectorGELU(x[:n])
	}
	geluGo(x[n:])
}

func geluGo(x []float32) {
	for i, v := range x {
		u := max(v, -v)
		p := geluTable[8][0]
		for k := 7; k >= 0; k-- {
			p = p*u + geluTable[k][0]
		}
		x[i] = max(v, 0) - u*exp2(max(p, exp2Table[7][0]))
	}
}

// Softmax replaces each number of x by exp(x − max x), at least 2^-125, and
// returns their sum. The caller divides by it later, when there are fewer numbers.
// It panics if x is empty.
func Softmax(x []float32) float32 {
	top := maximum(x)
	if n := vectorLength(x); n > 0 {
		return vectorExpSum(x, n, top)
	}
	return expSumGo(x, top)
}

func maximum(x []float32) float32 {
	top := x[0]
	n := vectorLength(x)
	if n > 0 {
		top = vectorMaximum(x[:n])
	}
	for _, v := range x[n:] {
		top = max(top, v)
	}
	return top
}

func expSumGo(x []float32, top float32) float32 {
	sum := 0.0
	scale, low := exp2Table[8][0], exp2Table[7][0]
	for i, v := range x {
		x[i] = exp2(max((v-top)*scale, low))
		sum += float64(x[i])
	}
	return float32(sum)
}

// Sum returns the sum of x; 0 for an empty x.
func Sum(x []float32) float32 {
	n := vectorLength(x)
	sum := 0.0
	if n > 0 {
		sum = float64(vectorSum(x[:n]))
	}
	for _, v := range x[n:] {
		sum += float64(v)
	}
	return float32(sum)
}

// squares returns the sum of the squares of x − c.
func squares(x []float32, c float32) float32 {
	n := vectorLength(x)
	sum := 0.0
	if n > 0 {
		sum = float64(vectorSquares(x[:n], c))
	}
	for _, v := range x[n:] {
		sum += float64(v-c) * float64(v-c)
	}
	return float32(sum)
}

// Normalize writes (x − mean)/√(variance + epsilon)·w + b to dst: layer
// normalisation (Ba, Kiros and Hinton 2016), with the sum of squares divided by
// the number of elements. It panics unless all slices have the same length, at
// least 1.
func Normalize(dst, x, w, b []float32, epsilon float32) {
	if len(x) == 0 || len(dst) != len(x) || len(w) != len(x) || len(b) != len(x) {
		panic("simd: lengths of a normalisation differ")
	}
	mean := Sum(x) / float32(len(x))
	variance := squares(x, mean) / float32(len(x))
	scale := float32(1 / math.Sqrt(float64(variance)+float64(epsilon)))
	n := vectorLength(x)
	if n > 0 {
		vectorNormalize(dst[:n], x, w, b, mean, scale)
	}
	for i := n; i < len(x); i++ {
		dst[i] = (x[i]-mean)*scale*w[i] + b[i]
	}
}

// Scale multiplies x by f.
func Scale(x []float32, f float32) {
	n := vectorLength(x)
	if n > 0 {
		vectorScale(x[:n], f)
	}
	for i := n; i < len(x); i++ {
		x[i] *= f
	}
}
