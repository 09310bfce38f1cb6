package features

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

// turnsOf is an analysis of turns of a second each, with pauses between, of the
// given pitches in Hz; intonation moves by some semitones within a turn.
func turnsOf(pitches ...float64) *dsp.Analysis {
	rng := rand.New(rand.NewPCG(1, 2))
	a := &dsp.Analysis{}
	for k, hz := range pitches {
		start := 1.5 * float64(k)
		a.Speech = append(a.Speech, dsp.Segment{Start: start, End: start + 1})
		for i := range 150 {
			f := 0.0
			if i < 100 && i%10 != 9 {
				f = hz * math.Exp2((2*math.Sin(float64(i)/15)+0.5*rng.NormFloat64())/12)
			}
			a.F0 = append(a.F0, f)
		}
	}
	a.Duration = 1.5 * float64(len(pitches))
	return a
}

func TestSeveralVoices(t *testing.T) {
	for name, c := range map[string]struct {
		a    *dsp.Analysis
		want bool
	}{
		"one voice":                    {turnsOf(120, 118, 125, 116, 122, 119), false},
		"one lively voice":             {turnsOf(200, 230, 190, 215, 240, 195), false},
		"a man and a woman":            {turnsOf(115, 205, 118, 210, 112, 200), true},
		"a man, and a woman's remark":  {turnsOf(115, 118, 112, 220, 116, 119, 113, 117), true},
		"two men of nearly one pitch":  {turnsOf(115, 128, 113, 126, 116, 127), false},
		"too few turns to tell":        {turnsOf(115, 205, 118), false},
		"nobody":                       {&dsp.Analysis{}, false},
		"turns without a voiced frame": {&dsp.Analysis{Speech: make([]dsp.Segment, 9), F0: make([]float64, 500)}, false},
	} {
		if got := severalVoices(c.a); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
