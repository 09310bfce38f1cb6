package dsp

import "math"

// amplitudeReach is the half width, in periods, of the window in which the
// amplitude of a pulse is measured: that of the programs which README.md compares
// with.
const amplitudeReach = 0.2

// Amplitudes returns one amplitude for each pulse that the last call of
// [Pulses.Find] returned, at least 0 and in the unit of the samples. It is NaN for
// a pulse too near an end of the recording. The slice is valid until the next call
// of Find and must not be changed.
//
// An amplitude is the RMS under a Hann window of ±0.2 periods around the pulse, as
// is usual for shimmer, but only of the waveform that this pulse excites. The
// ringing of earlier periods is predicted from the samples before the pulse (free
// decay of the model of D. Wong, J. Markel and A. Gray, "Least squares glottal
// inverse filtering from the acoustic speech waveform", IEEE Trans. ASSP 27, 1979)
// and subtracted. The ringing would mix the amplitudes of neighbouring periods,
// which hides or doubles the shimmer of a high voice and adds shimmer to a voice
// that only has jitter. The method is the project's own; figures are in README.md.
func (p *Pulses) Amplitudes() []float64 { return p.amp }

// amplitude is the amplitude of the excitation at the sample at, whose waveform is
// largest shift samples later, in a period of T samples.
func (p *Pulses) amplitude(at, shift, T float64) float64 {
	c, half := at+shift, amplitudeReach*T
	from := int(at - min(ringBefore*p.rate, 0.15*T))
	to := int(c+half) + 1
	z := p.res.ring(p.y, from, to)
	if z == nil {
		return math.NaN()
	}
	var e, ring, all float64
	// cos(π·d) of the samples at c + d·half, by rotation
	step := math.Pi / half
	first := max(0, int(math.Floor(c-half))+1-from)
	ds, dc := math.Sincos(step)
	sin, cos := math.Sincos((float64(from+first) - c) * step)
	for i := first; i < len(z) && float64(from+i) < c+half; i++ {
		h := 0.5 + 0.5*cos
		sin, cos = sin*dc+cos*ds, cos*dc-sin*ds
		r, y := z[i], p.y[from+i]
		e += h * (y - r) * (y - r)
		ring += h * r * r
		all += h * y * y
	}
	if ring > 4*all { // a failed prediction: twice as loud as the whole signal
		e = all
	}
	return math.Sqrt(e / half) // half is the sum of the window
}

// trim cuts off the pulses at both ends of q that are only the decay of earlier
// ones: at most endRing, from the first one on whose own amplitude is below
// pulseDecay of that of its inner neighbour. It returns the rest of q and of the
// amplitudes a.
func trim(q, a []float64) (_, _ []float64) {
	lo, hi := 0, len(q)
	for k := max(1, hi-endRing); k < hi; k++ {
		if a[k] < pulseDecay*a[k-1] {
			hi = k
		}
	}
	for k := min(hi-2, endRing-1); k >= lo; k-- {
		if a[k] < pulseDecay*a[k+1] {
			lo = k + 1
		}
	}
	return q[lo:hi], a[lo:hi]
}
