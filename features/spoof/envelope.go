package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/lanes"
)

const (
	envelopeFrame = 128  // samples, 8 ms
	envelopeHop   = 32   // samples, 2 ms
	envelopeFloor = 1e-9 // energy added to every band: 20 dB below the dither's share of one
	envelopeLag   = 2    // frames from a value to its neighbours in a bend, 4 ms
	envelopeSlow  = 8    // likewise in a correlation, 16 ms
	leastEnvelope = 20   // values that a statistic needs
)

// envelopes holds the log energies of envelopeBands every 2 ms.
type envelopes struct {
	spectrum         *lanes.Spectrum
	bands            table
	active           activity
	voiced, unvoiced []bool // active frames
}

func newEnvelopes() *envelopes {
	return &envelopes{spectrum: lanes.NewSpectrum(dsp.PeriodicHann(envelopeFrame), envelopeFrame)}
}

// measure measures x, whose F0 is given.
func (e *envelopes) measure(x, f0 []float64) {
	n := frameCount(len(x), envelopeHop, envelopeFrame)
	e.bands.reset(len(envelopeBands)-1, n)
	e.active.reset(n)
	e.voiced, e.unvoiced = sized(e.voiced, n), sized(e.unvoiced, n)
	for t := 0; t < n; t += lanes.Count {
		e.spectrum.Measure(x, t*envelopeHop, envelopeHop, n-t)
		var power [lanes.Count]float64
		for b, track := range e.bands.tracks {
			sums := lanes.Sum(e.spectrum.Bins(envelopeBands[b], envelopeBands[b+1]))
			for l := range sums {
				sums[l] += envelopeFloor
				power[l] += sums[l]
			}
			copy(track[t:], sums[:])
		}
		copy(e.active.power[t:], power[:])
	}
	dsp.Log(e.bands.values, e.bands.values)
	e.active.decide()
	for t, on := range e.active.on {
		e.voiced[t] = on && voicedAt(f0, t*envelopeHop+envelopeFrame/2)
		e.unvoiced[t] = on && !e.voiced[t]
	}
}

// envelope fills envelope.*: the skewness of the steps of unvoiced sounds, which
// is positive where rises are steeper than falls; of voiced sounds the skewness
// of the bends, positive where peaks are sharper than valleys, the correlation
// of successive slopes, and the standard deviation of the steps.
func (v *vector) envelope(e *envelopes) {
	lo, hi := v.frames(len(e.voiced), envelopeHop, envelopeFrame)
	voiced, unvoiced := e.voiced[lo:hi], e.unvoiced[lo:hi]
	v.from("envelope.unvoiced.band1.step_skew")
	for _, track := range e.bands.tracks {
		v.steps = steps(v.steps[:0], track[lo:hi], unvoiced)
		v.put(skewness(v.steps))
	}
	for _, track := range e.bands.tracks {
		v.bends = bends(v.bends[:0], track[lo:hi], voiced)
		v.put(skewness(v.bends))
	}
	for _, track := range e.bands.tracks {
		v.put(slopeCorrelation(track[lo:hi], voiced))
	}
	for _, track := range e.bands.tracks {
		v.steps = steps(v.steps[:0], track[lo:hi], voiced)
		v.put(math.Log(deviation(v.steps)))
	}
}

// steps appends to x the steps of y within stretches where on holds.
func steps(x, y []float64, on []bool) []float64 {
	for t := 1; t+1 < len(y); t++ {
		if on[t-1] && on[t] && on[t+1] {
			x = append(x, y[t+1]-y[t])
		}
	}
	return x
}

// bends appends to x the values 2·y[t] − y[t−l] − y[t+l], l = envelopeLag, for
// which on holds at all three.
func bends(x, y []float64, on []bool) []float64 {
	const l = envelopeLag
	for t := l; t+l < len(y); t++ {
		if on[t-l] && on[t] && on[t+l] {
			x = append(x, 2*y[t]-y[t-l]-y[t+l])
		}
	}
	return x
}

// slopeCorrelation is Σ d[t]·d[t−l] / Σ d[t]² of the differences
// d[t] = y[t+l] − y[t], l = envelopeSlow, where on holds; NaN for fewer than
// leastEnvelope values.
func slopeCorrelation(y []float64, on []bool) float64 {
	const l = envelopeSlow
	var product, square float64
	count := 0
	for t := l; t+l < len(y); t++ {
		if on[t-l] && on[t] && on[t+l] {
			d := y[t+l] - y[t]
			product += d * (y[t] - y[t-l])
			square += d * d
			count++
		}
	}
	if count < leastEnvelope {
		return math.NaN()
	}
	return product / square
}

// skewness is that of x, NaN for fewer than leastEnvelope values.
func skewness(x []float64) float64 {
	if len(x) < leastEnvelope {
		return math.NaN()
	}
	_, skew := shape(x)
	return skew
}
