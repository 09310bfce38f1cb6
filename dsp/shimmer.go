package dsp

import "math"

// largestAmplitudeFactor is the largest ratio of the amplitudes of neighbouring
// pulses that takes part in shimmer. The 1.6 of the Praat manual, page "Voice 3.
// Shimmer", cuts off the largest steps of a voice with 12 % shimmer, which then
// measures 0.7 % low. 2, or 6 dB, still leaves out pulses that are not neighbours.
const largestAmplitudeFactor = 2.0

// MeasureShimmer measures the perturbation of the amplitudes A of pulses. The
// pulses' times in seconds ascend; they and the amplitudes, in any unit, are as
// [Pulses.Find] and [Pulses.Amplitudes] give them. It allocates nothing and
// changes neither slice.
//
//	Local   = mean |A[i] − A[i−1]| / mean A
//	LocalDB = mean |20·log10(A[i]/A[i−1])|
//	APQn    = mean |A[i] − mean of the n around it| / mean A,  n = 3, 5, 11
//
// The limits on periods are those of [MeasureJitter]. Groups in which an amplitude
// is more than twice its neighbour are left out, and so are amplitudes that are NaN
// or not positive. A measure without a group is NaN: all are for fewer than two
// pulses. It panics if there are not as many pulses as amplitudes.
//
// The definitions are those of the Praat manual, pages "Voice 3. Shimmer" and
// "PointProcess & Sound: Get shimmer (local)..." and likewise for the other measures,
// with a larger factor between amplitudes. The amplitude perturbation quotient is after Y. Koike,
// H. Takahashi and T. C. Calcaterra, "Acoustic measures for detecting laryngeal
// pathology", Acta Otolaryngologica 84 (1977), 105–117, who average over 11
// pulses. The values are not those of other programs, because the amplitudes are
// not: see [Pulses.Amplitudes].
func MeasureShimmer(pulses, amplitudes []float64) Shimmer {
	if len(pulses) != len(amplitudes) {
		panic("dsp: pulses and amplitudes differ in number")
	}
	var s shimmer
	for i, a := range amplitudes {
		s.add(pulses[i], a)
	}
	return s.measures()
}

// A shimmer takes pulses one after the other for [MeasureShimmer]. The zero value is ready
// for use.
type shimmer struct {
	sum       [12]float64 // of the deviations, by the number of amplitudes
	count     [12]int     // of them
	total, db float64     // of the amplitudes, and of the steps in dB
	n, run    int         // amplitudes, and those of the present group
	started   bool
	at, last  float64     // latest pulse, and the period before it
	recent    [11]float64 // latest amplitudes
}

// add takes the next pulse, at a time in seconds, and its amplitude.
func (s *shimmer) add(at, a float64) {
	linked := false
	b := s.recent[len(s.recent)-1]
	if s.started {
		T := at - s.at
		linked = T >= shortestPeriod && T <= longestPeriod
		if linked && s.run > 1 && max(T, s.last) > largestPeriodFactor*min(T, s.last) {
			linked = false
		}
		s.last = T
		linked = linked && a > 0 && b > 0 && max(a, b) <= largestAmplitudeFactor*min(a, b)
	}
	s.started, s.at = true, at
	copy(s.recent[:], s.recent[1:])
	s.recent[len(s.recent)-1] = a
	if !(a > 0) {
		s.run = 0
		return
	}
	if !linked {
		s.run = 0
	}
	s.run++
	s.total += a
	s.n++
	if s.run >= 2 {
		s.sum[2] += math.Abs(a - b)
		s.db += math.Abs(20 * math.Log10(a/b))
		s.count[2]++
	}
	for _, k := range [3]int{3, 5, 11} {
		if s.run >= k {
			s.sum[k] += amplitudeDeviation(s.recent[len(s.recent)-k:])
			s.count[k]++
		}
	}
}

// measures returns the measures of the pulses so far.
func (s *shimmer) measures() Shimmer {
	mean := s.total / float64(s.n)
	per := func(k int) float64 {
		if s.count[k] == 0 {
			return math.NaN()
		}
		return s.sum[k] / float64(s.count[k]) / mean
	}
	out := Shimmer{Local: per(2), LocalDB: math.NaN(), APQ3: per(3), APQ5: per(5), APQ11: per(11)}
	if s.count[2] > 0 {
		out.LocalDB = s.db / float64(s.count[2])
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
