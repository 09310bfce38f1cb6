package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/lanes"
)

// The cepstra of the voiced frames. The long frame resolves the harmonics and
// what lies between them; of 16, 32 and 64 ms its energies separated best: alone
// AUC 0.71, 0.77 and 0.78 in cross-validation on the clips of DEEPFAKE.md.
const (
	harmonicFrame = 1024 // samples, 64 ms
	quefrencyHop  = 320  // samples, 20 ms: every 10 ms separated no better
	quefrencyLow  = 125.0
	quefrencyHigh = 7375.0
	spectrumFloor = 1e-10 // power added to every bin, 30 dB below the dither

	harmonicFFT = harmonicFrame / 2 // points of the transform of a spectrum

	squareBlock = 32 // samples: of these, hops and frames are whole numbers
)

// quefrencies holds the tracks of quefrency.*. A value is defined where its frame is
// on.
type quefrencies struct {
	samples int       // of the recording
	sums    []float64 // of the squares before each block of squareBlock samples, and of all

	harmonic table    // of each quefrency band, the log of the power cepstrum
	frames   activity // on says whether the frame is active and voiced
	spectrum *lanes.Spectrum
	cepstrum *lanes.Cepstrum
	power    []float64 // of a cepstrum
}

func newQuefrencies() *quefrencies {
	q := &quefrencies{
		spectrum: lanes.NewSpectrum(dsp.PeriodicHann(harmonicFrame), harmonicFrame),
		power:    make([]float64, lanes.Count*(harmonicFFT/2+1)),
	}
	q.cepstrum = lanes.NewCepstrum(q.spectrum.Bin(quefrencyHigh, rateHz)-q.spectrum.Bin(quefrencyLow, rateHz), harmonicFFT)
	return q
}

// quefrencyEdges are the first coefficients of the bands of quefrency, and one
// past the last.
var quefrencyEdges = func() (edges [len(quefrencyBands)]int) {
	for i, ms := range quefrencyBands {
		edges[i] = min(int(math.Ceil(ms*rateHz/1000*harmonicFFT/harmonicFrame)), harmonicFFT/2+1)
	}
	return edges
}()

// measure measures x, whose F0 is given.
func (q *quefrencies) measure(x, f0 []float64) {
	q.samples = len(x)
	q.sums = append(q.sums[:0], 0)
	for i := 0; i < len(x); i += squareBlock {
		block := x[i:min(i+squareBlock, len(x))]
		q.sums = append(q.sums, q.sums[len(q.sums)-1]+dsp.Dot(block, block))
	}
	q.voicedFrames(f0)
	q.harmonics(x)
}

// voicedFrames sets which of the frames every quefrencyHop are active and have their
// middle in a voiced frame of the track f0.
func (q *quefrencies) voicedFrames(f0 []float64) {
	const size = harmonicFrame
	a, last := &q.frames, len(q.sums)-1
	a.reset(frameCount(q.samples, quefrencyHop, size))
	for t := range a.power {
		a.power[t] = q.sums[min((t*quefrencyHop+size)/squareBlock, last)] - q.sums[min(t*quefrencyHop/squareBlock, last)]
	}
	a.decide()
	for t, on := range a.on {
		a.on[t] = on && voicedAt(f0, t*quefrencyHop+size/2)
	}
}

// harmonics fills harmonic.
func (q *quefrencies) harmonics(x []float64) {
	frames := q.frames.on
	q.harmonic.reset(len(quefrencyBands)-1, len(frames))
	s := q.spectrum
	lo, hi := s.Bin(quefrencyLow, rateHz), s.Bin(quefrencyHigh, rateHz)
	edges := &quefrencyEdges
	for t := 0; t < len(frames); t += lanes.Count {
		if !anyOf(frames, t) {
			continue
		}
		s.Measure(x, t*quefrencyHop, quefrencyHop, len(frames)-t)
		band := dsp.AddConstant(s.Bins(lo, hi), spectrumFloor)
		q.cepstrum.Power(q.power, dsp.Log(band, band))
		for b, track := range q.harmonic.tracks {
			mean := lanes.Sum(q.power[lanes.Count*edges[b] : lanes.Count*edges[b+1]])
			for l := range mean {
				mean[l] /= float64(edges[b+1] - edges[b])
			}
			dsp.Log(mean[:], mean[:])
			copy(track[t:], mean[:])
		}
	}
}

// quefrency fills quefrency.*.
func (v *vector) quefrency(q *quefrencies) {
	on := q.frames.on
	lo, hi := v.frames(len(on), quefrencyHop, harmonicFrame)
	v.from("quefrency.band1.mean_log")
	for _, track := range q.harmonic.tracks {
		v.put(v.enough(track[lo:hi], on[lo:hi]))
	}
}
