package dsp

import "math"

// The loops over samples that several measures share. With avx they run in
// assembly, which gives the same bits where the processor does not fuse
// multiplication and addition; avx must be false without hasAVX.

// dotProduct is Σ x[j]·y[j] for y at least as long as x, in eight sums that do not
// depend on one another.
func dotProduct(x, y []float64, avx bool) float64 {
	y = y[:len(x)]
	n := len(x) &^ 7
	var s float64
	if avx && n > 0 {
		s = dotAVX(&x[0], &y[0], n)
	} else {
		var s0, s1, s2, s3, s4, s5, s6, s7 float64
		for j := 0; j+8 <= len(x); j += 8 {
			p, q := (*[8]float64)(x[j:j+8]), (*[8]float64)(y[j:j+8])
			s0 += p[0] * q[0]
			s1 += p[1] * q[1]
			s2 += p[2] * q[2]
			s3 += p[3] * q[3]
			s4 += p[4] * q[4]
			s5 += p[5] * q[5]
			s6 += p[6] * q[6]
			s7 += p[7] * q[7]
		}
		s = (s0 + s4) + (s1 + s5) + (s2 + s6) + (s3 + s7)
	}
	for j := n; j < len(x); j++ {
		s += x[j] * y[j]
	}
	return s
}

// dotProducts3 is Σ x[j]·y[lag+j] for three lags, each with the bits of dotProduct.
func dotProducts3(x, y []float64, lags [3]int, avx bool) (s [3]float64) {
	n := len(x) &^ 7
	if !avx || n == 0 {
		for i, lag := range lags {
			s[i] = dotProduct(x, y[lag:], false)
		}
		return s
	}
	y0, y1, y2 := y[lags[0]:][:len(x)], y[lags[1]:][:len(x)], y[lags[2]:][:len(x)]
	dots3AVX(&s, &x[0], &y0[0], &y1[0], &y2[0], n)
	for j := n; j < len(x); j++ {
		s[0] += x[j] * y0[j]
		s[1] += x[j] * y1[j]
		s[2] += x[j] * y2[j]
	}
	return s
}

// dotProducts5 is dotProducts3 for five lags.
func dotProducts5(x, y []float64, lags [5]int, avx bool) (s [5]float64) {
	n := len(x) &^ 7
	if !avx || n == 0 {
		for i, lag := range lags {
			s[i] = dotProduct(x, y[lag:], false)
		}
		return s
	}
	y0, y1, y2 := y[lags[0]:][:len(x)], y[lags[1]:][:len(x)], y[lags[2]:][:len(x)]
	y3, y4 := y[lags[3]:][:len(x)], y[lags[4]:][:len(x)]
	dots5AVX(&s, &x[0], &y0[0], &y1[0], &y2[0], &y3[0], &y4[0], n)
	for j := n; j < len(x); j++ {
		s[0] += x[j] * y0[j]
		s[1] += x[j] * y1[j]
		s[2] += x[j] * y2[j]
		s[3] += x[j] * y3[j]
		s[4] += x[j] * y4[j]
	}
	return s
}

// total is Σ x[j].
func total(x []float64, avx bool) float64 {
	n := len(x) &^ 7
	var s float64
	if avx && n > 0 {
		s = totalAVX(&x[0], n)
	} else {
		var s0, s1, s2, s3, s4, s5, s6, s7 float64
		for j := 0; j+8 <= len(x); j += 8 {
			p := (*[8]float64)(x[j : j+8])
			s0 += p[0]
			s1 += p[1]
			s2 += p[2]
			s3 += p[3]
			s4 += p[4]
			s5 += p[5]
			s6 += p[6]
			s7 += p[7]
		}
		s = (s0 + s4) + (s1 + s5) + (s2 + s6) + (s3 + s7)
	}
	for _, v := range x[n:] {
		s += v
	}
	return s
}

