package spoof

import (
	"math"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

// TestExtractorForgetsTheRecordingBefore measures recordings of several lengths,
// rates and kinds, forwards and backwards, with one Extractor: each has the bits
// that an Extractor of its own gives.
func TestExtractorForgetsTheRecordingBefore(t *testing.T) {
	voice := speech(t)
	broken := slices.Clone(voice[:dsp.SampleRate])
	broken[5000], broken[6000], broken[7000] = math.NaN(), math.Inf(1), 1e300
	type recording struct {
		name string
		x    []float64
		rate int
	}
	recordings := []recording{
		{"speech", voice, dsp.SampleRate},
		{"its end", voice[2*dsp.SampleRate:], dsp.SampleRate},
		{"silence", make([]float64, 20000), 8000},
		{"noise", noise(1.3), rateHz},
		{"pulses", pulses(2, func(int) float64 { return 90 }), 16000},
		{"nothing", nil, 48000},
		{"speech as if at 24 kHz", voice[:60000], 24000},
		{"broken samples", broken, dsp.SampleRate},
		{"300 samples", voice[dsp.SampleRate:][:300], dsp.SampleRate},
		{"loud", slices.Repeat([]float64{15, 3, -9, 2, 2}, 5000), 32000},
	}
	order := slices.Clone(recordings)
	slices.Reverse(order)
	order = append(recordings[:len(recordings):len(recordings)], order...)
	e := NewExtractor()
	dst := make([]float64, schema.Len())
	for _, r := range order {
		got, want := e.Extract(dst, r.x, r.rate), extract(r.x, r.rate)
		for i, w := range want.Values {
			if v := got.Values[i]; v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
				name, _ := schema.Feature(i)
				t.Errorf("%s: got %s = %v after other recordings, want %v", r.name, name, v, w)
			}
		}
	}
}

// TestExtractorAllocatesNothing measures a recording again, and a part of it.
func TestExtractorAllocatesNothing(t *testing.T) {
	x, e, dst := speech(t), NewExtractor(), make([]float64, schema.Len())
	e.Track(x, dsp.SampleRate)
	e.Vector(dst, 0, e.Duration())
	for name, f := range map[string]func(){
		"the same recording": func() { e.Extract(dst, x, dsp.SampleRate) },
		"its beginning":      func() { e.Extract(dst, x[:2*dsp.SampleRate], dsp.SampleRate) },
		"a part":             func() { e.Vector(dst, 0.5, 1.5) },
	} {
		if got := cost.Allocations(3, f); got != 0 {
			t.Errorf("%s: got %v allocations, want 0", name, got)
		}
	}
}

func TestVectorPanicsOnAWrongLength(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("got no panic")
		}
	}()
	NewExtractor().Vector(make([]float64, 3), 0, 1)
}
