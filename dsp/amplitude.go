package dsp

import "math"

// amplitudeReach is the half width, in periods, of the window in which the
// amplitude of a pulse is taken: what the reference methods for shimmer use.
const amplitudeReach = 0.2

// Amplitudes returns the amplitudes of the pulses that the last call of Find
// returned, one for each, in the unit of the samples; NaN where a pulse is too
// near an end of the recording. They are valid until the next call of Find.
//
// An amplitude is the RMS under a Hann window of ±0.2 periods round the pulse,
// as is usual for shimmer, but of what this pulse alone excites: the ringing of
// earlier periods is predicted from the samples before the pulse and
// subtracted. With it, the amplitudes of neighbouring periods mix, which in a
// high voice hides or doubles shimmer and turns jitter into shimmer.
func (p *Pulses) Amplitudes() []float64 { return p.amp }

// amplitude is that of the excitation at, whose waveform is largest shift
// samples later, in a period of T samples.
func (p *Pulses) amplitude(at, shift, T float64) float64 {
	c, half := at+shift, amplitudeReach*T
	from := int(at - min(ringBefore*p.rate, 0.15*T))
	to := int(c+half) + 1
	z := p.res.ring(p.y, from, to)
	if z == nil {
		return math.NaN()
	}
	var e, ring, all float64
	for i, r := range z {
		d := (float64(from+i) - c) / half
		if d <= -1 || d >= 1 {
			continue
		}
		h := 0.5 + 0.5*math.Cos(math.Pi*d)
		y := p.y[from+i]
		e += h * (y - r) * (y - r)
		ring += h * r * r
		all += h * y * y
	}
	if ring > 4*all { // no prediction: it would ring twice as loud as all there is
		e = all
	}
	return math.Sqrt(e / half) // half is the sum of the window
}

// trim cuts off the pulses at both ends of q that only ring: at most endRing,
// from the first one on whose own amplitude falls below pulseDead of that of
// its inner neighbour. It returns what is left of q and of the amplitudes a.
func trim(q, a []float64) (_, _ []float64) {
	lo, hi := 0, len(q)
	for k := max(1, hi-endRing); k < hi; k++ {
		if a[k] < pulseDead*a[k-1] {
			hi = k
		}
	}
	for k := min(hi-2, endRing-1); k >= lo; k-- {
		if a[k] < pulseDead*a[k+1] {
			lo = k + 1
		}
	}
	return q[lo:hi], a[lo:hi]
}
