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
	loudness         []float64 // log of the energy of all bands together
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
	e.loudness = dsp.Log(sized(e.loudness, n), e.active.power)
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
	v.inside = inside(v.inside, unvoiced, 1)
	for _, track := range e.bands.tracks {
		v.steps = steps(v.steps[:0], track[lo:hi], v.inside)
		v.put(skewness(v.steps))
	}
	v.inside = inside(v.inside, voiced, envelopeLag)
	for _, track := range e.bands.tracks {
		v.bends = bends(v.bends[:0], track[lo:hi], v.inside)
		v.put(skewness(v.bends))
	}
	v.inside = inside(v.inside, voiced, envelopeSlow)
	for _, track := range e.bands.tracks {
		v.put(slopeCorrelation(track[lo:hi], v.inside))
	}
	v.inside = inside(v.inside, voiced, 1)
	for _, track := range e.bands.tracks {
		v.steps = steps(v.steps[:0], track[lo:hi], v.inside)
		v.put(math.Log(deviation(v.steps)))
	}
}

// inside sets at to the frames t for which on holds at t − l, t and t + l.
func inside(at []int, on []bool, l int) []int {
	at = at[:0]
	for t := l; t+l < len(on); t++ {
		if on[t-l] && on[t] && on[t+l] {
			at = append(at, t)
		}
	}
	return at
}

// steps appends to x the steps y[t+1] − y[t] of the frames at.
func steps(x, y []float64, at []int) []float64 {
	for _, t := range at {
		x = append(x, y[t+1]-y[t])
	}
	return x
}

// bends appends to x the values 2·y[t] − y[t−l] − y[t+l], l = envelopeLag, of the frames at.
func bends(x, y []float64, at []int) []float64 {
	for _, t := range at {
		x = append(x, 2*y[t]-y[t-envelopeLag]-y[t+envelopeLag])
	}
	return x
}

// slopeCorrelation is Σ d[t]·d[t−l] / Σ d[t]² of the differences
// d[t] = y[t+l] − y[t], l = envelopeSlow, of the frames at; NaN for fewer than
// leastEnvelope.
func slopeCorrelation(y []float64, at []int) float64 {
	if len(at) < leastEnvelope {
		return math.NaN()
	}
	var product, square float64
	for _, t := range at {
		d := y[t+envelopeSlow] - y[t]
		product += d * (y[t] - y[t-envelopeSlow])
		square += d * d
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
