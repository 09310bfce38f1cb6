package dsp

import "math"

const (
	// largestAmplitudeFactor is the largest ratio of the amplitudes of
	// neighbouring pulses that takes part in shimmer.
	largestAmplitudeFactor = 1.6
	// amplitudeReach is the half width, in periods, of the window in which the
	// amplitude of a pulse is taken.
	amplitudeReach = 0.2
)

// A Shimmerer measures the perturbation of the amplitude of pulses. It owns
// its scratch memory, allocates nothing once it has seen as many pulses, and is
// not safe for concurrent use.
type Shimmerer struct {
	sr  float64
	amp []float64
}

// NewShimmerer returns a Shimmerer for mono samples at sr Hz.
func NewShimmerer(sr float64) *Shimmerer { return &Shimmerer{sr: sr} }

// Measure measures the perturbation of the amplitudes A of the pulses, whose
// times in seconds, ascending, are as [Pulses.Find] gives them for x:
//
//	Local   = mean |A[i] − A[i−1]| / mean A
//	LocalDB = mean |20·log10(A[i]/A[i−1])|
//	APQn    = mean |A[i] − mean of the n round it| / mean A,  n = 3, 5, 11
//
// A is the RMS of x under a Hann window of ±0.2 periods round the pulse. The
// limits on periods are those of [MeasureJitter]; groups in which an amplitude
// is more than 1.6 times its neighbour do not take part. A measure without a
// group is NaN.
func (s *Shimmerer) Measure(x, pulses []float64) Shimmer {
	s.amp = resize(s.amp, len(pulses))
	for i := range pulses {
		s.amp[i] = s.amplitude(x, pulses, i)
	}
	var sum [12]float64
	var count [12]int
	var total, db float64
	var n, run int
	var last float64 // period before
	for i, a := range s.amp {
		linked := false
		if i > 0 {
			T := pulses[i] - pulses[i-1]
			linked = T >= shortestPeriod && T <= longestPeriod
			if linked && run > 1 && max(T, last) > largestPeriodFactor*min(T, last) {
				linked = false
			}
			last = T
			b := s.amp[i-1]
			linked = linked && a > 0 && b > 0 && max(a, b) <= largestAmplitudeFactor*min(a, b)
		}
		if !(a > 0) {
			run = 0
			continue
		}
		if !linked {
			run = 0
		}
		run++
		total += a
		n++
		if run >= 2 {
			sum[2] += math.Abs(a - s.amp[i-1])
			db += math.Abs(20 * math.Log10(a/s.amp[i-1]))
			count[2]++
		}
		for _, k := range [3]int{3, 5, 11} {
			if run >= k {
				sum[k] += amplitudeDeviation(s.amp[i-k+1 : i+1])
				count[k]++
			}
		}
	}
	mean := total / float64(n)
	per := func(k int) float64 {
		if count[k] == 0 {
			return math.NaN()
		}
		return sum[k] / float64(count[k]) / mean
	}
	out := Shimmer{Local: per(2), LocalDB: math.NaN(), APQ3: per(3), APQ5: per(5), APQ11: per(11)}
	if count[2] > 0 {
		out.LocalDB = db / float64(count[2])
	}
	return out
}

// amplitudeDeviation is the distance of the middle one of a from their mean.
func amplitudeDeviation(a []float64) float64 {
	var s float64
	for _, v := range a {
		s += v
	}
	return math.Abs(a[len(a)/2] - s/float64(len(a)))
}

// amplitude is the RMS of x under a Hann window round pulse i, NaN if that has
// no period next to it or the window reaches beyond x.
func (s *Shimmerer) amplitude(x, pulses []float64, i int) float64 {
	T, m := 0.0, 0
	for _, j := range [2]int{i, i + 1} {
		if j < 1 || j >= len(pulses) {
			continue
		}
		if d := pulses[j] - pulses[j-1]; d >= shortestPeriod && d <= longestPeriod {
			T += d
			m++
		}
	}
	if m == 0 {
		return math.NaN()
	}
	half := amplitudeReach * T / float64(m) * s.sr
	c := pulses[i] * s.sr
	from, to := int(math.Ceil(c-half)), int(c+half)
	if from < 0 || to >= len(x) {
		return math.NaN()
	}
	// the Hann window's cosine by rotation
	step := math.Pi / half
	sin, cos := math.Sincos((float64(from) - c) * step)
	ds, dc := math.Sincos(step)
	var e, w float64
	for _, v := range x[from : to+1] {
		h := 0.5 + 0.5*cos
		e += h * v * v
		w += h
		sin, cos = sin*dc+cos*ds, cos*dc-sin*ds
	}
	return math.Sqrt(e / w)
}
