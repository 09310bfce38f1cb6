package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
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
	bands            [][]float64
	voiced, unvoiced []bool // active frames
}

// newEnvelopes measures x, whose F0 is given.
func newEnvelopes(x, f0 []float64) *envelopes {
	n := frameCount(x, envelopeHop, envelopeFrame)
	e := &envelopes{bands: newTracks(len(envelopeBands)-1, n), voiced: make([]bool, n)}
	fft, window := dsp.NewFFT(envelopeFrame), dsp.PeriodicHann(envelopeFrame)
	frame, bins := make([]float64, envelopeFrame), make([]float64, envelopeFrame/2+1)
	power := make([]float64, n)
	for t := range n {
		windowed(frame, x, t*envelopeHop, window)
		fft.Power(bins, frame)
		for b, track := range e.bands {
			s := envelopeFloor
			for _, p := range bins[envelopeBands[b]:envelopeBands[b+1]] {
				s += p
			}
			track[t] = s
			power[t] += s
		}
	}
	for _, track := range e.bands {
		dsp.Log(track, track)
	}
	e.unvoiced = active(power)
	for t, on := range e.unvoiced {
		e.voiced[t] = on && voicedAt(f0, t*envelopeHop+envelopeFrame/2)
		e.unvoiced[t] = on && !e.voiced[t]
	}
	return e
}

// envelope fills envelope.*: by how much rises are steeper than falls in
// unvoiced sounds, and peaks sharper than valleys in voiced ones; of voiced
// sounds also how far the slope lasts, and the size of a step.
func (v *vector) envelope(e *envelopes) {
	lo, hi := v.frames(len(e.voiced), envelopeHop, envelopeFrame)
	voiced, unvoiced := e.voiced[lo:hi], e.unvoiced[lo:hi]
	v.from("envelope.unvoiced.band1.step_skew")
	var x []float64
	for _, track := range e.bands {
		x = steps(x[:0], track[lo:hi], unvoiced)
		v.put(skewness(x))
	}
	for _, track := range e.bands {
		y := track[lo:hi]
		x = x[:0]
		const l = envelopeLag
		for t := l; t+l < len(y); t++ {
			if voiced[t-l] && voiced[t] && voiced[t+l] {
				x = append(x, 2*y[t]-y[t-l]-y[t+l])
			}
		}
		v.put(skewness(x))
	}
	for _, track := range e.bands {
		y := track[lo:hi]
		const l = envelopeSlow
		var product, square float64
		count := 0
		for t := l; t+l < len(y); t++ {
			if voiced[t-l] && voiced[t] && voiced[t+l] {
				d := y[t+l] - y[t]
				product += d * (y[t] - y[t-l])
				square += d * d
				count++
			}
		}
		if count < leastEnvelope {
			product = math.NaN()
		}
		v.put(product / square)
	}
	for _, track := range e.bands {
		v.put(math.Log(dsp.SD(steps(nil, track[lo:hi], voiced))))
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

// skewness is that of x, NaN for fewer than leastEnvelope values.
func skewness(x []float64) float64 {
	if len(x) < leastEnvelope {
		return math.NaN()
	}
	_, skew := spread(x)
	return skew
}
