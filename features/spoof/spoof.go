package spoof

import (
	"math"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/features"
)

// ExtractSpoof computes the features of schema spoof/2 of mono samples at the
// rate in Hz, which must be one that a [dsp.Resampler] takes. x may have any
// length and level; what cannot be measured is NaN, and of silence that is
// everything. x is not changed. Equal input gives equal output.
//
// It is the vector of all of [TrackSpoof]. The families and their sources:
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
//   - perturbation.*: jitter, shimmer, harmonics-to-noise ratio and CPPS, as
//     dsp measures them, of what the front end hears
//   - quefrency.*: the power cepstrum of the voiced frames in bands of
//     quefrency (see [dsp.Cepstrum])
//   - envelope.*: skewness of the steps and bends of the envelopes of bands
//
// A frame is active if its power is within 32 dB of the 95th percentile.
func Extract(x []float64, rate int) features.Vector {
	t := Track(x, rate)
	return t.Vector(0, t.Duration())
}

// SpoofTracks holds what the deepfake extractor measures along a recording, so
// that the features of any part of it cost little more. It is immutable and
// safe for concurrent use.
type Tracks struct {
	x         []float64 // at spoofRate, as the front end hears it; nil for silence
	seconds   float64
	filters   *filters
	periods   *periods
	residual  *residuals
	fine      *fineSums
	voice     *voicing
	quefrency *quefrencies
	envelope  *envelopes
}

// TrackSpoof measures mono samples at the rate in Hz, as for [ExtractSpoof]. x
// is not changed and not kept.
func Track(x []float64, rate int) *Tracks {
	t := &Tracks{x: frontEnd(x, rate), seconds: float64(len(x)) / float64(rate)}
	if t.x == nil {
		return t
	}
	t.filters = newFilters(t.x)
	t.periods = newPeriods(t.x)
	t.residual = newResiduals(t.x)
	t.fine = newFineSums(t.x)
	t.voice = newVoicing(t.x)
	t.quefrency = newQuefrencies(t.x, t.voice.f0)
	t.envelope = newEnvelopes(t.x, t.voice.f0)
	return t
}

// Duration is the length of the recording in seconds.
func (t *Tracks) Duration() float64 { return t.seconds }

// Vector computes the features of schema spoof/2 of the part of the recording
// between two times in seconds. Level, band and which frames are active are
// those of the whole recording. A feature that the part is too short for is
// NaN: most need 0.1 to 0.2 s of voice. It may be called for any times; of a
// part outside the recording everything is NaN.
func (t *Tracks) Vector(from, to float64) features.Vector {
	out := features.Vector{Schema: spoofSchema, Values: make([]float64, spoofSchema.Len())}
	for i := range out.Values {
		out.Values[i] = math.NaN()
	}
	v := &vector{out: out.Values, length: len(t.x)}
	if !(from < to) {
		return out
	}
	v.lo, v.hi = sampleAt(from, v.length), sampleAt(to, v.length)
	if v.lo == v.hi {
		return out
	}
	v.cepstrum(t.filters)
	v.modulation(t.filters)
	v.pitch(t.periods)
	v.residual(t.residual, t.voice.f0)
	v.fine(t.fine)
	v.perturbation(t.x, t.voice)
	v.quefrency(t.quefrency)
	v.envelope(t.envelope)
	for i, value := range out.Values {
		if !dsp.Finite(value) {
			out.Values[i] = math.NaN()
		}
	}
	return out
}

// sampleAt is the sample of a recording of n samples at a time in seconds.
func sampleAt(seconds float64, n int) int {
	return int(min(max(math.Round(seconds*spoofRate), 0), float64(n)))
}

// spoofVector fills one vector of spoof/2 with the part of a recording of length
// samples from sample lo to before hi.
type vector struct {
	out            []float64
	next           int // where put goes on
	lo, hi, length int
}

// from says which feature put is to set next.
func (v *vector) from(feature string) { v.next = spoofSchema.Index(feature) }

// put sets the next features in schema order.
func (v *vector) put(values ...float64) { v.next += copy(v.out[v.next:], values) }

// frames returns which of n frames, of size samples every hop, have their
// middle in the part: lo ≤ i < hi. The whole recording has all of them, even
// the one that a recording shorter than a frame has.
func (v *vector) frames(n, hop, size int) (lo, hi int) {
	first := func(sample int) int { return min(max((sample-size/2+hop-1)/hop, 0), n) }
	lo, hi = first(v.lo), first(v.hi)
	if v.hi == v.length {
		hi = n
	}
	return min(lo, hi), hi
}

// frameCount is how many frames of size samples every hop lie in x, at least
// one.
func frameCount(x []float64, hop, size int) int { return max((len(x)-size)/hop+1, 1) }

// spoofActive is how far below the 95th percentile the power of an active
// frame may lie, as a ratio: 32 dB.
var spoofActive = math.Pow(10, -3.2)

// active says which of the powers are active.
func active(power []float64) []bool {
	floor := dsp.Percentile(power, 95) * spoofActive
	on := make([]bool, len(power))
	for i, p := range power {
		on[i] = p > floor
	}
	return on
}

// where returns the values of x for which on holds.
func where(x []float64, on []bool) []float64 {
	y := make([]float64, 0, len(x))
	for i, v := range x {
		if on[i] {
			y = append(y, v)
		}
	}
	return y
}

// windowed copies the window's length of x from start on, times the window,
// to the head of frame, and zeros the rest.
func windowed(frame, x []float64, start int, window []float64) {
	f := dsp.CopyFrame(frame[:len(window)], x, start)
	dsp.Multiply(f, f, window)
	clear(frame[len(window):])
}
