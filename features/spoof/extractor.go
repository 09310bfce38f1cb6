package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
)

// An Extractor measures the features of schema spoof/10, of one recording after
// another. It owns its scratch memory. After a recording of some length and rate,
// a shorter one at the same rate allocates nothing but the results for which the
// caller gives no memory. It is not safe for concurrent use.
type Extractor struct {
	front     *front
	periods   *periods
	residual  *residuals
	fine      *fineSums
	voice     *voicing
	quefrency *quefrencies
	envelope  *envelopes
	pulse     excitations
	first     fundamentals
	cycle     *cycles
	joint     *joints
	vector    vector

	// Of the latest recording.
	x       []float64 // at rateHz, what the front end made of it; empty for silence
	seconds float64
}

// NewExtractor returns an Extractor.
func NewExtractor() *Extractor {
	return &Extractor{
		front: newFront(), periods: newPeriods(), residual: newResiduals(),
		fine: newFineSums(), voice: newVoicing(), quefrency: newQuefrencies(), envelope: newEnvelopes(), cycle: newCycles(), joint: newJoints(),
	}
}

// Extract measures mono samples at the rate in Hz and returns their features. It
// is [Extractor.Track] followed by [Extractor.Vector] of the whole recording.
func (e *Extractor) Extract(dst, x []float64, rate int) features.Vector {
	e.Track(x, rate)
	return e.Vector(dst, 0, e.Duration())
}

// Track measures mono samples at the rate in Hz, from [dsp.MinResampleRate] to
// [dsp.MaxResampleRate]; it panics at any other. x may have any length and level.
// A sample that is NaN counts as 0, one beyond ±16 as ±16. x is not changed and
// not kept. Equal input gives equal features, whatever was measured before.
func (e *Extractor) Track(x []float64, rate int) {
	e.x, e.seconds = e.front.prepare(x, rate), float64(len(x))/float64(rate)
	if len(e.x) == 0 {
		return
	}
	e.periods.measure(e.x)
	e.residual.measure(e.x, &e.pulse)
	e.fine.measure(e.x)
	e.voice.measure(e.x)
	e.quefrency.measure(e.x, e.voice.f0)
	e.envelope.measure(e.x, e.voice.f0)
	e.pulse.measure(e.voice.pulses)
	e.first.measure(e.x, e.voice.pulses)
	e.cycle.measure(e.x, e.voice.pulses)
	e.joint.measure(e.x, e.pulse.residual, e.voice.f0)
}

// Duration is the length of the latest recording in seconds.
func (e *Extractor) Duration() float64 { return e.seconds }

// Vector returns the features of the part of the latest recording between two
// times in seconds. The values lie in dst, of the length of the schema; a nil dst
// is allocated, and any other length panics.
//
// Level, band and which frames are active are those of the whole recording. A
// feature that cannot be measured is NaN. Most features need 0.1 to 0.2 s of
// voice. Of silence, and of a part outside the recording, all features are NaN.
func (e *Extractor) Vector(dst []float64, from, to float64) features.Vector {
	if dst == nil {
		dst = make([]float64, schema.Len())
	}
	if len(dst) != schema.Len() {
		panic("spoof: features into a slice of the wrong length")
	}
	for i := range dst {
		dst[i] = math.NaN()
	}
	v, out := &e.vector, features.Vector{Schema: schema, Values: dst}
	if !(from < to) {
		return out
	}
	v.out, v.length = dst, len(e.x)
	v.lo, v.hi = sampleAt(from, v.length), sampleAt(to, v.length)
	if v.lo == v.hi {
		return out
	}
	v.pitch(e.periods)
	v.residual(e.residual, e.voice.f0)
	v.perturbation(e.voice)
	v.quefrency(e.quefrency)
	v.envelope(e.envelope)
	v.bands(e.envelope)
	v.predictor(e.residual)
	v.floor(e.fine)
	v.excitation(&e.pulse, e.voice.pulses)
	v.fundamental(&e.first, e.voice.pulses)
	v.cycle(e.cycle, e.voice.pulses)
	v.joints(e.joint, e.envelope)
	v.voice(e.voice)
	v.out = nil
	for i, value := range dst {
		if !dsp.Finite(value) {
			dst[i] = math.NaN()
		}
	}
	return out
}

// sampleAt is the sample of a recording of n samples at a time in seconds.
func sampleAt(seconds float64, n int) int {
	return int(min(max(math.Round(seconds*rateHz), 0), float64(n)))
}
