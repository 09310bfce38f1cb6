package dsp

import "math"

const (
	// Limits of a period: the standard settings of the Praat manual, page
	// "PointProcess: Get jitter (local)...", with its ceiling for 50 Hz.
	// Neighbours differ by a factor of at most 1.3.
	shortestPeriod, longestPeriod = 0.0001, 0.020
	largestPeriodFactor           = 1.3
)

// MeasureJitter measures the perturbation of the periods T between pulses, whose
// times in seconds must ascend, as those of [Pulses.Find] do. It allocates nothing
// and does not change pulses.
//
//	Local    = mean |T[i] − T[i−1]| / mean T
//	Absolute = mean |T[i] − T[i−1]| in seconds
//	RAP      = mean |T[i] − (T[i−1] + T[i] + T[i+1])/3| / mean T
//	PPQ5     = mean |T[i] − (T[i−2] + … + T[i+2])/5| / mean T
//	DDP      = mean |(T[i+1] − T[i]) − (T[i] − T[i−1])| / mean T = 3·RAP
//
// Intervals outside 0.1 to 20 ms are not periods. A group of periods with one of
// more than 1.3 times its neighbour (a gap, a missed pulse) is left out. A measure
// without a group is NaN: all are for fewer than three pulses.
//
// The definitions and limits are those of the Praat manual, pages "Voice 2.
// Jitter" and "PointProcess: Get jitter (local)...", "(local, absolute)...",
// "(rap)...", "(ppq5)..." and "(ddp)...". One differs: mean T is here over every
// interval of 0.1 to 20 ms, and the manual leaves those out that differ from both
// neighbours by more than the factor. The relative average perturbation of three
// periods is after Y. Koike, "Application of some acoustic measures for the
// evaluation of laryngeal dysfunction", Studia Phonologica 7 (1973), 17–23. The
// period perturbation quotient of five is after S. B. Davis, "Computer evaluation
// of laryngeal pathology based on inverse filtering of speech", SCRL Monograph 13
// (1976).
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

// periodDeviation is the distance of the middle one of the n periods between n+1
// pulse times from their mean, and for n = 2 the difference of the two periods.
func periodDeviation(t []float64) float64 {
	n := len(t) - 1
	if n == 2 {
		return math.Abs((t[2] - t[1]) - (t[1] - t[0]))
	}
	return math.Abs(t[n/2+1] - t[n/2] - (t[n]-t[0])/float64(n))
}
