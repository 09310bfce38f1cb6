package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// The cepstra of the voiced frames. The long frame resolves the harmonics and
// what lies between them; of 16, 32 and 64 ms its energies told most, alone AUC
// 0.71, 0.77 and 0.78 in cross-validation on the clips of DEEPFAKE.md.
const (
	harmonicFrame = 1024   // samples, 64 ms
	textureFrame  = 512    // samples, 32 ms
	textureLag    = 2      // frames over which change is measured, 20 ms
	quefrencyLow  = 125.0  // Hz, and
	quefrencyMid  = 3500.0 // the upper end of the low band
	quefrencyHigh = 7375.0
	spectrumFloor = 1e-10 // power added to every bin, 30 dB below the dither
	// leastVoiced is how many frames a statistic needs, 80 ms of voice.
	leastVoiced = 8
)

// quefrencies holds the tracks of quefrency.* and texture.*. Values are there
// where the frame is on.
type quefrencies struct {
	harmonic [][]float64 // of each quefrency band, the log of the power cepstrum
	on       []bool      // whether the frame of 64 ms is active and voiced

	flatness  [][]float64 // of each band of textureBands, the log of geometric over arithmetic mean power
	change    [][]float64 // of each quefrency band over 20 ms, of the whole spectrum and then of the low band
	onTexture []bool      // whether the frame of 32 ms is active and voiced
	onChange  []bool      // and also the one it is compared with
}

// newQuefrencies measures x, whose F0 is given.
func newQuefrencies(x, f0 []float64) *quefrencies {
	sums := make([]float64, len(x)+1) // of the squares before each sample
	for i, v := range x {
		sums[i+1] = sums[i] + v*v
	}
	q := &quefrencies{on: voicedFrames(sums, f0, harmonicFrame), onTexture: voicedFrames(sums, f0, textureFrame)}
	q.harmonics(x)
	q.textures(x)
	return q
}

// logSpectra computes the power spectrum of Hann-windowed frames, with
// spectrumFloor added, and its logarithm.
type logSpectra struct {
	fft                *dsp.FFT
	window             []float64
	frame, power, logs []float64
}

func newLogSpectra(n int) *logSpectra {
	return &logSpectra{dsp.NewFFT(n), dsp.PeriodicHann(n), make([]float64, n), make([]float64, n/2+1), make([]float64, n/2+1)}
}

func (s *logSpectra) measure(x []float64, start int) {
	windowed(s.frame, x, start, s.window)
	s.fft.Power(s.power, s.frame)
	for k := range s.power {
		s.power[k] += spectrumFloor
	}
	dsp.Log(s.logs, s.power)
}

// bin is the first bin at or above f Hz.
func (s *logSpectra) bin(f float64) int {
	return int(math.Ceil(f * float64(len(s.frame)) / spoofRate))
}

// quefrencyEdges are the first coefficients of the bands of quefrency, and one
// past the last, of a cepstrum of m points of spectra of n-sample frames.
func quefrencyEdges(n, m int) (edges [len(quefrencyBands)]int) {
	for i, ms := range quefrencyBands {
		edges[i] = min(int(math.Ceil(ms*spoofRate/1000*float64(m)/float64(n))), m/2+1)
	}
	return edges
}

// harmonics fills harmonic.
func (q *quefrencies) harmonics(x []float64) {
	const m = harmonicFrame / 2
	n := len(q.on)
	q.harmonic = newTracks(len(quefrencyBands)-1, n)
	s := newLogSpectra(harmonicFrame)
	lo, hi := s.bin(quefrencyLow), s.bin(quefrencyHigh)
	c, coef := dsp.NewCepstrum(hi-lo, m), make([]complex128, m/2+1)
	edges := quefrencyEdges(harmonicFrame, m)
	for t := range n {
		if !q.on[t] {
			continue
		}
		s.measure(x, t*spoofHop)
		c.Coefficients(coef, s.logs[lo:hi])
		for b, track := range q.harmonic {
			band := coef[edges[b]:edges[b+1]]
			track[t] = math.Log(power(band) / float64(len(band)))
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

// textures fills flatness, change and onChange.
func (q *quefrencies) textures(x []float64) {
	const m = textureFrame / 2
	n := len(q.onTexture)
	bands := len(quefrencyBands) - 1
	q.flatness, q.change = newTracks(len(textureBands)-1, n), newTracks(2*bands, n)
	q.onChange = make([]bool, n)
	s := newLogSpectra(textureFrame)
	lo, mid, hi := s.bin(quefrencyLow), s.bin(quefrencyMid), s.bin(quefrencyHigh)
	whole, low := dsp.NewCepstrum(hi-lo, m), dsp.NewCepstrum(mid-lo, m)
	edges := quefrencyEdges(textureFrame, m)
	var past [textureLag + 1][2][]complex128 // of the latest frames, by t modulo their number
	for i := range past {
		past[i] = [2][]complex128{make([]complex128, m/2+1), make([]complex128, m/2+1)}
	}
	for t := range n {
		if !q.onTexture[t] {
			continue
		}
		s.measure(x, t*spoofHop)
		for b, track := range q.flatness {
			k0, k1 := s.bin(textureBands[b]), s.bin(textureBands[b+1])
			track[t] = dsp.Mean(s.logs[k0:k1]) - math.Log(dsp.Mean(s.power[k0:k1]))
		}
		now := past[t%len(past)]
		whole.Coefficients(now[0], s.logs[lo:hi])
		low.Coefficients(now[1], s.logs[lo:mid])
		if t < textureLag || !q.onTexture[t-textureLag] {
			continue
		}
		q.onChange[t] = true
		before := past[(t-textureLag)%len(past)]
		for i := range now {
			for b := range bands {
				q.change[i*bands+b][t] = change(now[i][edges[b]:edges[b+1]], before[i][edges[b]:edges[b+1]])
			}
		}
	}
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
	lo, hi := v.frames(len(q.on), spoofHop, harmonicFrame)
	v.from("quefrency.band1.mean_log")
	for _, track := range q.harmonic {
		v.put(enough(track[lo:hi], q.on[lo:hi]))
	}
	lo, hi = v.frames(len(q.onTexture), spoofHop, textureFrame)
	v.from("texture.band1.flatness_mean")
	for _, track := range q.flatness {
		v.put(enough(track[lo:hi], q.onTexture[lo:hi]))
	}
	for _, track := range q.change {
		m, _ := enough(track[lo:hi], q.onChange[lo:hi])
		v.put(m)
	}
}

// enough returns mean and standard deviation of the track where on holds, NaN
// for fewer than leastVoiced frames.
func enough(track []float64, on []bool) (m, dev float64) {
	x := where(track, on)
	if len(x) < leastVoiced {
		return math.NaN(), math.NaN()
	}
	return dsp.Mean(x), dsp.SD(x)
}

// voicedFrames says which of the frames of size samples every hop are active
// and have their middle in a voiced frame of the track f0. sums are those of
// the squares before each sample, and of all.
func voicedFrames(sums, f0 []float64, size int) []bool {
	length := len(sums) - 1
	power := make([]float64, frameCount(sums[:length], spoofHop, size))
	for t := range power {
		power[t] = sums[min(t*spoofHop+size, length)] - sums[min(t*spoofHop, length)]
	}
	on := active(power)
	for t := range on {
		on[t] = on[t] && voicedAt(f0, t*spoofHop+size/2)
	}
	return on
}

// voicedAt says whether the frame of f0 nearest to a sample is voiced.
func voicedAt(f0 []float64, sample int) bool {
	i := (sample + spoofHop/2) / spoofHop
	return i < len(f0) && f0[i] > 0
}
