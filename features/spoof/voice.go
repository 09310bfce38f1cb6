package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// voicing is what dsp measures of the voice in what the front end hears. Not
// the measures of voice/1: those are of the recording as it came, and know its
// band.
type voicing struct {
	f0         []float64 // Hz, every dsp.Hop, 0 where unvoiced
	hnr        []float64 // dB, likewise
	pulses     []float64 // s
	amplitudes []float64
}

// newVoicing measures x.
func newVoicing(x []float64) *voicing {
	p := dsp.NewPulses(spoofRate)
	v := &voicing{f0: dsp.NewPitch(spoofRate, nil).Track(nil, x)}
	v.pulses = p.Find(nil, x, v.f0)
	v.amplitudes = p.Amplitudes()
	v.hnr = dsp.NewHNR(spoofRate).Track(nil, x, v.f0)
	return v
}

// perturbation fills perturbation.*. Jitter and shimmer are logarithms, for
// they vary by factors; the ratios say how the perturbation is spread over
// longer stretches, whatever its size.
func (v *vector) perturbation(x []float64, w *voicing) {
	a, b := 0, len(w.pulses)
	for a < b && w.pulses[a]*spoofRate < float64(v.lo) {
		a++
	}
	for b > a && w.pulses[b-1]*spoofRate >= float64(v.hi) {
		b--
	}
	j, s := dsp.MeasureJitter(w.pulses[a:b]), dsp.MeasureShimmer(w.pulses[a:b], w.amplitudes[a:b])
	v.from("perturbation.jitter_local_log")
	v.put(math.Log(j.Local), math.Log(j.RAP), math.Log(j.PPQ5), math.Log(j.RAP/j.Local), math.Log(j.PPQ5/j.RAP),
		math.Log(s.LocalDB), math.Log(s.APQ3), math.Log(s.APQ5), math.Log(s.APQ11),
		math.Log(s.APQ3/s.Local), math.Log(s.APQ11/s.Local))
	lo, hi := v.frames(len(w.hnr), spoofHop, 0)
	var hnr []float64
	for _, r := range w.hnr[lo:hi] {
		if dsp.Finite(r) {
			hnr = append(hnr, r)
		}
	}
	v.put(dsp.Mean(hnr), dsp.SD(hnr), dsp.Percentile(hnr, 10), dsp.Percentile(hnr, 90))
	part := x[min(lo*spoofHop, len(x)):min(hi*spoofHop, len(x))]
	v.put(dsp.NewCPPS(spoofRate).Measure(part, w.f0[lo:hi]))
}
