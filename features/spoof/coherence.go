package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// coherenceBands are the edges in Hz of the bands whose envelopes are compared
// with the pitch: where a voice is mostly noise. Two bands below, from 1 to 3.5 kHz,
// were of no use besides.
var coherenceBands = [...]float64{3500, 5500, 7300}

const (
	coherenceStep  = 4    // samples to a sample of an envelope, 4 kHz
	coherenceFrame = 160  // samples of an envelope, 40 ms
	coherenceLeast = 66.0 // Hz, the least F0
)

// coherences holds, of each band and every 10 ms of voice, the correlation of the
// envelope with itself one period later: how strictly the noise of the voice
// follows the pulses.
type coherences struct {
	cascades [len(coherenceBands) - 1][4]biquad
	envelope []float64
	tracks   table
	on       []bool
}

func newCoherences() *coherences {
	c := &coherences{}
	for b := range c.cascades {
		for i, q := range butterworth4 {
			c.cascades[b][i] = section(coherenceBands[b], q, true)
			c.cascades[b][len(butterworth4)+i] = section(coherenceBands[b+1], q, false)
		}
	}
	return c
}

// measure measures x, whose F0 is given.
func (c *coherences) measure(x, f0 []float64) {
	frames, n := len(x)/hopLen, len(x)/coherenceStep
	c.tracks.reset(len(c.cascades), frames)
	c.on, c.envelope = sized(c.on, frames), sized(c.envelope, n)
	for b := range c.cascades {
		c.band(x, &c.cascades[b])
		for t := range c.on {
			c.on[t] = t < len(f0) && f0[t] > coherenceLeast
			if !c.on[t] {
				continue
			}
			lag := int(rateHz / coherenceStep / f0[t])
			from := t*hopLen/coherenceStep - (coherenceFrame+lag)/2
			to := from + coherenceFrame
			if c.on[t] = from >= 0 && to+lag+1 <= n; c.on[t] {
				part := c.envelope[from:to]
				c.tracks.tracks[b][t] = max(centred(part, c.envelope[from+lag:to+lag]), centred(part, c.envelope[from+lag+1:to+lag+1]))
			}
		}
	}
}

// band computes the envelope of one band: the RMS of coherenceStep samples, but
// for a factor.
func (c *coherences) band(x []float64, cascade *[4]biquad) {
	var z [4][2]float64 // transposed direct form II
	var sum float64
	for i, v := range x {
		for s := range cascade {
			q := &cascade[s]
			y := q.b0*v + z[s][0]
			z[s][0] = q.b1*v - q.a1*y + z[s][1]
			z[s][1] = q.b2*v - q.a2*y
			v = y
		}
		if sum += v * v; i%coherenceStep == coherenceStep-1 {
			c.envelope[i/coherenceStep] = math.Sqrt(sum)
			sum = 0
		}
	}
}

// centred is the correlation of x and y, each less its mean.
func centred(x, y []float64) float64 {
	n, mx, my := float64(len(x)), dsp.Mean(x), dsp.Mean(y)
	return (dsp.Dot(x, y) - n*mx*my) / math.Sqrt((dsp.Dot(x, x)-n*mx*mx)*(dsp.Dot(y, y)-n*my*my))
}

// coherence fills coherence.*.
func (v *vector) coherence(c *coherences) {
	lo, hi := v.frames(len(c.on), hopLen, 0)
	v.from("coherence.band1.mean")
	for _, track := range c.tracks.tracks {
		g := v.where(track[lo:hi], c.on[lo:hi])
		if len(g) < leastVoiced {
			v.next += 3
			continue
		}
		v.put(meanSD(g))
		v.put(dsp.PercentileInPlace(g, 10))
	}
}
