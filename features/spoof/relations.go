package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// How the measures of a voice move together. A throat moves all bands at once; the
// decoder of a synthetic voice makes each band by its own weights.
const (
	leastPairs     = 12   // values that a correlation or a shape needs; chosen
	bandLag        = 8    // frames of an envelope, 16 ms: of 4, 8, 16 and 32 frames none is better
	loudLag        = 16   // frames of an envelope, 32 ms
	periodicityLag = 3    // frames of the pitch, 30 ms
	leastPeriod    = 1e-4 // added to |ln| of a ratio of periods: a hundredth of a sample at 160 Hz
	leastStep      = 1e-3 // added to |ln| of a ratio of amplitudes: 0.01 dB

	leastCorrelation = 0.02 // in a tetrad; chosen
)

// A relation accumulates pairs of values.
type relation struct{ n, x, y, xx, xy, yy float64 }

func (r *relation) add(x, y float64) {
	r.n++
	r.x += x
	r.y += y
	r.xx += x * x
	r.xy += x * y
	r.yy += y * y
}

// correlation is Pearson's, NaN of fewer than leastPairs pairs.
func (r *relation) correlation() float64 {
	if r.n < leastPairs {
		return math.NaN()
	}
	return min(max((r.xy-r.x*r.y/r.n)/math.Sqrt((r.xx-r.x*r.x/r.n)*(r.yy-r.y*r.y/r.n)), -1), 1)
}

// correlation is Pearson's of x and y, NaN of fewer than leastPairs values.
func correlation(x, y []float64) float64 {
	if len(x) < leastPairs {
		return math.NaN()
	}
	meanX, squaresX := spread(x)
	meanY, squaresY := spread(y)
	return min(max((dsp.Dot(x, y)-float64(len(x))*meanX*meanY)/math.Sqrt(squaresX*squaresY), -1), 1)
}

// spread returns the mean of x and Σ (x − mean)².
func spread(x []float64) (mean, squares float64) {
	n := float64(len(x))
	mean = dsp.Sum(x) / n
	return mean, dsp.Dot(x, x) - n*mean*mean
}

// tetradLags are the frames of an envelope over which tetrads are taken: 16, 32 and 64 ms.
// 8 ms says nothing besides.
var tetradLags = [...]int{bandLag, 2 * bandLag, 4 * bandLag}

// bands fills envelope.voiced.band*.loudness, *.next, *.second and *.tetrad_*: of the
// changes over 32 ms of the log energy of each band the slope on those of all bands
// together; of its changes over 16 ms the correlation with those of the next band and of
// the one after that; and of four bands in a row ln(r₁₂·r₃₄ / (r₁₃·r₂₄)) of the correlations
// of their changes over each of tetradLags, which is 0 where one cause moves all of them, and
// which the noise of each band does not change (C. Spearman, The Abilities of Man, 1927, on
// tetrad differences). v.inside and v.changes are overwritten.
func (v *vector) bands(e *envelopes) {
	lo, hi := v.frames(len(e.voiced), envelopeHop, envelopeFrame)
	voiced, tracks := e.voiced[lo:hi], e.bands.tracks
	v.inside = inside(v.inside, voiced, loudLag/2)
	v.changes.reset(2, len(v.inside))
	all, one := v.changes.tracks[0], v.changes.tracks[1]
	changes(all, e.loudness[lo:hi], v.inside, loudLag/2)
	square := dsp.Dot(all, all)
	if len(all) < leastEnvelope {
		square = math.NaN()
	}
	v.from("envelope.voiced.band1.loudness")
	for _, track := range tracks {
		changes(one, track[lo:hi], v.inside, loudLag/2)
		v.put(dsp.Dot(all, one) / square)
	}
	for _, lag := range tetradLags {
		v.inside = inside(v.inside, voiced, lag/2)
		v.changes.reset(len(tracks), len(v.inside))
		for b, track := range tracks {
			changes(v.changes.tracks[b], track[lo:hi], v.inside, lag/2)
		}
		var next, second [len(envelopeBands) - 1]float64
		for b := range len(tracks) - 1 {
			next[b] = correlation(v.changes.tracks[b], v.changes.tracks[b+1])
		}
		for b := range len(tracks) - 2 {
			second[b] = correlation(v.changes.tracks[b], v.changes.tracks[b+2])
		}
		if lag == bandLag {
			v.put(next[:len(next)-1]...)
			v.put(second[:len(second)-2]...)
		}
		for b := range len(tracks) - 3 {
			v.put(positiveLog(next[b]) + positiveLog(next[b+2]) - positiveLog(second[b]) - positiveLog(second[b+1]))
		}
	}
}

