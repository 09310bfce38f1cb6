package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/lanes"
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
// track each, and which frames are active.
type filters struct {
	lfcc                  *lanes.LFCC
	bank, cepstrum, delta table
	active                activity

	// Of the modulation spectra.
	modulation spectrum
}

func newFilters() *filters {
	return &filters{
		lfcc:       lanes.NewLFCC(rateHz, &lanes.LFCCOptions{Filters: numLFCC, Low: lfccLow, High: lfccHigh, Frame: lfccFrame, FFTLen: lfccFFT, Floor: lfccFloor}),
		modulation: newSpectrum(modulationFFT),
	}
}

// measure computes the tracks of x.
func (f *filters) measure(x []float64) {
	n := frameCount(len(x), hopLen, lfccFrame)
	f.bank.reset(numLFCC, n)
	f.cepstrum.reset(numLFCC, n)
	f.delta.reset(numLFCC, n)
	f.active.reset(n)
	for t := 0; t < n; t += lanes.Count {
		power := f.lfcc.Measure(x, t*hopLen, hopLen, n-t)
		copy(f.active.power[t:], power[:])
		for j := range numLFCC {
			copy(f.bank.tracks[j][t:], f.lfcc.Logs[lanes.Count*j:lanes.Count*(j+1)])
			copy(f.cepstrum.tracks[j][t:], f.lfcc.Coefficients[lanes.Count*j:lanes.Count*(j+1)])
		}
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
