package augment

import (
	"math"
	"math/cmplx"
	"math/rand/v2"

	"github.com/voicescreen/voicescreen/dsp"
)

// phaseVocoder moves the pitch, and the formants with it, by one to seven
// semitones: the recording is stretched by a phase vocoder (Flanagan & Golden
// 1966), with or without the phases locked to the peaks (Laroche & Dolson
// 1999), and resampled.
func phaseVocoder(x []float64, rate int, rng *rand.Rand) []float64 {
	factor := semitones(1, 7, rng)
	s := newSTFT(powerOfTwo([]float64{0.032, 0.064, 0.128}[rng.IntN(3)], rate))
	y := s.stretched(x, factor, rng.IntN(2) == 0)
	return fitted(resized(y, 1/factor), len(x))
}

// semitones draws a factor of low to high semitones, up or down.
func semitones(low, high float64, rng *rand.Rand) float64 {
	st := low + (high-low)*rng.Float64()
	if rng.IntN(2) == 0 {
		st = -st
	}
	return math.Exp2(st / 12)
}

// stretched returns x made longer by the factor, its pitch kept.
func (s *stft) stretched(x []float64, factor float64, lock bool) []float64 {
	in := s.frames(x)
	n := int(float64(len(x)) * factor)
	out := make([][]complex128, n/s.hop+1)
	phase := make([]float64, s.n/2+1)
	for k, c := range in[0] {
		phase[k] = cmplx.Phase(c)
	}
	zero := make([]complex128, s.n/2+1)
	for t := range out {
		at := float64(t) / factor
		i := min(int(at), len(in)-1)
		part := at - float64(i)
		a, b := in[i], zero
		if i+1 < len(in) {
			b = in[i+1]
		}
		f := make([]complex128, len(a))
		for k := range f {
			m := (1-part)*cmplx.Abs(a[k]) + part*cmplx.Abs(b[k])
			f[k] = cmplx.Rect(m, phase[k])
		}
		if lock {
			locked(f, a)
		}
		out[t] = f
		for k := range phase {
			expected := 2 * math.Pi * float64(k*s.hop) / float64(s.n)
			d := cmplx.Phase(b[k]) - cmplx.Phase(a[k]) - expected
			phase[k] += expected + d - 2*math.Pi*math.Round(d/(2*math.Pi))
		}
	}
	return s.signal(out, n)
}

// locked gives the bins of f the phases that they have in a beside the nearest
// peak.
func locked(f, a []complex128) {
	var peaks []int
	for k := 2; k < len(f)-2; k++ {
		m := cmplx.Abs(f[k])
		if m > cmplx.Abs(f[k-1]) && m > cmplx.Abs(f[k-2]) && m >= cmplx.Abs(f[k+1]) && m >= cmplx.Abs(f[k+2]) {
			peaks = append(peaks, k)
		}
	}
	if len(peaks) == 0 {
		return
	}
	turn := make([]float64, len(peaks))
	for i, p := range peaks {
		turn[i] = cmplx.Phase(f[p]) - cmplx.Phase(a[p])
	}
	i := 0
	for k := range f {
		for i+1 < len(peaks) && peaks[i+1]-k < k-peaks[i] {
			i++
		}
		f[k] = cmplx.Rect(cmplx.Abs(f[k]), cmplx.Phase(a[k])+turn[i])
	}
}

// griffinLim throws the phases away and finds new ones: the magnitudes go
// through 40 to 128 mel bands and back, and 3 to 40 rounds of Griffin & Lim
// (1984) start from random phases.
func griffinLim(x []float64, rate int, rng *rand.Rand) []float64 {
	s := newSTFT(powerOfTwo([]float64{0.032, 0.064}[rng.IntN(2)], rate))
	bands := []int{40, 64, 80, 80, 128}[rng.IntN(5)]
	rounds := 3 + int(37*rng.Float64()*rng.Float64())
	target := s.magnitudes(s.frames(x), rate, bands)
	frames := make([][]complex128, len(target))
	for t, m := range target {
		frames[t] = make([]complex128, len(m))
		for k, v := range m {
			frames[t][k] = cmplx.Rect(v, 2*math.Pi*rng.Float64())
		}
	}
	for range rounds {
		frames = s.frames(s.signal(frames, len(x)))
		for t, m := range target {
			for k, v := range m {
				if a := cmplx.Abs(frames[t][k]); a > 0 {
					frames[t][k] *= complex(v/a, 0)
				}
			}
		}
	}
	return s.signal(frames, len(x))
}

// magnitudes returns what mel bands leave of the magnitudes of the frames:
// each bin is the mean of its two bands, by their triangles at the bin.
func (s *stft) magnitudes(frames [][]complex128, rate, bands int) [][]float64 {
	band, part := s.mel(rate, bands)
	sum, weight := make([]float64, bands+1), make([]float64, bands+1)
	out := make([][]float64, len(frames))
	for t, f := range frames {
		clear(sum)
		clear(weight)
		for k, c := range f {
			p := real(c)*real(c) + imag(c)*imag(c)
			sum[band[k]] += (1 - part[k]) * p
			weight[band[k]] += 1 - part[k]
			sum[band[k]+1] += part[k] * p
			weight[band[k]+1] += part[k]
		}
		for b, w := range weight {
			if w > 0 {
				sum[b] /= w
			}
		}
		out[t] = make([]float64, len(f))
		for k := range f {
			out[t][k] = math.Sqrt((1-part[k])*sum[band[k]] + part[k]*sum[band[k]+1])
		}
	}
	return out
}

// mel returns where the bins lie between bands + 1 frequencies evenly spaced in mel from 0
// to half of the rate: the one below, and how far on the way to the next.
func (s *stft) mel(rate, bands int) (band []int, part []float64) {
	top := dsp.HzToMel(float64(rate) / 2)
	band, part = make([]int, s.n/2+1), make([]float64, s.n/2+1)
	for k := range band {
		p := dsp.HzToMel(float64(k*rate)/float64(s.n)) / top * float64(bands)
		band[k] = min(int(p), bands-1)
		part[k] = p - float64(band[k])
	}
	return band, part
}

// formants moves the formants by 8 to 30 % and leaves pitch and phases.
func formants(x []float64, rate int, rng *rand.Rand) []float64 {
	return warped(x, rate, semitones(1.4, 4.5, rng), 0.0015+0.001*rng.Float64())
}

// warped moves the envelope of every spectrum of x by the factor: the cepstrum
// below so many seconds.
func warped(x []float64, rate int, factor, below float64) []float64 {
	s := newSTFT(powerOfTwo(0.045, rate))
	keep := int(below * float64(rate))
	frames := s.frames(x)
	level, cepstrum := make([]complex128, s.n/2+1), make([]float64, s.n)
	for _, f := range frames {
		for k, c := range f {
			level[k] = complex(math.Log(cmplx.Abs(c)+1e-7), 0) // −140 dB of full scale
		}
		s.fft.Sequence(cepstrum, level)
		for q := keep; q <= s.n-keep; q++ {
			cepstrum[q] = 0
		}
		s.fft.Coefficients(level, cepstrum)
		for k := range f {
			from := float64(k) / factor
			i := min(int(from), s.n/2-1)
			part := min(from-float64(i), 1)
			e := (1-part)*real(level[i]) + part*real(level[i+1])
			f[k] *= complex(math.Exp(min(e-real(level[k]), 7)), 0) // at most 60 dB up
		}
	}
	return s.signal(frames, len(x))
}
