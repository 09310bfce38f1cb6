package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// The cepstra of the voiced frames. The long frame resolves the harmonics and
// what lies between them; of 16, 32 and 64 ms its energies separated best: alone
// AUC 0.71, 0.77 and 0.78 in cross-validation on the clips of DEEPFAKE.md.
const (
	harmonicFrame = 1024   // samples, 64 ms
	textureFrame  = 512    // samples, 32 ms
	textureLag    = 2      // frames over which change is measured, 20 ms
	quefrencyLow  = 125.0  // Hz, and
	quefrencyMid  = 3500.0 // the upper end of the low band
	quefrencyHigh = 7375.0
	spectrumFloor = 1e-10 // power added to every bin, 30 dB below the dither

	harmonicFFT = harmonicFrame / 2 // points of the transform of a spectrum
	textureFFT  = textureFrame / 2

	squareBlock = 32 // samples: of these, hops and frames are whole numbers

	numQuefrencies = len(quefrencyBands) - 1
)

// quefrencies holds the tracks of quefrency.* and texture.*. A value is
// defined where its frame is on.
type quefrencies struct {
	samples int       // of the recording
	sums    []float64 // of the squares before each block of squareBlock samples, and of all

	harmonic       table    // of each quefrency band, the log of the power cepstrum
	harmonicFrames activity // on says whether the frame of 64 ms is active and voiced
	long           logSpectrum
	cepstrum       *dsp.Cepstrum
	coefficients   []complex128

	flatness      table    // of each band of textureBands, the log of geometric over arithmetic mean power
	change        table    // of each quefrency band over 20 ms, of the whole spectrum and then of the low band
	textureFrames activity // on says whether the frame of 32 ms is active and voiced
	onChange      []bool   // whether it and the frame textureLag before are on
	short         logSpectrum
	whole, low    *dsp.Cepstrum
	past          [textureLag + 1][2]pastCepstrum // those of the latest frames, by t modulo their number
}

// A pastCepstrum is a cepstrum and the power of each of its bands.
type pastCepstrum struct {
	coefficients []complex128
	power        [numQuefrencies]float64
}

func newQuefrencies() *quefrencies {
	q := &quefrencies{
		long: newLogSpectrum(harmonicFrame, spectrumFloor), coefficients: make([]complex128, harmonicFFT/2+1),
		short: newLogSpectrum(textureFrame, spectrumFloor),
	}
	bins := func(s *logSpectrum, hi float64) int { return s.bin(hi) - s.bin(quefrencyLow) }
	q.cepstrum = dsp.NewCepstrum(bins(&q.long, quefrencyHigh), harmonicFFT)
	q.whole = dsp.NewCepstrum(bins(&q.short, quefrencyHigh), textureFFT)
	q.low = dsp.NewCepstrum(bins(&q.short, quefrencyMid), textureFFT)
	for i := range q.past {
		for k := range q.past[i] {
			q.past[i][k].coefficients = make([]complex128, textureFFT/2+1)
		}
	}
	return q
}

// quefrencyEdges are the first coefficients of the bands of quefrency, and one
// past the last, of a cepstrum of m points of spectra of n-sample frames.
func quefrencyEdges(n, m int) (edges [len(quefrencyBands)]int) {
	for i, ms := range quefrencyBands {
		edges[i] = min(int(math.Ceil(ms*rateHz/1000*float64(m)/float64(n))), m/2+1)
	}
	return edges
}

// measure measures x, whose F0 is given.
func (q *quefrencies) measure(x, f0 []float64) {
	q.samples = len(x)
	q.sums = append(q.sums[:0], 0)
	for i := 0; i < len(x); i += squareBlock {
		block := x[i:min(i+squareBlock, len(x))]
		q.sums = append(q.sums, q.sums[len(q.sums)-1]+dsp.Dot(block, block))
	}
	q.voicedFrames(&q.harmonicFrames, f0, harmonicFrame)
	q.voicedFrames(&q.textureFrames, f0, textureFrame)
	q.harmonics(x)
	q.textures(x)
}

// voicedFrames sets which of the frames of size samples every hop are active
// and have their middle in a voiced frame of the track f0.
func (q *quefrencies) voicedFrames(a *activity, f0 []float64, size int) {
	last := len(q.sums) - 1
	a.reset(frameCount(q.samples, hopLen, size))
	for t := range a.power {
		a.power[t] = q.sums[min((t*hopLen+size)/squareBlock, last)] - q.sums[min(t*hopLen/squareBlock, last)]
	}
	a.decide()
	for t, on := range a.on {
		a.on[t] = on && voicedAt(f0, t*hopLen+size/2)
	}
}

