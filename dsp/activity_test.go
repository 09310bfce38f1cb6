package dsp_test

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// edgeTolerance is how far, in seconds, a detected edge of speech may lie from
// the true one: half the window of the level and one frame.
const edgeTolerance = 0.025

// utterance returns stretches of a harmonic voice between pauses, the voice at
// the given peak, with white noise of the given RMS throughout, and where the
// voice is.
func utterance(peak, noise float64) (x []float64, truth []dsp.Segment) {
	for _, p := range []struct {
		voiced bool
		dur    float64
	}{{false, 0.4}, {true, 0.7}, {false, 0.12}, {true, 0.5}, {false, 0.45}, {true, 0.35}, {false, 0.3}} {
		start := float64(len(x)) / dsp.SampleRate
		if !p.voiced {
			x = append(x, make([]float64, int(p.dur*dsp.SampleRate))...)
			continue
		}
		v := signals.Harmonic(dsp.SampleRate, signals.Glide(140, 110, p.dur), p.dur)
		x = append(x, signals.Fade(signals.Scale(v, peak), dsp.SampleRate, 0.010)...)
		truth = append(truth, dsp.Segment{start, float64(len(x)) / dsp.SampleRate})
	}
	for i, v := range signals.Noise(dsp.SampleRate, noise, float64(len(x))/dsp.SampleRate, 7) {
		x[i] += v
	}
	return x, []dsp.Segment{{truth[0].Start, truth[1].End}, truth[2]}
}

func TestSpeechAndPauses(t *testing.T) {
	for _, c := range []struct {
		name                string
		peak, noise, offset float64
	}{
		{"digital silence between", 0.5, 0, 0},
		{"quiet room", 0.5, 1e-4, 0},
		{"noise 20 dB below the voice", 0.3, 0.005, 0},
		{"noise 10 dB below the voice", 0.3, 0.016, 0},
		{"very quiet recording", 1e-3, 1e-6, 0},
		{"offset ten times the voice", 0.05, 1e-5, 0.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, want := utterance(c.peak, c.noise)
			for i := range x {
				x[i] += c.offset
			}
			out := dsp.NewAnalyzer().Analyze(x)
			checkSegments(t, "speech", out.Speech, want)
			checkSegments(t, "pauses", out.Pauses, []dsp.Segment{{want[0].End, want[1].Start}})
			for i, s := range out.IsSpeech {
				at := float64(i) * dsp.Hop
				inside := false
				for _, g := range out.Speech {
					inside = inside || (at >= g.Start && at <= g.End)
				}
				if s != inside {
					t.Errorf("frame %d: got speech %v, want %v as its segment", i, s, inside)
				}
			}
		})
	}
}

func checkSegments(t *testing.T, what string, got, want []dsp.Segment) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %.3f, want %.3f", what, got, want)
	}
	for i := range got {
		if math.Abs(got[i].Start-want[i].Start) > edgeTolerance || math.Abs(got[i].End-want[i].End) > edgeTolerance {
			t.Errorf("%s: got %.3f, want %.3f ± %g s", what, got[i], want[i], edgeTolerance)
		}
	}
}

// A burst of noise without voicing, apart from speech, is not speech.
func TestNoiseBurstIsNoSpeech(t *testing.T) {
	voice := signals.Scale(signals.Harmonic(dsp.SampleRate, signals.Constant(120), 0.6), 0.3)
	gap := make([]float64, dsp.SampleRate/2)
	burst := signals.Noise(dsp.SampleRate, 0.05, 0.3, 3)
	var x []float64
	for _, part := range [][]float64{gap, burst, gap, voice, gap, burst, gap} {
		x = append(x, part...)
	}
	checkSegments(t, "speech", dsp.NewAnalyzer().Analyze(x).Speech, []dsp.Segment{{1.3, 1.9}})
}
