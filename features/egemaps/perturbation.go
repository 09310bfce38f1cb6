package egemaps

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	// largestPeriod in seconds and largestRatio bound two pulses, or two periods,
	// that belong together: the standard limits of perturbation measures (Praat
	// manual, page "Voice 2. Jitter"), for F0 from 50 Hz.
	largestPeriod = 0.020
	largestRatio  = 1.3
)

// A period is one period of the voice.
type period struct {
	start, end float64 // seconds
	amplitude  float64 // largest less smallest sample
	next       bool    // whether the following period begins where this one ends and is of like length
}

// periodsOf lists the periods between the pulses of a recording.
func periodsOf(dst []period, x, pulses []float64) []period {
	dst = dst[:0]
	for i := 1; i < len(pulses); i++ {
		a, b := pulses[i-1], pulses[i]
		if b-a > largestPeriod {
			continue
		}
		lo, hi := int(a*dsp.SampleRate), int(b*dsp.SampleRate)
		lo, hi = max(lo, 0), min(hi, len(x))
		if lo >= hi {
			continue
		}
		least, most := x[lo], x[lo]
		for _, v := range x[lo:hi] {
			least, most = min(least, v), max(most, v)
		}
		if n := len(dst); n > 0 && dst[n-1].end == a {
			T, before := b-a, dst[n-1].end-dst[n-1].start
			dst[n-1].next = max(T, before) <= largestRatio*min(T, before)
		}
		dst = append(dst, period{start: a, end: b, amplitude: most - least})
	}
	return dst
}

// perturbation returns jitter and shimmer of the periods p that begin at lo or later
// and end at hi or earlier, in seconds:
//
//	jitter  = mean |T[i] − T[i−1]| / mean T
//	shimmer = mean |20·log10(A[i] / A[i−1])| in dB
//
// over neighbouring periods T with the peak-to-peak amplitudes A (Eyben et al. 2016,
// section 3.1). Both are NaN without two neighbouring periods. from is the index of
// the first period that can begin at lo or later; the result is that of this one.
func perturbation(p []period, from int, lo, hi float64) (jitter, shimmer float64, first int) {
	for from < len(p) && p[from].start < lo {
		from++
	}
	var differences, lengths, decibels float64
	pairs, loud, n := 0, 0, 0
	for i := from; i < len(p) && p[i].end <= hi; i++ {
		lengths += p[i].end - p[i].start
		n++
		if !p[i].next || p[i+1].end > hi {
			continue
		}
		differences += math.Abs((p[i+1].end - p[i+1].start) - (p[i].end - p[i].start))
		pairs++
		if p[i].amplitude > 0 && p[i+1].amplitude > 0 {
			decibels += math.Abs(20 * math.Log10(p[i+1].amplitude/p[i].amplitude))
			loud++
		}
	}
	jitter, shimmer = math.NaN(), math.NaN()
	if pairs > 0 {
		jitter = differences / float64(pairs) / (lengths / float64(n))
	}
	if loud > 0 {
		shimmer = decibels / float64(loud)
	}
	return jitter, shimmer, from
}
