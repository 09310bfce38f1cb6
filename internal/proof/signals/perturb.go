package signals

import (
	"math"
	"sync"
)

// A Train is a sequence of glottal pulses: their times in seconds and their amplitudes.
type Train struct{ Times, Amplitudes []float64 }

const (
	trainStart = 0.02    // s, the time of the first pulse
	trainEnd   = 0.04    // s, the time before the end in which no period begins
	pulseSigma = 0.00012 // s, the width of the Gaussian pulse: −20 dB near 2.9 kHz, so that it does not alias
)

// NewTrain returns a train of dur seconds. Its periods and amplitudes are independent
// Gaussians, clipped at 3σ, with means 1/f0 and 1. Jitter and shimmer are the expected
// local jitter and shimmer, as ratios. [Train.Truth] returns those of the train.
func NewTrain(f0, dur, jitter, shimmer float64, seed uint64) Train {
	r := newRand(seed)
	// E|a−b| = 2σ/√π for independent Gaussians
	sj, ss := jitter*math.Sqrt(math.Pi)/2, shimmer*math.Sqrt(math.Pi)/2
	draw := func(s float64) float64 { return 1 + s*min(max(r.NormFloat64(), -3), 3) }
	t := Train{Times: []float64{trainStart}, Amplitudes: []float64{draw(ss)}}
	for last := trainStart; last < dur-trainEnd; {
		last += draw(sj) / f0
		t.Times = append(t.Times, last)
		t.Amplitudes = append(t.Amplitudes, draw(ss))
	}
	return t
}

// Perturbation is the jitter and shimmer of a [Train] by definition. All are ratios except
// JitterAbs, in seconds, and ShimmerDB, in dB.
type Perturbation struct {
	JitterLocal, JitterAbs, JitterRAP, JitterPPQ5                   float64
	ShimmerLocal, ShimmerDB, ShimmerAPQ3, ShimmerAPQ5, ShimmerAPQ11 float64
}

// Truth computes the perturbation measures from the times and amplitudes of the pulses.
func (t Train) Truth() Perturbation {
	p := make([]float64, len(t.Times)-1)
	for i := range p {
		p[i] = t.Times[i+1] - t.Times[i]
	}
	a := t.Amplitudes
	var db float64
	for i := 1; i < len(a); i++ {
		db += math.Abs(20 * math.Log10(a[i]/a[i-1]))
	}
	return Perturbation{
		JitterLocal: quotient(p, 0), JitterAbs: quotient(p, 0) * mean(p),
		JitterRAP: quotient(p, 3), JitterPPQ5: quotient(p, 5),
		ShimmerLocal: quotient(a, 0), ShimmerDB: db / float64(len(a)-1),
		ShimmerAPQ3: quotient(a, 3), ShimmerAPQ5: quotient(a, 5), ShimmerAPQ11: quotient(a, 11),
	}
}

func mean(v []float64) float64 {
	var s float64
	for _, x := range v {
		s += x
	}
	return s / float64(len(v))
}

// quotient is the perturbation quotient of v over n points: the mean absolute difference of
// a value from the mean of the n values around it, divided by the mean of v. For n = 0 it is
// the difference from the value before.
func quotient(v []float64, n int) float64 {
	var s float64
	var m int
	if n == 0 {
		for i := 1; i < len(v); i++ {
			s += math.Abs(v[i] - v[i-1])
			m++
		}
	} else {
		for i := n / 2; i < len(v)-n/2; i++ {
			s += math.Abs(v[i] - mean(v[i-n/2:i+n/2+1]))
			m++
		}
	}
	return s / float64(m) / mean(v)
}

// Pulses renders the train as Gaussian pulses at exact fractional times.
func (t Train) Pulses(sr, dur float64) []float64 {
	x := make([]float64, samples(sr, dur))
	s := pulseSigma * sr
	for j, c := range t.Times {
		c *= sr
		for i := max(int(c-8*s), 0); i < min(int(c+8*s)+2, len(x)); i++ {
			d := (float64(i) - c) / s
			x[i] += t.Amplitudes[j] * math.Exp(-0.5*d*d)
		}
	}
	return x
}

