package dsp

import "math"

// formantRate is the rate, in Hz, at which formants are estimated: a quarter
// of SampleRate, the nearest to the customary 11 kHz that needs no fractional
// resampling.
const formantRate = SampleRate / 4

// Half-lengths of the two half-band filters, in samples at their own input rate. The
// first separates 0 to 5.5 kHz from the band that folds onto it (16.5 to 22 kHz); the
// second passes 0 to 4.6 kHz. Twice the length changes no formant of the Klatt vowels
// by 0.01 %.
const (
	halfBand1 = 7
	halfBand2 = 23
)

// halfBandBeta is the Kaiser window's parameter: 60 dB of stop band (Kaiser
// 1974, beta = 0.1102(A-8.7)), the dynamic range of a formant analysis.
const halfBandBeta = 5.65

// A quarter decimates by four in two half-band steps. A half-band filter has
// every other coefficient zero but the middle one, which is one half.
type quarter struct {
	h1  [(halfBand1 + 1) / 2]float64 // odd coefficients from the middle outwards, sum 1/4
	h2  [(halfBand2 + 1) / 2]float64
	u   []float64 // the signal at half rate
	pad []float64 // input with zeros outside the signal

	even, odd []float64 // the samples of a step that are at even and odd places, for the assembly
}

func newQuarter() *quarter {
	q := new(quarter)
	copy(q.h1[:], halfBand(halfBand1))
	copy(q.h2[:], halfBand(halfBand2))
	return q
}

// halfBand returns the coefficients at 1, 3, 5, … ≤ l of the half-band filter
// sin(πk/2)/(πk) under a Kaiser window, scaled to a gain of one at 0 Hz.
func halfBand(l int) []float64 {
	var h []float64
	var sum float64
	for k := 1; k <= l; k += 2 {
		r := float64(k) / float64(l+2)
		v := math.Sin(0.5*math.Pi*float64(k)) / (math.Pi * float64(k)) * besselI0(halfBandBeta*math.Sqrt(1-r*r))
		h = append(h, v)
		sum += v
	}
	for i := range h {
		h[i] *= 0.25 / sum
	}
	return h
}

// run fills dst with the samples first, first+1, … of x - offset at a quarter
// of the rate; sample m is at the time of x[4m]. x - offset is taken as zero
// outside x.
func (q *quarter) run(dst []float64, x *signal, first int, offset float64) {
	if len(dst) == 0 {
		return
	}
	nu := 2*(len(dst)-1) + 2*halfBand2 + 1
	u0 := 2*first - halfBand2 // first sample at half rate
	np := 2*(nu-1) + 2*halfBand1 + 1
	p0 := 2*u0 - halfBand1 // first sample at full rate
	q.u = sized(q.u, nu)
	var in []float64
	if p0 < 0 || p0+np > x.n || offset != 0 {
		q.pad = sized(q.pad, np)
		in = q.pad
		lo, hi := overlap(np, x.n, p0)
		clear(in[:lo])
		if lo < hi {
			shift(in[lo:hi], x.part(p0+lo, p0+hi), offset, hasAVX)
		}
		clear(in[hi:])
	} else {
		in = x.part(p0, p0+np)
	}
	q.halve(q.u, in, q.h1[:])
	q.halve(dst, q.u, q.h2[:])
}

// halve fills dst with every second sample of x filtered by the half-band
// filter h of 4 or 12 coefficients; dst[0] is centred on x[2·len(h)−1].
func (q *quarter) halve(dst, x, h []float64) {
	i := 0
	if n := len(dst) &^ 3; hasAVX && n > 0 {
		m := (n + 2*len(h) - 1 + 3) &^ 3 // pairs of samples, rounded up where x has them
		if 2*m > len(x) {
			m = len(x) / 2 &^ 3
		}
		n = min(n, m-2*len(h)+1) &^ 3
		if n > 0 {
			q.even, q.odd = sized(q.even, m), sized(q.odd, m)
			split(q.even, q.odd, x, true)
			halveAVX(&dst[0], &q.even[0], &q.odd[0], &h[0], len(h), n)
			i = n
		}
	}
	if len(h) == 4 {
		halve4(dst[i:], x[2*i:], (*[4]float64)(h))
	} else {
		halve12(dst[i:], x[2*i:], (*[12]float64)(h))
	}
}

// split sets even[i] to x[2i] and odd[i] to x[2i+1], for every i of odd.
func split(even, odd, x []float64, avx bool) {
	even, x = even[:len(odd)], x[:2*len(odd)]
	i := 0
	if n := len(odd) &^ 3; avx && n > 0 {
		splitAVX(&even[0], &odd[0], &x[0], n)
		i = n
	}
	for ; i < len(odd); i++ {
		even[i], odd[i] = x[2*i], x[2*i+1]
	}
}

// halve4 fills dst with every second sample of x filtered by the half-band
// filter h; dst[0] is centred on x[7].
func halve4(dst, x []float64, h *[4]float64) {
	h0, h1, h2, h3 := h[0], h[1], h[2], h[3]
	for i := range dst {
		v := x[2*i : 2*i+15 : 2*i+15]
		dst[i] = 0.5*v[7] + h0*(v[6]+v[8]) + h1*(v[4]+v[10]) + h2*(v[2]+v[12]) + h3*(v[0]+v[14])
	}
}

// halve12 is halve4 for a longer filter; dst[0] is centred on x[23].
func halve12(dst, x []float64, h *[12]float64) {
	for i := range dst {
		v := x[2*i : 2*i+47 : 2*i+47]
		a := 0.5*v[23] + h[0]*(v[22]+v[24]) + h[1]*(v[20]+v[26]) + h[2]*(v[18]+v[28]) + h[3]*(v[16]+v[30])
		b := h[4]*(v[14]+v[32]) + h[5]*(v[12]+v[34]) + h[6]*(v[10]+v[36]) + h[7]*(v[8]+v[38])
		c := h[8]*(v[6]+v[40]) + h[9]*(v[4]+v[42]) + h[10]*(v[2]+v[44]) + h[11]*(v[0]+v[46])
		dst[i] = a + b + c
	}
}
