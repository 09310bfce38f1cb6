package models

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// ExtractSpoof computes the features of schema spoof/1 of mono samples at the
// rate in Hz, which must be one that a [dsp.Resampler] takes. x may have any
// length and level; what cannot be measured is NaN, and of silence that is
// everything. x is not changed. Equal input gives equal output.
//
// A frame is active if its power is within 32 dB of the 95th percentile.
// The families and their sources:
//
//   - lfcc.*: standard deviation over the active frames of the LFCC and of
//     their deltas (Sahidullah et al. 2015; 20 ms Hamming frames, 20 linear
//     filters from 30 to 8000 Hz)
//   - pitch.*, amplitude.*, periodicity.*: dynamics of the autocorrelation
//     pitch of 40 ms frames, and of the peak's height
//   - periodicity.band*: normalised autocorrelation of five bands at that lag
//   - lpc.*: statistics of the residual of linear prediction of order 18
//   - fine.*: the long-term log spectrum less its running median: tones and
//     checkerboards that upsampling leaves
//   - modulation.*: log share of bands of the spectrum of the log band energies
func ExtractSpoof(x []float64, rate int) Vector {
	v := Vector{Schema: spoofSchema, Values: make([]float64, spoofSchema.Len())}
	for i := range v.Values {
		v.Values[i] = math.NaN()
	}
	y := frontEnd(x, rate)
	if y == nil {
		return v
	}
	s := &spoof{x: y, out: v.Values}
	s.cepstrum()
	s.modulation()
	s.pitch()
	s.residual()
	s.fine()
	for i, value := range s.out {
		if !finite(value) {
			s.out[i] = math.NaN()
		}
	}
	return v
}

// spoof fills one vector of spoof/1.
type spoof struct {
	x    []float64 // at spoofRate
	out  []float64
	next int // where put goes on

	bank [][]float64 // log energies of the LFCC filters, one track a filter
	on   []bool      // whether a frame of the tracks is active
}

// from says which feature put is to set next.
func (s *spoof) from(feature string) { s.next = spoofSchema.Index(feature) }

// put sets the next features in schema order.
func (s *spoof) put(values ...float64) { s.next += copy(s.out[s.next:], values) }

// spoofActive is how far below the 95th percentile the power of an active
// frame may lie, as a ratio: 32 dB.
var spoofActive = math.Pow(10, -3.2)

// active says which of the powers are active.
func active(power []float64) []bool {
	floor := percentile(power, 95) * spoofActive
	on := make([]bool, len(power))
	for i, p := range power {
		on[i] = p > floor
	}
	return on
}

// where returns the values of x for which on holds.
func where(x []float64, on []bool) []float64 {
	var y []float64
	for i, v := range x {
		if on[i] {
			y = append(y, v)
		}
	}
	return y
}

const (
	lfccFrame = 320 // samples, 20 ms
	lfccFFT   = 512
	lfccLow   = 30.0   // Hz
	lfccHigh  = 8000.0 // Hz
	lfccFloor = 1e-9   // power added to every filter: 40 dB below the dither's share of one
)

// cepstrum fills lfcc.* and keeps the filter tracks.
func (s *spoof) cepstrum() {
	s.filterTracks()
	n := len(s.on)
	track, d := make([]float64, n), make([]float64, n)
	var dev, deltaDev [numLFCC]float64
	for k := range numLFCC {
		for t := range track {
			track[t] = 0
			for b := range numLFCC {
				track[t] += s.bank[b][t] * dctTable[k][b]
			}
		}
		deltas(d, track)
		dev[k] = sd(where(track, s.on))
		deltaDev[k] = sd(where(d, s.on))
	}
	s.from("lfcc.0.sd")
	s.put(dev[:]...)
	s.put(deltaDev[:]...)
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

// filterTracks computes the log energies of the linear filters.
func (s *spoof) filterTracks() {
	fft, window := dsp.NewFFT(lfccFFT), dsp.Hamming(lfccFrame)
	n := max((len(s.x)-lfccFrame)/spoofHop+1, 1)
	frame, bins := make([]float64, lfccFFT), make([]float64, lfccFFT/2+1)
	power := make([]float64, n)
	s.bank = make([][]float64, numLFCC)
	for b := range s.bank {
		s.bank[b] = make([]float64, n)
	}
	const step = (lfccHigh - lfccLow) / (numLFCC + 1)
	const width = float64(spoofRate) / lfccFFT
	for t := range n {
		windowed(frame, s.x, t*spoofHop, window)
		fft.Power(bins, frame)
		for k, p := range bins {
			power[t] += p
			// The triangle b rises from lfccLow + b·step and peaks a step on:
			// the bin lies on the falling side of one and the rising of the next.
			pos := (float64(k)*width - lfccLow) / step
			if pos < 0 {
				continue
			}
			b, part := int(pos), pos-math.Floor(pos)
			if b < numLFCC {
				s.bank[b][t] += part * p
			}
			if b >= 1 && b <= numLFCC {
				s.bank[b-1][t] += (1 - part) * p
			}
		}
		for b := range s.bank {
			s.bank[b][t] = math.Log(s.bank[b][t] + lfccFloor)
		}
	}
	s.on = active(power)
}

// windowed copies the window's length of x from start on, times the window,
// to the head of frame, and zeros the rest.
func windowed(frame, x []float64, start int, window []float64) {
	dsp.CopyFrame(frame[:len(window)], x, start)
	for i, w := range window {
		frame[i] *= w
	}
	clear(frame[len(window):])
}

// modulationFFT is the length of a modulation block in frames, 1.28 s: it is
// the same for every recording, so that the spectrum does not tell how long
// the recording is.
const modulationFFT = 128

// modulation fills modulation.*: of each group of filters, the log share of
// each band of modulation frequency in the power spectra of its tracks over
// Hann-windowed blocks that overlap by half.
func (s *spoof) modulation() {
	fft, window := dsp.NewFFT(modulationFFT), dsp.PeriodicHann(modulationFFT)
	frame, bins := make([]float64, modulationFFT), make([]float64, modulationFFT/2+1)
	var energy [modulationBands][numLFCC / modulationGroup]float64
	n := len(s.on)
	for b, track := range s.bank {
		for start := 0; start == 0 || start+modulationFFT <= n; start += modulationFFT / 2 {
			block := track[start:min(start+modulationFFT, n)]
			m := mean(block)
			clear(frame)
			for i, v := range block {
				frame[i] = (v - m) * window[i]
			}
			fft.Power(bins, frame)
			for k, p := range bins {
				if e := modulationBand[k]; e >= 0 {
					energy[e][b/modulationGroup] += p
				}
			}
		}
	}
	s.from("modulation.1.band1_log")
	for e := range energy {
		for g := range energy[e] {
			var all float64
			for i := range energy {
				all += energy[i][g]
			}
			s.put(math.Log(energy[e][g] / all))
		}
	}
}

// modulationBand is the band of each bin, -1 outside all.
var modulationBand = func() (band [modulationFFT/2 + 1]int) {
	for k := range band {
		f := float64(k) * framesPerSecond / modulationFFT
		band[k] = -1
		for e := range modulationBands {
			if f >= modulationEdges[e] && f < modulationEdges[e+1] {
				band[k] = e
			}
		}
	}
	return band
}()
