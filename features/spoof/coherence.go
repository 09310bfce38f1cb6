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
	envelope [len(coherenceBands) - 1][]float64
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
	c.on = sized(c.on, frames)
	for b := range c.envelope {
		c.envelope[b] = sized(c.envelope[b], n)
	}
	envelopesOf(c.envelope[0], c.envelope[1], x, &c.cascades, hasAVX2)
	for b, envelope := range c.envelope {
		for t := range c.on {
			c.on[t] = t < len(f0) && f0[t] > coherenceLeast
			if !c.on[t] {
				continue
			}
			lag := int(rateHz / coherenceStep / f0[t])
			from := t*hopLen/coherenceStep - (coherenceFrame+lag)/2
			to := from + coherenceFrame
			if c.on[t] = from >= 0 && to+lag+1 <= n; c.on[t] {
				part := envelope[from:to]
				mean, variance := spread(part)
				c.tracks.tracks[b][t] = max(
					centred(part, envelope[from+lag:to+lag], mean, variance),
					centred(part, envelope[from+lag+1:to+lag+1], mean, variance))
			}
		}
	}
}

// spread returns the mean of x and Σ (x − mean)².
func spread(x []float64) (mean, squares float64) {
	n := float64(len(x))
	mean = dsp.Sum(x) / n
	return mean, dsp.Dot(x, x) - n*mean*mean
}

// centred is the correlation of x and y, each less its mean. mean and squares are those
// of x by spread.
func centred(x, y []float64, mean, squares float64) float64 {
	m, s := spread(y)
	return (dsp.Dot(x, y) - float64(len(x))*mean*m) / math.Sqrt(squares*s)
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