// correlate computes dst[k] = Σ a[j]·b[k+j] over all j, each sum in the order of eights. b
// has at least len(a)+len(dst)−1 points, and dst is not part of a or b.
func correlate(dst, a, b []float64, avx bool) {
	m, n := len(a), len(dst)
	if m == 0 {
		clear(dst)
		return
	}
	if n == 0 {
		return
	}
	b = b[:m+n-1]
	if !avx || n < 8 {
		correlateGo(dst, a, b)
		return
	}
	// The last outputs are computed twice where they are not 8 or 16.
	k := 0
	for ; k+32 <= n; k += 32 {
		correlate32AVX(&dst[k], &a[0], &b[k], m)
	}
	if k+16 <= n {
		correlate16AVX(&dst[k], &a[0], &b[k], m)
		k += 16
	}
	switch {
	case k == n:
	case n-k > 8 && n >= 16:
		correlate16AVX(&dst[n-16], &a[0], &b[n-16], m)
	case n-k > 8:
		correlate8AVX(&dst[k], &a[0], &b[k], m)
		fallthrough
	default:
		correlate8AVX(&dst[n-8], &a[0], &b[n-8], m)
	}
}

// correlateGo is correlate without assembly: four outputs at a time, so that each point
// of a is loaded once for them.
func correlateGo(dst, a, b []float64) {
	n := len(dst)
	if n < 4 {
		for k := range dst {
			dst[k] = eights(a, b[k:])
		}
		return
	}
	for k := 0; ; {
		var s0, s1, s2, s3 float64
		j := 0
		for ; j+8 <= len(a); j += 8 {
			x, y := (*[8]float64)(a[j:]), (*[11]float64)(b[k+j:])
			for i := range 4 {
				v, w := x[i], x[i+4]
				s0 += v * y[i]
				s0 += w * y[i+4]
				s1 += v * y[i+1]
				s1 += w * y[i+5]
				s2 += v * y[i+2]
				s2 += w * y[i+6]
				s3 += v * y[i+3]
				s3 += w * y[i+7]
			}
		}
		for ; j < len(a); j++ {
			v, y := a[j], (*[4]float64)(b[k+j:])
			s0 += v * y[0]
			s1 += v * y[1]
			s2 += v * y[2]
			s3 += v * y[3]
		}
		dst[k], dst[k+1], dst[k+2], dst[k+3] = s0, s1, s2, s3
		if k == n-4 {
			return
		}
		k = min(k+4, n-4)
	}
}

// eights is Σ a[j]·b[j], of eight products at a time in the order 0, 4, 1, 5, 2, 6, 3, 7 and
// then of those left over.
func eights(a, b []float64) (s float64) {
	j := 0
	for ; j+8 <= len(a); j += 8 {
		for i := j; i < j+4; i++ {
			s += a[i] * b[i]
			s += a[i+4] * b[i+4]
		}
	}
	for ; j < len(a); j++ {
		s += a[j] * b[j]
	}
	return s
}

// autocorrelate computes r[k] = Σ x[j]·x[j+k], at most 16 lags.
func autocorrelate(r, x []float64, avx bool) {
	var sums [16]float64
	n := max(len(x)-(len(sums)-1), 0)
	if n > 0 {
		correlate(sums[:], x[:n], x, avx)
	}
	for k := range r {
		s := sums[k]
		for j := n; j+k < len(x); j++ {
			s += x[j] * x[j+k]
		}
		r[k] = s
	}
}

// shift computes x − c into dst, which is at least as long and may be x.
func shift(dst, x []float64, c float64, avx bool) {
	dst = dst[:len(x)]
	j := 0
	if n := len(x) &^ 3; avx && n > 0 {
		shiftAVX(&dst[0], &x[0], c, n)
		j = n
	}
	for ; j < len(x); j++ {
		dst[j] = x[j] - c
	}
}

// product computes x[j]·y[j] into dst. dst and y are at least as long as x.
func product(dst, x, y []float64, avx bool) {
	dst, y = dst[:len(x)], y[:len(x)]
	j := 0
	if n := len(x) &^ 3; avx && n > 0 {
		productAVX(&dst[0], &x[0], &y[0], n)
		j = n
	}
	for ; j < len(x); j++ {
		dst[j] = x[j] * y[j]
	}
}

// accumulate adds x to dst, which is at least as long.
func accumulate(dst, x []float64, avx bool) {
	dst = dst[:len(x)]
	j := 0
	if n := len(x) &^ 3; avx && n > 0 {
		accumulateAVX(&dst[0], &x[0], n)
		j = n
	}
	for ; j < len(x); j++ {
		dst[j] += x[j]
	}
}

