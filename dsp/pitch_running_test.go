package dsp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// runningTrack is the track of a [Meter] for x, which comes in blocks.
func runningTrack(x []float64) []float64 {
	m := NewMeter(SampleRate)
	for i := 0; i < len(x); i += 441 {
		m.Add(x[i:min(i+441, len(x))])
	}
	return m.pitch.f0[:m.pitch.final()]
}

// From 2 s on, when pauses and the speaker's range are known, the track of a recording that
// goes on is voiced where that of the whole is, also in noise and in the hum of the mains,
// which is no voice.
func TestRunningPitchVoicesTheSameFrames(t *testing.T) {
	const from = 200 // frame
	for _, c := range []struct {
		name string
		snr  float64 // dB
		hum  bool
		most float64 // share of the frames with other voicing
	}{
		{"clean", 99, false, 0.005}, {"10 dB", 10, false, 0.005}, {"0 dB", 0, false, 0.01}, {"hum", 99, true, 0.02},
	} {
		t.Run(c.name, func(t *testing.T) {
			var frames, other float64
			last := uint64(256)
			if cost.Race {
				last = 253
			}
			for seed := uint64(252); seed < last; seed++ {
				x := signals.NewSpeaker(seed).Speak(SampleRate, 6).X
				if c.snr < 99 {
					x = signals.AddNoise(x, c.snr, seed)
				}
				if c.hum {
					hum := signals.Partials(SampleRate, 50, []float64{0, 1, 0.3, 0.2}, float64(len(x)+1)/SampleRate)
					g := math.Sqrt(signals.Power(x) / signals.Power(hum) / 100)
					for i := range x {
						x[i] += g * hum[i]
					}
				}
				running, whole := runningTrack(x), NewPitch(SampleRate, nil).Track(nil, x)
				for i := from; i < len(running); i++ {
					frames++
					if (running[i] > 0) != (whole[i] > 0) {
						other++
					}
				}
			}
			if frames < 300 {
				t.Fatalf("got %g frames", frames)
			}
			if share := other / frames; !(share <= c.most) {
				t.Errorf("got a share of %.4f with other voicing, want at most %g", share, c.most)
			} else {
				t.Logf("%.4f differ", share)
			}
		})
	}
}

// Of any track the doubtful frames that are cleared one after the other are those of the
// whole.
func TestRunningDoubt(t *testing.T) {
	const frames = 2000
	rng := rand.New(rand.NewPCG(1, 2))
	p := NewPitch(SampleRate, nil)
	p.path.reset(frames)
	want := make([]float64, frames)
	for i := range want {
		p.path.begin()
		want[i] = []float64{0, 100, 200, 200, 210, 210, 300}[rng.IntN(7)]
		if i > 0 && rng.IntN(3) > 0 {
			want[i] = want[i-1]
		}
		if f := want[i]; f > 0 {
			octave := math.Log2(f / p.opts.Floor)
			p.path.candidate(f, octave, 0.35+0.5*rng.Float64()+p.opts.OctaveCost*octave)
		}
	}
	r := &runningPitch{p: p}
	waits := 0
	for i, f := range want {
		r.f0 = append(r.f0, f)
		if r.doubt(i) {
			r.decided = i + 1
		} else {
			waits++
		}
		if i+1-r.decided > doubtMost {
			t.Fatalf("frame %d: %d frames wait, want at most %d", i, i+1-r.decided, doubtMost)
		}
	}
	path := slices.Clone(want)
	p.doubt(want)
	want = want[:r.decided]
	if !slices.Equal(r.f0[:r.decided], want) {
		t.Error("got other frames than the whole track has")
	}
	if waits < 100 || slices.Equal(path[:r.decided], want) {
		t.Errorf("got %d frames that wait, want many, and some that are cleared", waits)
	}
}
