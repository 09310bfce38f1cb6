package dsp

import "math"

// Constants of the recording's quality, chosen for the reasons given.
const (
	snrGuard      = 5     // frames, 50 ms, beside speech that do not count as noise: decay of the room
	snrLeast      = 10    // frames, 0.1 s, of noise that a level needs
	snrGap        = 10    // dB, least distance of the quietest part of unbroken speech below its level, to count as noise
	snrBottom     = 0.05  // share of unbroken speech that counts as noise
	clipRun       = 3     // samples at one extreme that make a run: two can be a rounded peak
	clipFlat      = 1e-4  // of the extreme: largest deviation of a flat run, three steps of 16 bits
	clipCorner    = 5e-4  // of the extreme: least step of a clipped wave into or out of a flat run
	clipLeast     = 0.05  // least magnitude of a clipped sample (-26 dBFS): quiet 16-bit peaks are flat
	bandFloor     = 10    // dB above the lowest part of the spectrum: more than noise floor
	bandRange     = 90    // dB below the strongest part: less than 16 bits resolve in a band
	bandLeast     = 20    // dB of the strongest over the lowest part, below which the whole band is used
	bandNoise     = 3     // dB above the noise between speech: as much sound as noise
	bandSmooth    = 4     // bins on either side, 172 Hz, over which the spectrum is averaged
	bandEdgeShare = 0.985 // of the Nyquist frequency: above it converters' filters act
)

// markNoise sets quiet: which frames lie more than 50 ms away from speech.
func (v *activity) markNoise(isSpeech []bool) {
	v.quiet = filled(v.quiet, len(isSpeech), false)
	away := snrGuard // frames since speech; the recording starts away from it
	next := -1       // next frame of speech
	for i, s := range isSpeech {
		if s {
			away = 0
			continue
		}
		away++
		for next < i || (next < len(isSpeech) && !isSpeech[next]) {
			next++
		}
		v.quiet[i] = away > snrGuard && next-i > snrGuard
	}
}

// snr is the level of the speech over that of the noise in dB: 10·log10(Ps/Pn). Pn
// is the mean power of the frames of markNoise. Ps is the mean power of the speech frames
// less Pn. Both come from the levels of [activity.detect], of which none is below -120 dBFS.
//
// With less than 0.1 s of noise, Pn is the lowest twentieth of the speech frames,
// which overestimates it, if that is at least 10 dB below the speech. Otherwise the
// SNR is NaN. It is also NaN without speech, and if speech has no more power than
// noise.
func (v *activity) snr(isSpeech []bool) float64 {
	v.markNoise(isSpeech)
	var speech, noise float64
	var ns, nn int
	inside := v.sorted[:0]
	for i, s := range isSpeech {
		p := math.Pow(10, v.level[i]/10)
		switch {
		case s:
			speech += p
			ns++
			inside = append(inside, v.level[i])
		case v.quiet[i]:
			noise += p
			nn++
		}
	}
	v.sorted = inside
	if ns == 0 {
		return math.NaN()
	}
	ps, pn := speech/float64(ns), noise/float64(max(nn, 1))
	if nn < snrLeast {
		low := nearestRank(inside, snrBottom)
		if level(ps)-low < snrGap {
			return math.NaN()
		}
		pn = math.Pow(10, low/10)
	}
	if !(ps > pn) {
		return math.NaN()
	}
	return level((ps - pn) / pn)
}

// markFloor sets floor: which frames hold the noise of the recording alone, for the measure
// of the bandwidth. They are the lower half of those of markNoise, since breath and clicks
// between speech are not its noise, but for digital silence, which a gate leaves. There are
// none without speech, when all may be sound, and none of fewer than 0.2 s.
func (v *activity) markFloor() {
	v.floor = filled(v.floor, len(v.quiet), false)
	levels := v.sorted[:0]
	for i, on := range v.quiet {
		if on && v.level[i] > silence {
			levels = append(levels, v.level[i])
		}
	}
	v.sorted = levels
	if math.IsNaN(v.speech) || len(levels) < 2*snrLeast {
		return
	}
	top := nearestRank(levels, 0.5)
	for i, on := range v.quiet {
		v.floor[i] = on && v.level[i] > silence && v.level[i] <= top
	}
}

// Clipped is the share, 0 to 1, of the mono samples x that were clipped: that are in
// runs of three or more within 0.01 % of the highest or the lowest sample, which a
// step enters or leaves (the method is the project's own; see [Quality]). The
// sampling rate has no effect. Recordings that are resampled before analysis need
// it, because resampling rounds the clipped tops. It is 0 for no samples. All
// samples must be finite. x is not changed.
func Clipped(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	_, e := sanitize(nil, x)
	return clipped(x, e)
}

// clipped is the share of the samples of x, whose extent is e, that were clipped; see
// [Clipping]. x must not be empty.
func clipped(x []float64, e extent) float64 {
	c := newClipping(e)
	c.Add(x)
	return c.Share()
}

