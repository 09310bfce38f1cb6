package spoof

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

// TestVoiceFeaturesAreThoseOfAKnownVoice measures pulses of a known rate.
func TestVoiceFeaturesAreThoseOfAKnownVoice(t *testing.T) {
	const rate = 16000
	for _, f0 := range []float64{100, 160, 250} {
		x := make([]float64, 2*rate)
		for i := range x {
			for h := 1.0; h*f0 < 5000; h++ {
				x[i] += 0.05 / h * math.Sin(2*math.Pi*h*f0*float64(i)/rate)
			}
		}
		e := NewExtractor()
		v := e.Extract(nil, x, rate)
		if got := math.Exp2(v.Get("voice.pitch_oct")); math.Abs(got/f0-1) > 0.01 {
			t.Errorf("got a pitch of %v Hz, want %v", got, f0)
		}
		if got := math.Exp(v.Get("voice.length_log")); math.Abs(got-2) > 1e-3 {
			t.Errorf("got a length of %v s, want 2", got)
		}
		if got := math.Exp(e.Vector(nil, 0.5, 1).Get("voice.length_log")); math.Abs(got-0.5) > 1e-3 {
			t.Errorf("half a second: got %v s", got)
		}
	}
	if got := NewExtractor().Extract(nil, make([]float64, rate), rate).Get("voice.pitch_oct"); dsp.Finite(got) {
		t.Errorf("silence: got a pitch of %v", got)
	}
}