// formantRing are the damped sinusoids of [Train.Vowel]: frequency and bandwidth in Hz, and
// amplitude.
var formantRing = [][3]float64{{700, 90, 1}, {1220, 110, 0.5}, {2600, 160, 0.18}, {3300, 250, 0.08}}

const (
	ringTime  = 0.030  // s, the length of the response
	ringLead  = 353    // steps of the table (1 ms) from the start of the response to the excitation
	ringTable = 352800 // Hz, the rate of the response table: 40 times its band, so that cubic interpolation is exact to 1e-7
)

// ring is the response of the vowel to one pulse, at the rate ringTable, from ringLead
// steps before the pulse: the damped sinusoids, low-passed by the Gaussian pulse. It is
// computed once.
var ring = sync.OnceValue(func() []float64 {
	rate := float64(ringTable)
	raw := make([]float64, int(ringTime*rate)+1)
	for i := range raw {
		t := float64(i) / ringTable
		for _, f := range formantRing {
			raw[i] += f[2] * math.Exp(-math.Pi*f[1]*t) * math.Sin(2*math.Pi*f[0]*t)
		}
	}
	g := make([]float64, 2*ringLead+1)
	var sum float64
	for i := range g {
		d := float64(i-ringLead) / ringTable / pulseSigma
		g[i] = math.Exp(-0.5 * d * d)
		sum += g[i]
	}
	h := make([]float64, len(raw)+ringLead)
	for i := range h {
		for j := max(0, i-len(g)+1); j <= min(i, len(raw)-1); j++ {
			h[i] += raw[j] * g[i-j]
		}
		h[i] /= sum
		if t := float64(i-ringLead) / ringTable; t > ringTime-0.005 {
			h[i] *= 0.5 + 0.5*math.Cos(math.Pi*min((t-ringTime+0.005)/0.005, 1))
		}
	}
	return h
})

// Vowel renders the train as a vowel. Every pulse excites four formants (700, 1220, 2600 and
// 3300 Hz) at its exact fractional time, and the responses add up.
func (t Train) Vowel(sr, dur float64) []float64 {
	x := make([]float64, samples(sr, dur))
	h := ring()
	for j, c := range t.Times {
		from := max(int(math.Ceil((c-ringLead/float64(ringTable))*sr)), 0)
		for i := from; i < len(x); i++ {
			p := (float64(i)/sr-c)*ringTable + ringLead
			k := int(p)
			if k+2 >= len(h) {
				break
			}
			if k < 1 {
				continue
			}
			x[i] += t.Amplitudes[j] * cubic(h[k-1:k+3], p-float64(k))
		}
	}
	return x
}

// cubic is Lagrange's interpolation between y[1] and y[2] at w in [0, 1].
func cubic(y []float64, w float64) float64 {
	return y[0]*(-w*(w-1)*(w-2)/6) + y[1]*((w+1)*(w-1)*(w-2)/2) +
		y[2]*(-(w+1)*w*(w-2)/2) + y[3]*((w+1)*w*(w-1)/6)
}

// HNR returns a strictly periodic vowel of f0 Hz and peak 0.4 in white noise, for dur
// seconds. The power of the noise, in the whole band 0 to sr/2, is hnr dB below that of the
// vowel; both exclude the first and last 0.1 s. If the peak would exceed 0.95, the signal is
// scaled to it.
func HNR(sr, f0, hnr, dur float64, seed uint64) []float64 {
	t := Train{}
	for i := range int((dur - 0.06) * f0) {
		t.Times = append(t.Times, trainStart+float64(i)/f0)
		t.Amplitudes = append(t.Amplitudes, 1)
	}
	x := Normalize(t.Vowel(sr, dur), 0.4)
	from, to := samples(sr, 0.1), samples(sr, dur-0.1)
	m := mean(x[from:to])
	x = AddNoiseRef(x, Power(x[from:to])-m*m, from, to, hnr, seed)
	var peak float64
	for _, v := range x {
		peak = max(peak, math.Abs(v))
	}
	if peak > 0.95 {
		Scale(x, 0.95/peak)
	}
	return x
}
