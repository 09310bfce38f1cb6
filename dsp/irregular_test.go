package dsp_test

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// Irregular voice is found where the glottal closures of synthetic speakers are irregular,
// and its share follows the true one from speaker to speaker.
func TestIrregular(t *testing.T) {
	var irregular, found, unvoiced, wrong int
	var x, y []float64 // true and measured shares
	p := dsp.NewPitch(dsp.SampleRate, nil)
	for seed := range uint64(10) {
		s := signals.NewSpeaker(230+seed).Speak(dsp.SampleRate, 5)
		f0 := p.Track(nil, s.X)
		got := p.Irregular(nil, f0)
		for i, is := range got {
			switch {
			case is && f0[i] > 0:
				t.Fatalf("frame %d is voiced and irregular", i)
			case s.Irregular[i]:
				irregular++
				if is {
					found++
				}
			case s.F0[i] == 0:
				unvoiced++
				if is {
					wrong++
				}
			}
		}
		x, y = append(x, dsp.IrregularShare(s.F0, s.Irregular)), append(y, dsp.IrregularShare(f0, got))
	}
	if s := share(found, irregular); !(s >= 75) {
		t.Errorf("got %.0f %% of %d irregular frames, want at least 75", s, irregular)
	}
	if s := share(wrong, unvoiced); !(s <= 3) {
		t.Errorf("got %.1f %% of %d unvoiced frames, want at most 3", s, unvoiced)
	}
	if r := correlation(x, y); !(r >= 0.8) {
		t.Errorf("got a correlation of %.2f of measured and true shares, want at least 0.8", r)
	}
}

// correlation is Pearson's.
func correlation(x, y []float64) float64 {
	mx, my := dsp.Mean(x), dsp.Mean(y)
	var xy, xx, yy float64
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
	}
	return xy / math.Sqrt(xx*yy)
}

func TestIrregularOfOtherSounds(t *testing.T) {
	vowel := signals.Fade(signals.Harmonic(dsp.SampleRate, signals.Constant(110), 0.6), dsp.SampleRate, 0.02)
	knock := append(make([]float64, dsp.SampleRate/2), vowel...)
	thump(knock, 0.2, 0.06, 0.5, 3)
	for name, x := range map[string][]float64{
		"empty": nil, "silence": make([]float64, dsp.SampleRate/4), "noise": signals.Noise(dsp.SampleRate, 0.1, 0.5, 1),
		"a vowel": vowel, "a knock before a vowel": knock,
		"voiced and unvoiced sounds": signals.Sequence(dsp.SampleRate, signals.VoicedUnvoiced, 1),
	} {
		p := dsp.NewPitch(dsp.SampleRate, nil)
		f0 := p.Track(nil, x)
		for i, is := range p.Irregular(nil, f0) {
			if is {
				t.Errorf("%s: frame %d is irregular", name, i)
			}
		}
	}
	if v := dsp.IrregularShare([]float64{0, 100, 100, 0}, []bool{true, false, false, false}); v != 1.0/3 {
		t.Errorf("got a share of %v, want a third", v)
	}
	if v := dsp.IrregularShare(nil, nil); !math.IsNaN(v) {
		t.Errorf("got a share of %v of nothing, want NaN", v)
	}
	defer func() {
		if recover() == nil {
			t.Error("another track: got no panic")
		}
	}()
	dsp.NewPitch(dsp.SampleRate, nil).Irregular(nil, make([]float64, 3))
}
