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

	numQuefrencies = len(quefrencyBands) - 1
)

// quefrencies holds the tracks of quefrency.* and texture.*. A value is
// defined where its frame is on.
type quefrencies struct {
	sums []float64 // of the squares before each sample, and of all

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
	past          [textureLag + 1][2][]complex128 // cepstra of the latest frames, by t modulo their number
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
		q.past[i] = [2][]complex128{make([]complex128, textureFFT/2+1), make([]complex128, textureFFT/2+1)}
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
	q.sums = sized(q.sums, len(x)+1)
	q.sums[0] = 0
	for i, v := range x {
		q.sums[i+1] = q.sums[i] + v*v
	}
	q.voicedFrames(&q.harmonicFrames, f0, harmonicFrame)
	q.voicedFrames(&q.textureFrames, f0, textureFrame)
	q.harmonics(x)
	q.textures(x)
}

// voicedFrames sets which of the frames of size samples every hop are active
// and have their middle in a voiced frame of the track f0.
func (q *quefrencies) voicedFrames(a *activity, f0 []float64, size int) {
	length := len(q.sums) - 1
	a.reset(frameCount(length, hopLen, size))
	for t := range a.power {
		a.power[t] = q.sums[min(t*hopLen+size, length)] - q.sums[min(t*hopLen, length)]
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
			track[t] = dsp.Mean(s.logs[k0:k1]) - math.Log(dsp.Mean(s.power[k0:k1]))
		}
		now := q.past[t%len(q.past)]
		q.whole.Coefficients(now[0], s.logs[lo:hi])
		q.low.Coefficients(now[1], s.logs[lo:mid])
		if !q.onChange[t] {
			continue
		}
		before := q.past[(t-textureLag)%len(q.past)]
		for i := range now {
			for b := range numQuefrencies {
				q.change.tracks[i*numQuefrencies+b][t] = change(now[i][edges[b]:edges[b+1]], before[i][edges[b]:edges[b+1]])
			}
		}
	}
}

// power is the sum of the squared magnitudes of c.
func power(c []complex128) float64 {
	var s float64
	for _, z := range c {
		s += real(z)*real(z) + imag(z)*imag(z)
	}
	return s
}

// change is Σ|a−b|² / (Σ|a|² + Σ|b|²): 0 for equal cepstra, 1 on average for
// independent ones.
func change(a, b []complex128) float64 {
	var d float64
	for i, z := range a {
		re, im := real(z)-real(b[i]), imag(z)-imag(b[i])
		d += re*re + im*im
	}
	return d / (power(a) + power(b))
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
