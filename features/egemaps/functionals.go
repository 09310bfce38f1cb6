package egemaps

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// smooth fills dst with the symmetric moving average of x over three frames. A frame
// that is NaN stays NaN and is left out of the average of its neighbours, so that a
// voiced stretch is not smoothed into an unvoiced one (Eyben et al. 2016, section 3).
func smooth(dst, x []float64) {
	for i, v := range x {
		if math.IsNaN(v) {
			dst[i] = v
			continue
		}
		s, n := v, 1.0
		if i > 0 && !math.IsNaN(x[i-1]) {
			s, n = s+x[i-1], n+1
		}
		if i+1 < len(x) && !math.IsNaN(x[i+1]) {
			s, n = s+x[i+1], n+1
		}
		dst[i] = s / n
	}
}

// defined appends the values of x that are finite to dst[:0].
func defined(dst, x []float64) []float64 {
	dst = dst[:0]
	for _, v := range x {
		if dsp.Finite(v) {
			dst = append(dst, v)
		}
	}
	return dst
}

// meanVariation returns the mean of x and the standard deviation over the mean, both
// with the divisor n. The coefficient of variation has the sign of the mean. Both
// are NaN if x is empty; the second is NaN if the mean is 0.
func meanVariation(x []float64) (mean, variation float64) {
	mean, sd := meanSD(x)
	if mean == 0 {
		return mean, math.NaN()
	}
	return mean, sd / mean
}

// meanSD returns the mean and the standard deviation of x, with the divisor n.
func meanSD(x []float64) (mean, sd float64) {
	mean, m2, _, _ := dsp.CentralMoments(x)
	return mean, math.Sqrt(m2)
}

// prominence is how far a peak or a valley must stand out of a track, as a share of
// its 95th minus its 5th percentile. The paper states none. Chosen: a tenth keeps
// syllables and leaves out the ripple on them, as loudness.peaks_s of voice/1 does.
const prominence = 0.1

// A turn is a local extremum of a track.
type turn struct {
	at    int // index
	isTop bool
}

// turns lists the local extrema of x that stand out by at least least, tops and
// bottoms in turn. The first and the last value of x are extrema if x leads away
// from them by that much. Of a plateau the first index counts.
func turns(x []float64, least float64) []turn {
	var out []turn
	top, bottom := 0, 0 // the highest and the lowest value since the latest extremum
	direction := 0      // 1 rising, −1 falling, 0 not known yet
	for i, v := range x {
		if v > x[top] {
			top = i
		}
		if v < x[bottom] {
			bottom = i
		}
		switch {
		case direction <= 0 && v-x[bottom] >= least && v > x[bottom]:
			out = append(out, turn{bottom, false})
			direction, top = 1, i
		case direction >= 0 && x[top]-v >= least && v < x[top]:
			out = append(out, turn{top, true})
			direction, bottom = -1, i
		}
	}
	switch {
	case direction > 0:
		out = append(out, turn{top, true})
	case direction < 0:
		out = append(out, turn{bottom, false})
	}
	return out
}

// slopes returns mean and standard deviation of the slopes, per second, of the
// rising and of the falling parts of x, which is sampled every [dsp.Hop]. A part
// leads from one of the extrema to the next; its slope is the difference of its ends
// over its length. The slope of a falling part counts as positive. Without a part its
// figures are NaN.
func slopes(x []float64, extrema []turn) (riseMean, riseSD, fallMean, fallSD float64) {
	var rise, fall []float64
	for i := 1; i < len(extrema); i++ {
		a, b := extrema[i-1].at, extrema[i].at
		slope := (x[b] - x[a]) / (float64(b-a) * dsp.Hop)
		if extrema[i].isTop {
			rise = append(rise, slope)
		} else {
			fall = append(fall, -slope)
		}
	}
	riseMean, riseSD = meanSD(rise)
	fallMean, fallSD = meanSD(fall)
	return riseMean, riseSD, fallMean, fallSD
}

// runs returns the lengths in seconds of the stretches of frames for which F0 is
// above 0, or of those for which it is not.
func runs(f0 []float64, voiced bool) []float64 {
	var out []float64
	n := 0
	for i, f := range f0 {
		if (f > 0) == voiced {
			n++
		}
		if n > 0 && ((f > 0) != voiced || i == len(f0)-1) {
			out = append(out, float64(n)*dsp.Hop)
			n = 0
		}
	}
	return out
}
