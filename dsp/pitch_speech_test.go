package dsp_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// A voicingCount compares tracks with the truth, without the frames of irregular voice.
type voicingCount struct{ voiced, missed, gross, unvoiced, extra int }

func (c *voicingCount) add(f0 []float64, s *signals.Speech) {
	for i, f := range s.F0 {
		switch {
		case s.Irregular[i]:
		case f == 0:
			c.unvoiced++
			if f0[i] > 0 {
				c.extra++
			}
		default:
			c.voiced++
			if f0[i] == 0 {
				c.missed++
			} else if math.Abs(f0[i]/f-1) > 0.2 {
				c.gross++
			}
		}
	}
}

// share is a of b in percent.
func share(a, b int) float64 { return 100 * float64(a) / float64(b) }

// Connected speech, with faint, breathy and creaky ends of phrases, is voiced as the
// glottal closures have it. The speakers were not used to choose a setting. With Strict
// more frames are missed.
func TestPitchOfSpeakers(t *testing.T) {
	const extra, gross = 9, 0.5 // %
	var speakers []signals.Speech
	for seed := range uint64(6) {
		speakers = append(speakers, signals.NewSpeaker(220+seed).Speak(dsp.SampleRate, 5))
	}
	usual, strict := dsp.NewPitch(dsp.SampleRate, nil), dsp.NewPitch(dsp.SampleRate, &dsp.PitchOptions{Strict: true})
	for _, c := range []struct{ snr, missed float64 }{{math.Inf(1), 4}, {10, 8}, {0, 22}} {
		t.Run(fmt.Sprintf("%g dB", c.snr), func(t *testing.T) {
			var got, before voicingCount
			for i := range speakers {
				x := speakers[i].X
				if !math.IsInf(c.snr, 1) {
					x = signals.AddNoise(x, c.snr, uint64(i))
				}
				got.add(usual.Track(nil, x), &speakers[i])
				before.add(strict.Track(nil, x), &speakers[i])
			}
			missed, was := share(got.missed, got.voiced), share(before.missed, before.voiced)
			if !(missed <= c.missed && missed < 0.6*was) {
				t.Errorf("got %.2f %% of %d voiced frames missed, %.2f %% with Strict, want at most %g and fewer", missed, got.voiced, was, c.missed)
			}
			if g := share(got.gross, got.voiced-got.missed); !(g <= gross) {
				t.Errorf("got %.2f %% gross errors, want at most %g", g, gross)
			}
			if e := share(got.extra, got.unvoiced); !(e <= extra) {
				t.Errorf("got %.2f %% of %d unvoiced frames voiced, want at most %d", e, got.unvoiced, extra)
			}
		})
	}
}

// The hum of the mains, 20 dB below speech, is no voice in the pauses.
func TestPitchOfHum(t *testing.T) {
	const extra = 9 // %
	for _, mains := range []float64{50, 60} {
		s := signals.NewSpeaker(226).Speak(dsp.SampleRate, 5)
		hum := signals.Partials(dsp.SampleRate, mains, []float64{0, 1, 0.3, 0.2}, float64(len(s.X)+1)/dsp.SampleRate)
		g := math.Sqrt(signals.Power(s.X) / signals.Power(hum) / 100)
		for i := range s.X {
			s.X[i] += g * hum[i]
		}
		var got voicingCount
		got.add(dsp.NewPitch(dsp.SampleRate, nil).Track(nil, s.X), &s)
		if e := share(got.extra, got.unvoiced); !(e <= extra) {
			t.Errorf("%g Hz: got %.1f %% of %d unvoiced frames voiced, want at most %d", mains, e, got.unvoiced, extra)
		}
		if m := share(got.missed, got.voiced); !(m <= 20) {
			t.Errorf("%g Hz: got %.1f %% of %d voiced frames missed, want at most 20", mains, m, got.voiced)
		}
	}
}
