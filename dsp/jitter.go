package dsp

import "math"

const (
	// Limits of what counts as a period, as the multi-dimensional voice
	// programs have them: 0.1 to 20 ms, and no more than 1.3 times its
	// neighbour.
	shortestPeriod, longestPeriod = 0.0001, 0.020
	largestPeriodFactor           = 1.3
)

// MeasureJitter measures the perturbation of the periods T between the given
// pulse times in seconds, ascending, as [Pulses.Find] gives them:
//
//	Local    = mean |T[i] − T[i−1]| / mean T
//	Absolute = mean |T[i] − T[i−1]| in seconds
//	RAP      = mean |T[i] − (T[i−1] + T[i] + T[i+1])/3| / mean T
//	PPQ5     = mean |T[i] − (T[i−2] + … + T[i+2])/5| / mean T
//	DDP      = mean |(T[i+1] − T[i]) − (T[i] − T[i−1])| / mean T = 3·RAP
//
// An interval outside 0.1 to 20 ms is no period, and groups in which a period
// is more than 1.3 times its neighbour (a gap, a missed pulse) do not take
// part. A measure without a group is NaN.
func MeasureJitter(pulses []float64) Jitter {
	var sum [6]float64 // by group size: |Σ w·T|
	var count [6]int
	var total float64
	var periods int
	run := 0 // periods before this one that belong together with it
	for i := 1; i < len(pulses); i++ {
		T := pulses[i] - pulses[i-1]
		if !(T >= shortestPeriod && T <= longestPeriod) {
			run = 0
			continue
		}
		total += T
		periods++
		if run > 0 {
			before := pulses[i-1] - pulses[i-2]
			if max(T, before) > largestPeriodFactor*min(T, before) {
				run = 0
			}
		}
		run++
		for _, n := range [3]int{2, 3, 5} {
			if run >= n {
				sum[n] += periodDeviation(pulses[i-n : i+1])
				count[n]++
			}
		}
	}
	mean := total / float64(periods)
	per := func(n int) float64 {
		if count[n] == 0 {
			return math.NaN()
		}
		return sum[n] / float64(count[n])
	}
	return Jitter{
		Local: per(2) / mean, Absolute: per(2),
		RAP: per(3) / mean, PPQ5: per(5) / mean, DDP: 3 * per(3) / mean,
	}
}

// periodDeviation is, of the n periods between n+1 pulse times, the distance of
// the middle one from their mean, or for two of the one from the other.
func periodDeviation(t []float64) float64 {
	n := len(t) - 1
	if n == 2 {
		return math.Abs((t[2] - t[1]) - (t[1] - t[0]))
	}
	return math.Abs(t[n/2+1] - t[n/2] - (t[n]-t[0])/float64(n))
}
