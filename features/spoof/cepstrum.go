package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

const (
	lfccFrame = 320    // samples, 20 ms
	lfccFFT   = 512    // points
	lfccLow   = 30.0   // Hz
	lfccHigh  = 8000.0 // Hz
	lfccFloor = 1e-9   // power added to every filter: 40 dB below the dither's share of one
	lfccReach = 2      // frames on either side that take part in a delta
)

// filters holds the log energies of the LFCC filters and their cepstrum, one
// track each, and which frames are active. They are those of [dsp.LFCC], of four frames at
// once.
type filters struct {
	spectrum              laneSpectrum
	first                 [numLFCC + 2]int   // of each edge of the filters, the first bin at or above it
	weights               [numLFCC][]float64 // of the bins first[j] to first[j+2]−1 in filter j
	dct                   [numLFCC][]float64
	bank, cepstrum, delta table
	active                activity

	// Of the modulation spectra.
	modulation spectrum
}

func newFilters() *filters {
	f := &filters{spectrum: newLaneSpectrum(dsp.Hamming(lfccFrame), lfccFFT), modulation: newSpectrum(modulationFFT)}
	// triangles of height 1, whose edges divide the band into equal parts
	const width = (lfccHigh - lfccLow) / (numLFCC + 1)
	position := func(bin int) float64 { return (float64(bin)*rateHz/lfccFFT - lfccLow) / width }
	for j := range f.first {
		f.first[j] = 1
		for f.first[j] < lfccFFT/2 && position(f.first[j]) < float64(j) {
			f.first[j]++
		}
	}
	for j := range f.weights {
		for k := f.first[j]; k < f.first[j+2]; k++ {
			f.weights[j] = append(f.weights[j], 1-math.Abs(position(k)-float64(j+1)))
		}
		f.dct[j] = make([]float64, numLFCC)
		for i := range f.dct[j] {
			f.dct[j][i] = math.Sqrt(2./numLFCC) * math.Cos(math.Pi*float64(j)*(float64(i)+0.5)/numLFCC)
		}
	}
	return f
}

// measure computes the tracks of x.
func (f *filters) measure(x []float64) {
	n := frameCount(len(x), hopLen, lfccFrame)
	f.bank.reset(numLFCC, n)
	f.cepstrum.reset(numLFCC, n)
	f.delta.reset(numLFCC, n)
	f.active.reset(n)
	var logs [laneCount * numLFCC]float64
	for t := 0; t < n; t += laneCount {
		f.spectrum.measure(x, t*hopLen, hopLen, n-t)
		for j, w := range f.weights {
			e := laneDot(f.spectrum.bins(f.first[j], f.first[j+2]), w, hasAVX2)
			copy(logs[laneCount*j:], e[:])
		}
		dsp.AddConstant(logs[:], lfccFloor)
		dsp.Log(logs[:], logs[:])
		for j, track := range f.bank.tracks {
			copy(track[t:], logs[laneCount*j:laneCount*(j+1)])
		}
		for j, track := range f.cepstrum.tracks {
			c := laneDot(logs[:], f.dct[j], hasAVX2)
			copy(track[t:], c[:])
		}
		power := laneSum(f.spectrum.bins(0, f.first[numLFCC+1]), hasAVX2)
		copy(f.active.power[t:], power[:])
	}
	for k, track := range f.cepstrum.tracks {
		dsp.Deltas(f.delta.tracks[k], track, lfccReach)
	}
	f.active.decide()
}

// cepstrum fills lfcc.*.
func (v *vector) cepstrum(f *filters) {
	on := f.active.on
	lo, hi := v.frames(len(on), hopLen, lfccFrame)
	v.from("lfcc.0.sd")
	for _, track := range f.cepstrum.tracks {
		v.put(deviation(v.where(track[lo:hi], on[lo:hi])))
	}
	for _, track := range f.delta.tracks {
		v.put(deviation(v.where(track[lo:hi], on[lo:hi])))
	}
}

// modulationFFT is the length of a modulation block in frames, 1.28 s. It is
// the same for every recording, so that the spectrum does not depend on the
// duration.
const modulationFFT = 128

// modulation fills modulation.*: of each group of filters, the log share of
// each band of modulation frequency in the power spectra of its tracks over
// Hann-windowed blocks that overlap by half.
func (v *vector) modulation(f *filters) {
	var energy [modulationBands][numLFCC / modulationGroup]float64
	s := &f.modulation
	lo, hi := v.frames(len(f.active.on), hopLen, lfccFrame)
	n := hi - lo
	for b, track := range f.bank.tracks {
		track = track[lo:hi]
		for start := 0; start == 0 || start+modulationFFT <= n; start += modulationFFT / 2 {
			block := track[start:min(start+modulationFFT, n)]
			m := dsp.Sum(block) / float64(len(block))
			clear(s.frame)
			for i, e := range block {
				s.frame[i] = (e - m) * s.window[i]
			}
			s.fft.Power(s.power, s.frame)
			for k, p := range s.power {
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
		f := float64(k) * rateHz / hopLen / modulationFFT
		band[k] = -1
		for e := range modulationBands {
			if f >= modulationEdges[e] && f < modulationEdges[e+1] {
				band[k] = e
			}
		}
	}
	return band
}()