// A Clipping counts the samples that were clipped: those in runs of three or more within
// 0.01 % of the highest or of the lowest value (less the mean), entered or left by a
// corner. Clipping before an attenuation is found as long as the tops stay flat.
// Clipping before resampling or coding, which round the tops, is not found.
type Clipping struct {
	high, low flat
	all       int     // samples so far
	clipped   int     // of them
	run       int     // samples of the run that is not over yet
	sign      float64 // 1 if it is at the high extreme, −1 if at the low one
	enters    bool    // whether a corner enters it
	last      float64 // the latest sample
}

// NewClipping returns a Clipping for the samples of a survey, in the same order, with the
// values that they count as.
func NewClipping(v *Survey) *Clipping {
	c := newClipping(v.extent())
	return &c
}

// newClipping returns a Clipping for a recording of the given extent.
func newClipping(e extent) Clipping {
	return Clipping{high: newFlat(e.hi-e.mean, e.hi), low: newFlat(e.mean-e.lo, -e.lo)}
}

// Add takes the next samples.
func (c *Clipping) Add(x []float64) {
	for i := 0; i < len(x); i++ {
		if c.run == 0 {
			if i += inside(x[i:], -c.low.flat, c.high.flat, hasAVX); i == len(x) {
				break
			}
		}
		before := c.last
		if i > 0 {
			before = x[i-1]
		}
		c.sample(x[i], before, c.all+i == 0)
	}
	c.all += len(x)
	if len(x) > 0 {
		c.last = x[len(x)-1]
	}
}

// sample takes a sample that continues a run, ends it or begins one.
func (c *Clipping) sample(v, before float64, first bool) {
	if c.run > 0 {
		f := c.flat()
		if c.sign*v >= f.flat {
			c.run++
			return
		}
		c.end(c.sign*v < f.corner)
	}
	if v < c.high.flat && -v < c.low.flat {
		return
	}
	c.run, c.sign = 1, 1
	if v < c.high.flat {
		c.sign = -1
	}
	c.enters = first || c.sign*before < c.flat().corner
}

func (c *Clipping) flat() flat {
	if c.sign > 0 {
		return c.high
	}
	return c.low
}

// end ends a run; leaves is whether a corner leaves it.
func (c *Clipping) end(leaves bool) {
	if c.run >= clipRun && (c.enters || leaves) {
		c.clipped += c.run
	}
	c.run = 0
}

// Share is the share, 0 to 1, of the samples that were clipped, after the last one; 0 of
// none.
func (c *Clipping) Share() float64 {
	c.end(true)
	if c.all == 0 {
		return 0
	}
	return float64(c.clipped) / float64(c.all)
}

// A flat holds the least value of a run at an extreme, and the value below which a
// wave enters it by a corner. Both are infinite where nothing is clipped.
type flat struct{ flat, corner float64 }

// newFlat returns the flat of the extreme top, which is m from the mean.
func newFlat(m, top float64) flat {
	if !(m >= clipLeast) {
		return flat{math.Inf(1), math.Inf(1)}
	}
	return flat{top - clipFlat*m, top - clipCorner*m}
}

// bandwidth is the frequency in Hz above which the long-term power spectrum p (bins
// from 0 to half of sr) has only noise floor: the highest frequency at which p,
// averaged over nine bins, is 10 dB above its lowest part and at most 90 dB below its
// strongest, and at which speech, averaged likewise, is 3 dB above noise. These are the mean
// spectra of frames of speech and of frames of noise, nil where they are not known. They say
// where sound ends in what was resampled, whose lowest part is below its noise. bandwidth is
// sr/2 if the strongest and the lowest part are within 20 dB (noise). It is NaN for silence
// and for recordings shorter than one frame. smooth is scratch as long as p.
func bandwidth(p, speech, noise, smooth []float64, sr float64) float64 {
	n := len(p)
	edge := int(bandEdgeShare * float64(n-1))
	top, bottom := 0.0, math.Inf(1)
	for k := 1; k < n; k++ {
		smooth[k] = around(p, k)
		top = max(top, smooth[k])
		if k <= edge {
			bottom = min(bottom, smooth[k])
		}
	}
	if !(top > 0) {
		return math.NaN()
	}
	nyquist := sr / 2
	if level(top)-level(bottom) < bandLeast {
		return nyquist
	}
	least := max(bottom*math.Pow(10, bandFloor/10.), top*math.Pow(10, -bandRange/10.))
	over := math.Pow(10, bandNoise/10.)
	for k := n - 1; k > 0; k-- {
		if smooth[k] >= least && (noise == nil || around(speech, k) >= over*around(noise, k)) {
			return float64(k) * nyquist / float64(n-1)
		}
	}
	return math.NaN()
}

// around is the mean of the spectrum p over the bins that are averaged around bin k.
func around(p []float64, k int) float64 {
	lo, hi := max(1, k-bandSmooth), min(len(p)-1, k+bandSmooth)
	var s float64
	for _, v := range p[lo : hi+1] {
		s += v
	}
	return s / float64(hi+1-lo)
}
