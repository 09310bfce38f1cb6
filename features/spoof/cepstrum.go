package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	lfccFrame = 320 // samples, 20 ms
	lfccFFT   = 512
	lfccLow   = 30.0   // Hz
	lfccHigh  = 8000.0 // Hz
	lfccFloor = 1e-9   // power added to every filter: 40 dB below the dither's share of one
)

// filters holds the log energies of the LFCC filters and their cepstrum, one
// track each, and which frames are active.
type filters struct {
	bank, cepstrum, delta [][]float64
	on                    []bool
}

// cepstrum fills lfcc.*.
func (v *vector) cepstrum(f *filters) {
	lo, hi := v.frames(len(f.on), spoofHop, lfccFrame)
	v.from("lfcc.0.sd")
	for _, tracks := range [][][]float64{f.cepstrum, f.delta} {
		for _, track := range tracks {
			v.put(dsp.SD(where(track[lo:hi], f.on[lo:hi])))
		}
	}
}

// dctTable holds √(2/numLFCC)·cos(πk(b+½)/numLFCC): the type II DCT,
// orthonormal but for c0, which is √2 times as large.
var dctTable = func() (c [numLFCC][numLFCC]float64) {
	for k := range c {
		for b := range c[k] {
			c[k][b] = math.Sqrt(2./numLFCC) * math.Cos(math.Pi*float64(k)*(float64(b)+0.5)/numLFCC)
		}
	}
	return c
}()

// newFilters computes the tracks of x at spoofRate.
func newFilters(x []float64) *filters {
	fft, window := dsp.NewFFT(lfccFFT), dsp.Hamming(lfccFrame)
	n := frameCount(x, spoofHop, lfccFrame)
	frame, bins := make([]float64, lfccFFT), make([]float64, lfccFFT/2+1)
	power := make([]float64, n)
	f := &filters{bank: newTracks(numLFCC, n), cepstrum: newTracks(numLFCC, n), delta: newTracks(numLFCC, n)}
	var energy [numLFCC]float64
	for t := range n {
		windowed(frame, x, t*spoofHop, window)
		fft.Power(bins, frame)
		power[t] = energies(&energy, bins)
		dsp.Log(energy[:], energy[:])
		for b, e := range energy {
			f.bank[b][t] = e
		}
		for k := range numLFCC {
			f.cepstrum[k][t] = dsp.Dot(energy[:], dctTable[k][:])
		}
	}
	for k, track := range f.cepstrum {
		dsp.Deltas(f.delta[k], track, 2)
	}
	f.on = active(power)
	return f
}

// energies fills the energies of the linear filters, with lfccFloor added, and
// returns the power of the frame.
func energies(energy *[numLFCC]float64, bins []float64) (power float64) {
	for b := range energy {
		energy[b] = lfccFloor
	}
	const step = (lfccHigh - lfccLow) / (numLFCC + 1)
	const width = float64(spoofRate) / lfccFFT
	for k, p := range bins {
		power += p
		// The triangle b rises from lfccLow + b·step and peaks a step on:
		// the bin lies on the falling side of one and the rising of the next.
		pos := (float64(k)*width - lfccLow) / step
		if pos < 0 {
			continue
		}
		b := int(pos)
		part := pos - float64(b)
		if b < numLFCC {
			energy[b] += part * p
		}
		if b >= 1 && b <= numLFCC {
			energy[b-1] += (1 - part) * p
		}
	}
	return power
}

// newTracks returns n tracks of the given length, all zero.
func newTracks(n, length int) [][]float64 {
	tracks, all := make([][]float64, n), make([]float64, n*length)
	for i := range tracks {
		tracks[i] = all[i*length : (i+1)*length : (i+1)*length]
	}
	return tracks
}

// modulationFFT is the length of a modulation block in frames, 1.28 s: it is
// the same for every recording, so that the spectrum does not tell how long
// the recording is.
const modulationFFT = 128

// modulation fills modulation.*: of each group of filters, the log share of
// each band of modulation frequency in the power spectra of its tracks over
// Hann-windowed blocks that overlap by half.
func (v *vector) modulation(f *filters) {
	fft, window := dsp.NewFFT(modulationFFT), dsp.PeriodicHann(modulationFFT)
	frame, bins := make([]float64, modulationFFT), make([]float64, modulationFFT/2+1)
	var energy [modulationBands][numLFCC / modulationGroup]float64
	lo, hi := v.frames(len(f.on), spoofHop, lfccFrame)
	n := hi - lo
	for b, track := range f.bank {
		track = track[lo:hi]
		for start := 0; start == 0 || start+modulationFFT <= n; start += modulationFFT / 2 {
			block := track[start:min(start+modulationFFT, n)]
			m := dsp.Mean(block)
			clear(frame)
			for i, e := range block {
				frame[i] = (e - m) * window[i]
			}
			fft.Power(bins, frame)
			for k, p := range bins {
				if e := modulationBand[k]; e >= 0 {
					energy[e][b/modulationGroup] += p
				}
			}
		}
	}
	v.from("modulation.1.band1_log")
	for e := range energy {
		for g := range energy[e] {
			var all float64
			for i := range energy {
				all += energy[i][g]
			}
			v.put(math.Log(energy[e][g] / all))
		}
	}
}

// modulationBand is the band of each bin, -1 outside all.
var modulationBand = func() (band [modulationFFT/2 + 1]int) {
	for k := range band {
		f := float64(k) * spoofRate / spoofHop / modulationFFT
		band[k] = -1
		for e := range modulationBands {
			if f >= modulationEdges[e] && f < modulationEdges[e+1] {
				band[k] = e
			}
		}
	}
	return band
}()
