package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
)

// voicing is what dsp measures of the voice in the front end's samples. They
// are not the measures of voice/1, which are of the recording as it came and
// depend on its band.
type voicing struct {
	pitch  *dsp.Pitch
	finder *dsp.Pulses

	f0     []float64 // Hz, every dsp.Hop, 0 where unvoiced
	pulses []float64 // s
}

func newVoicing() *voicing {
	return &voicing{pitch: dsp.NewPitch(rateHz, &dsp.PitchOptions{Strict: true}), finder: dsp.NewPulses(rateHz)}
}

// measure computes the tracks of x.
func (w *voicing) measure(x []float64) {
	w.f0 = w.pitch.Track(w.f0, x)
	w.pulses = w.finder.Find(w.pulses, x, w.f0)
}

// perturbation fills perturbation.*. Jitter and shimmer are logarithms, because
// they vary by factors. The ratios say how the perturbation is spread over longer
// stretches, independently of its size.
func (v *vector) perturbation(w *voicing) {
	a, b := v.pulses(w.pulses)
	j, s := dsp.MeasureJitter(w.pulses[a:b]), dsp.MeasureShimmer(w.pulses[a:b], w.finder.Amplitudes()[a:b])
	v.from("perturbation.jitter_local_log")
	v.put(math.Log(j.Local), math.Log(j.RAP), math.Log(j.PPQ5), math.Log(j.RAP/j.Local), math.Log(j.PPQ5/j.RAP),
		math.Log(s.LocalDB), math.Log(s.APQ3), math.Log(s.APQ5), math.Log(s.APQ11),
		math.Log(s.APQ3/s.Local), math.Log(s.APQ11/s.Local))
	v.pulseChanges(w.pulses[a:b], w.finder.Amplitudes()[a:b])
}

// voice fills voice.*.
func (v *vector) voice(w *voicing) {
	lo, hi := v.frames(len(w.f0), hopLen, 0)
	v.level = v.level[:0]
	for _, f := range w.f0[lo:hi] {
		if f > 0 {
			v.level = append(v.level, f)
		}
	}
	v.from("voice.pitch_oct")
	v.put(math.NaN(), math.Log(float64(v.hi-v.lo)/rateHz))
	if len(v.level) > 0 {
		v.from("voice.pitch_oct")
		v.put(math.Log2(dsp.PercentileInPlace(v.level, 50)))
	}
}

// pulses returns the range a ≤ i < b of the pulses, at ascending times in seconds, that lie in
// the part.
func (v *vector) pulses(times []float64) (a, b int) {
	b = len(times)
	for a < b && times[a]*rateHz < float64(v.lo) {
		a++
	}
	for b > a && times[b-1]*rateHz >= float64(v.hi) {
		b--
	}
	return a, b
}
