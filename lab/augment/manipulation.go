package augment

import (
	"math/rand/v2"

	"github.com/voicescreen/voicescreen/dsp"
)

// manipulations are what [Manipulated] makes of a voice. What hears them is in the card of
// the deepfake model.
var manipulations = []method{
	{"phase vocoder", phaseVocoder},
	{"resampled pitch", resampledPitch},
	{"psola", psola},
	{"joined pitch", joinedPitch},
	{"joined tempo", joinedTempo},
}

// Manipulated changes pitch or tempo of the real voice x, mono at rate Hz, in each way
// that the programs for it have: by a phase vocoder, by WSOLA, period by period, and by
// segments that are joined. Settings are drawn by rng. It calls yield with each voice,
// which is the caller's, and the name of its method. Of recordings that [Spoof] leaves
// alone there are none. x is not changed.
func Manipulated(x []float64, rate int, rng *rand.Rand, yield func(y []float64, method string)) {
	for _, m := range manipulations {
		if y, name := m.of(x, rate, rng); name != "" {
			yield(y, name)
		}
	}
}

// joinedPitch moves pitch and formants by one to six semitones: joined to another length,
// and resampled.
func joinedPitch(x []float64, rate int, rng *rand.Rand) []float64 {
	factor := semitones(1, 6, rng)
	return resized(drawnJoints(rate, rng).stretched(x, factor), 1/factor)
}

// joinedTempo makes x longer or shorter by 9 to 33 %.
func joinedTempo(x []float64, rate int, rng *rand.Rand) []float64 {
	factor := semitones(1.5, 5, rng)
	return drawnJoints(rate, rng).stretched(x, factor)
}

// joints are the lengths in samples of synchronous overlap-add (Roucos and Wilgus 1985)
// as programs have it: long segments that share a short cross-fade, placed within reach
// of where they belong.
type joints struct{ segment, fade, reach int }

// drawnJoints draws from the settings of such programs: segments of 30 to 100 ms,
// cross-fades of 7 to 15 and a reach of 10 to 18 ms. SoX has 82, 12 and 15 ms for music.
func drawnJoints(rate int, rng *rand.Rand) joints {
	samples := func(low, high float64) int { return int((low + (high-low)*rng.Float64()) * float64(rate)) }
	return joints{samples(0.030, 0.100), samples(0.007, 0.015), samples(0.010, 0.018)}
}

// stretched returns x longer by the factor, its pitch kept. Behind its end x is silent.
func (j joints) stretched(x []float64, factor float64) []float64 {
	n, step := int(float64(len(x))*factor), j.segment-j.fade
	y := make([]float64, 0, n+step)
	segment, last := make([]float64, step), make([]float64, j.fade)
	for at := 0; len(y) < n; {
		dsp.CopyFrame(segment, x, at)
		if len(y) > 0 {
			for i, v := range last {
				in := float64(i) / float64(j.fade)
				segment[i] = (1-in)*v + in*segment[i]
			}
		}
		y = append(y, segment...)
		dsp.CopyFrame(last, x, at+step) // how this segment goes on
		at = max(alike(x, last, int(float64(len(y))/factor)+j.reach/2, j.reach/2), 0)
	}
	return y[:n]
}