// positiveLog is ln of a correlation, at least of leastCorrelation.
func positiveLog(r float64) float64 { return math.Log(max(r, leastCorrelation)) }

// changes sets dst to y[t+l] − y[t−l] of the frames at.
func changes(dst, y []float64, at []int, l int) {
	for i, t := range at {
		dst[i] = y[t+l] - y[t-l]
	}
}

// periodicities fills periodicity.bands.*: of the normalised autocorrelations of each two
// bands the correlation, and that of their changes over 30 ms; and of the changes over 10
// ms of each band that with the level.
func (v *vector) periodicities(p *periods, lo, hi int) {
	on, power := p.frames.on[lo:hi], p.frames.power[lo:hi]
	var level, step [len(periodBands) - 1][len(periodBands) - 1]relation
	var loud [len(periodBands) - 1]relation
	run := 0 // voiced frames up to t
	for t := range on {
		if !on[t] {
			run = 0
			continue
		}
		run++
		louder := 0.0
		if run > 1 {
			louder = math.Log(power[t] / power[t-1])
		}
		for a := range p.bands.tracks {
			x := p.bands.tracks[a][lo:hi]
			for b := a + 1; b < len(p.bands.tracks); b++ {
				y := p.bands.tracks[b][lo:hi]
				level[a][b].add(x[t], y[t])
				if run > periodicityLag {
					step[a][b].add(x[t]-x[t-periodicityLag], y[t]-y[t-periodicityLag])
				}
			}
			if run > 1 {
				loud[a].add(x[t]-x[t-1], louder)
			}
		}
	}
	v.from("periodicity.bands.1_2.level")
	for _, kind := range []*[len(periodBands) - 1][len(periodBands) - 1]relation{&level, &step} {
		for a := range kind {
			for b := a + 1; b < len(kind); b++ {
				v.put(kind[a][b].correlation())
			}
		}
	}
	for a := range loud {
		v.put(loud[a].correlation())
	}
}

// pulseChanges fills perturbation.*_correlation and *_persistence. x is ln of a period
// over the one before and y ln of the amplitude of its pulse over that of the one before:
// the correlation of x and y, that of ln |x| and ln |y|, and of each the correlation with
// itself one pulse before. Where x or y is out of range, see [dsp.MeasureJitter] and
// [dsp.MeasureShimmer], a pulse counts as missing.
func (v *vector) pulseChanges(pulses, amplitudes []float64) {
	var both, sizes relation
	var self [4]relation // of x, y, ln |x|, ln |y|
	var last [4]float64
	run := false // the pulse before was measured
	for i := 2; i < len(pulses); i++ {
		x, ok := periodChange(pulses[i]-pulses[i-1], pulses[i-1]-pulses[i-2])
		y := math.Log(amplitudes[i] / amplitudes[i-1])
		if !ok || !(math.Abs(y) <= mostAmplitudeChange) {
			run = false
			continue
		}
		now := [4]float64{x, y, math.Log(math.Abs(x) + leastPeriod), math.Log(math.Abs(y) + leastStep)}
		both.add(now[0], now[1])
		sizes.add(now[2], now[3])
		for k := range self {
			if run {
				self[k].add(last[k], now[k])
			}
		}
		last, run = now, true
	}
	v.from("perturbation.change_correlation")
	v.put(both.correlation(), sizes.correlation())
	for k := range self {
		v.put(self[k].correlation())
	}
}

// periodChange is ln of the period p in seconds over q, and whether both are in range.
func periodChange(p, q float64) (x float64, ok bool) {
	x = math.Log(p / q)
	return x, p <= longestPeriod && q <= longestPeriod && math.Abs(x) <= mostPeriodChange
}

// bothPeriods are the periods in seconds before and after pulse i, and whether there are two
// and both are in range.
func bothPeriods(pulses []float64, i int) (before, after float64, ok bool) {
	if i == 0 || i+1 == len(pulses) {
		return 0, 0, false
	}
	before, after = pulses[i]-pulses[i-1], pulses[i+1]-pulses[i]
	_, ok = periodChange(before, after)
	return before, after, ok
}

// The limits of dsp.MeasureJitter and dsp.MeasureShimmer, those of Praat: periods of at
// most 20 ms that differ by at most a factor of 1.3; amplitudes by at most 2, here chosen.
const (
	longestPeriod       = 0.02
	mostAmplitudeChange = 0.7
)

var mostPeriodChange = math.Log(1.3)