// reduce computes dst[i] = Σ h[j]·x[d·i+j] − mean for the taps h of boxes(d).
func reduce(dst, x, h []float64, d int, mean float64, avx bool) {
	if d == 1 && len(h) == 1 {
		shift(dst, x[:len(dst)], mean, avx) // h[0] is 1: no reduction
		return
	}
	if d != 4 || len(h) != 10 {
		for i := range dst {
			dst[i] = dotProduct(h, x[i*d:], avx) - mean
		}
		return
	}
	// 44.1 kHz: the threefold moving average of four samples
	i := 0
	if n := len(dst) &^ 3; avx && n > 0 {
		_ = x[4*(n-1)+9]
		quarterAVX(&dst[0], &x[0], &h[0], mean, n)
		i = n
	}
	t := (*[10]float64)(h)
	for ; i < len(dst); i++ {
		v := (*[10]float64)(x[4*i : 4*i+10])
		a, b := (t[0]*v[0]+t[4]*v[4])+t[8]*v[8], (t[1]*v[1]+t[5]*v[5])+t[9]*v[9]
		c, e := t[2]*v[2]+t[6]*v[6], t[3]*v[3]+t[7]*v[7]
		dst[i] = ((a + b) + (c + e)) - mean
	}
}

// The natural logarithm by the argument reduction and the polynomial of
// FreeBSD's e_log.c (Sun Microsystems, 1993; error below one unit of the last
// place), which package math has too: with x = 2ᵏ·(1 + f), √½ ≤ 1 + f < √2, and
// s = f/(2 + f).
const (
	logHalfRoot = 0x3fe6a09e667f3bcd // the bits of √½
	logOne      = 0x3ff0000000000000 // of 1
	logShift    = logOne - logHalfRoot
	logExponent = 0xfff0000000000000
	ln2Hi       = 6.93147180369123816490e-01 // 3fe62e42 fee00000
	ln2Lo       = 1.90821492927058770002e-10 // 3dea39ef 35793c76
	logL1       = 6.666666666666735130e-01   // 3FE55555 55555593
	logL2       = 3.999999999940941908e-01   // 3FD99999 9997FA04
	logL3       = 2.857142874366239149e-01   // 3FD24924 94229359
	logL4       = 2.222219843214978396e-01   // 3FCC71C5 1D8E78AF
	logL5       = 1.818357216161805012e-01   // 3FC74664 96CB03DE
	logL6       = 1.531383769920937332e-01   // 3FC39A09 D078C69F
	logL7       = 1.479819860511658591e-01   // 3FC2F112 DF3E5244
	leastNormal = 0x1p-1022
)

// logConstants are what the assembly reads, in the order of its use.
var logConstants = [16]float64{
	math.Float64frombits(logShift), math.Float64frombits(logExponent), 1, 1 << 52, 1<<52 + 1023,
	2, 0.5, logL7, logL5, logL3, logL1, logL6, logL4, logL2, ln2Hi, ln2Lo,
}

// logs computes ln x[j] into dst, which is as long and may be x. Every x is
// positive, finite and normal.
func logs(dst, x []float64, avx2 bool) {
	dst = dst[:len(x)]
	j := 0
	if n := len(x) &^ 3; avx2 && n > 0 {
		logsAVX2(&dst[0], &x[0], &logConstants, n)
		j = n
	}
	for ; j < len(x); j++ {
		dst[j] = logGo(x[j])
	}
}

func logGo(x float64) float64 {
	bits := math.Float64bits(x)
	u := bits + logShift
	k := float64(int64(u>>52) - 1023)
	f := math.Float64frombits(bits-u&logExponent+logOne) - 1
	s := f / (2 + f)
	s2 := s * s
	s4 := s2 * s2
	t1 := s2 * (logL1 + s4*(logL3+s4*(logL5+s4*logL7)))
	t2 := s4 * (logL2 + s4*(logL4+s4*logL6))
	half := 0.5 * f * f
	return k*ln2Hi - ((half - (s*(half+(t1+t2)) + k*ln2Lo)) - f)
}
