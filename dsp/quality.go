package dsp

import "math"

// Constants of the recording's quality.
const (
	snrGuard      = 5     // frames, 50 ms, beside speech that are not taken for noise: decay of the room
	snrLeast      = 10    // frames, 0.1 s, of noise that a level needs
	snrGap        = 10    // dB that the quietest of unbroken speech must lie below its level to be taken for noise
	snrBottom     = 0.05  // share of unbroken speech that is taken for noise
	clipRun       = 3     // samples at one extreme that make a run: two can be a rounded peak
	clipFlat      = 1e-4  // of the extreme: flat is within this, three steps of 16 bits
	clipCorner    = 5e-4  // of the extreme: a clipped wave meets the flat at least this steeply
	clipLeast     = 0.05  // magnitude below which nothing is clipped (-26 dBFS); quiet 16-bit peaks are flat
	bandFloor     = 10    // dB above the lowest part of the spectrum that is more than noise floor
	bandRange     = 90    // dB below the strongest part that is less than 16 bits resolve in a band
	bandLeast     = 20    // dB of strongest over lowest, below which the whole band is used
	bandSmooth    = 4     // bins on either side, 172 Hz, over which the spectrum is averaged
	bandEdgeShare = 0.985 // of the Nyquist frequency, above which converters' filters act
)

// snr is the level of the frames of speech over the level of the others, in
// dB: 10·log10(Ps/Pn), Ps the mean power of the speech frames less Pn, and Pn
// that of the frames at least 50 ms away from speech; both from the levels of
// detect, so that neither is below -120 dBFS.
//
// Where there is less than 0.1 s of noise, Pn is the lowest twentieth of the
// speech frames, which overestimates it, if that is at least 10 dB below the
// speech; otherwise the SNR is NaN, as it is without speech or with no more
// power in speech than in noise.
func (v *activity) snr(isSpeech []bool) float64 {
	var speech, noise float64
	var ns, nn int
	inside := v.sorted[:0]
	away := snrGuard // frames since speech; the recording starts away from it
	next := -1       // next frame of speech
	for i, s := range isSpeech {
		p := math.Pow(10, v.level[i]/10)
		if s {
			speech += p
			ns++
			away = 0
			inside = append(inside, v.level[i])
			continue
		}
		away++
		for next < i || (next < len(isSpeech) && !isSpeech[next]) {
			next++
		}
		if away > snrGuard && next-i > snrGuard {
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

// Clipped is the share, 0 to 1, of the mono samples x that were cut off, as in
// [Quality]. The rate does not matter. It is for recordings that are resampled
// before they are analysed: what was cut off shows only before that. It is 0
// for no samples; NaN and infinite samples are not allowed for.
func Clipped(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	_, e := sanitize(nil, x)
	return clipped(x, e)
}

// clipped is the share of the samples of x, whose extent is e, that were cut
// off: those in runs of three or more within 0.01 % of the highest or of the
// lowest value (less the mean), entered or left by a corner. Attenuation after
// clipping is found as long as the tops stay flat; resampling or coding after
// it rounds them, and then nothing is found. x must not be empty.
func clipped(x []float64, e extent) float64 {
	high, low := newFlat(e.hi-e.mean, e.hi), newFlat(e.mean-e.lo, -e.lo)
	n := 0
	for i := 0; i < len(x); i++ {
		v := x[i]
		if v < high.flat && -v < low.flat {
			continue
		}
		f, sign := high, 1.0
		if v < high.flat {
			f, sign = low, -1
		}
		j := i + 1
		for j < len(x) && sign*x[j] >= f.flat {
			j++
		}
		enters := i == 0 || sign*x[i-1] < f.corner
		leaves := j == len(x) || sign*x[j] < f.corner
		if j-i >= clipRun && (enters || leaves) {
			n += j - i
		}
		i = j - 1
	}
	return float64(n) / float64(len(x))
}

// A flat says where a run at an extreme starts and where a wave comes from that
// enters it by a corner; infinite where nothing is clipped.
type flat struct{ flat, corner float64 }

// newFlat returns the flat of the extreme top, which is m from the mean.
func newFlat(m, top float64) flat {
	if !(m >= clipLeast) {
		return flat{math.Inf(1), math.Inf(1)}
	}
	return flat{top - clipFlat*m, top - clipCorner*m}
}

// bandwidth is the frequency in Hz above which the long-term power spectrum p
// (bins from 0 to half of sr) has only noise floor: the highest at which p,
// averaged over nine bins, is 10 dB above its lowest part and no more than
// 90 dB below its strongest. It is sr/2 where the strongest and the lowest part
// lie within 20 dB (noise), and NaN for silence and for recordings shorter than
// one frame. smooth is scratch as long as p.
func bandwidth(p, smooth []float64, sr float64) float64 {
	n := len(p)
	edge := int(bandEdgeShare * float64(n-1))
	top, bottom := 0.0, math.Inf(1)
	for k := 1; k < n; k++ {
		var s float64
		lo, hi := max(1, k-bandSmooth), min(n-1, k+bandSmooth)
		for _, v := range p[lo : hi+1] {
			s += v
		}
		s /= float64(hi + 1 - lo)
		smooth[k] = s
		top = max(top, s)
		if k <= edge {
			bottom = min(bottom, s)
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
	for k := n - 1; k > 0; k-- {
		if smooth[k] >= least {
			return float64(k) * nyquist / float64(n-1)
		}
	}
	return math.NaN()
}