// harmonics fills harmonic.
func (q *quefrencies) harmonics(x []float64) {
	q.harmonic.reset(numQuefrencies, len(q.harmonicFrames.on))
	s := &q.long
	lo, hi := s.bin(quefrencyLow), s.bin(quefrencyHigh)
	edges := quefrencyEdges(harmonicFrame, harmonicFFT)
	for t, on := range q.harmonicFrames.on {
		if !on {
			continue
		}
		s.measure(x, t*hopLen)
		q.cepstrum.Coefficients(q.coefficients, s.logs[lo:hi])
		for b, track := range q.harmonic.tracks {
			band := q.coefficients[edges[b]:edges[b+1]]
			track[t] = math.Log(power(band) / float64(len(band)))
		}
	}
}

// textures fills flatness, change and onChange.
func (q *quefrencies) textures(x []float64) {
	frames := q.textureFrames.on
	q.flatness.reset(len(textureBands)-1, len(frames))
	q.change.reset(2*numQuefrencies, len(frames))
	q.onChange = sized(q.onChange, len(frames))
	s := &q.short
	lo, mid, hi := s.bin(quefrencyLow), s.bin(quefrencyMid), s.bin(quefrencyHigh)
	edges := quefrencyEdges(textureFrame, textureFFT)
	for t, on := range frames {
		q.onChange[t] = on && t >= textureLag && frames[t-textureLag]
		if !on {
			continue
		}
		s.measure(x, t*hopLen)
		for b, track := range q.flatness.tracks {
			k0, k1 := s.bin(textureBands[b]), s.bin(textureBands[b+1])
			n := float64(k1 - k0)
			track[t] = dsp.Sum(s.logs[k0:k1])/n - math.Log(dsp.Sum(s.power[k0:k1])/n)
		}
		now, before := &q.past[t%len(q.past)], &q.past[(t+1)%len(q.past)]
		q.whole.Coefficients(now[0].coefficients, s.logs[lo:hi])
		q.low.Coefficients(now[1].coefficients, s.logs[lo:mid])
		for i := range now {
			c, old := &now[i], &before[i]
			for b := range numQuefrencies {
				band := c.coefficients[edges[b]:edges[b+1]]
				c.power[b] = power(band)
				if q.onChange[t] {
					d := difference(band, old.coefficients[edges[b]:edges[b+1]])
					q.change.tracks[i*numQuefrencies+b][t] = d / (c.power[b] + old.power[b])
				}
			}
		}
	}
}

// power is the sum of the squared magnitudes of c, in two sums of either part that do not
// depend on one another.
func power(c []complex128) float64 {
	var s [4]float64
	for ; len(c) >= 2; c = c[2:] {
		s[0] += real(c[0]) * real(c[0])
		s[1] += imag(c[0]) * imag(c[0])
		s[2] += real(c[1]) * real(c[1])
		s[3] += imag(c[1]) * imag(c[1])
	}
	for _, z := range c {
		s[0] += real(z) * real(z)
		s[1] += imag(z) * imag(z)
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// difference is Σ|a−b|². Over Σ|a|² + Σ|b|² it is the change from one cepstrum to another: 0
// for equal ones, 1 on average for independent ones.
func difference(a, b []complex128) float64 {
	var s [2]float64
	b = b[:len(a)]
	for i, z := range a {
		re, im := real(z)-real(b[i]), imag(z)-imag(b[i])
		s[0] += re * re
		s[1] += im * im
	}
	return s[0] + s[1]
}

// quefrency fills quefrency.* and texture.*.
func (v *vector) quefrency(q *quefrencies) {
	on := q.harmonicFrames.on
	lo, hi := v.frames(len(on), hopLen, harmonicFrame)
	v.from("quefrency.band1.mean_log")
	for _, track := range q.harmonic.tracks {
		v.put(v.enough(track[lo:hi], on[lo:hi]))
	}
	on = q.textureFrames.on
	lo, hi = v.frames(len(on), hopLen, textureFrame)
	v.from("texture.band1.flatness_mean")
	for _, track := range q.flatness.tracks {
		v.put(v.enough(track[lo:hi], on[lo:hi]))
	}
	for _, track := range q.change.tracks {
		m, _ := v.enough(track[lo:hi], q.onChange[lo:hi])
		v.put(m)
	}
}
