package dsp_test

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// Goals in dB: below what the best program reaches.
const hnrMean, hnrWorst = 0.10, 0.25

func TestHNROfKnownRatios(t *testing.T) {
	var sum float64
	var n int
	for _, f0 := range []float64{95, 147, 230} {
		for _, db := range []float64{5, 12, 18, 24, 30} {
			x := signals.Quantize(signals.HNR(dsp.SampleRate, f0, db, 1.5, uint64(db)), 1)
			track := dsp.NewPitch(dsp.SampleRate, nil).Track(nil, x)
			h := dsp.NewHNR(dsp.SampleRate).Track(nil, x, track)
			for i, f := range track {
				if (f > 0) == math.IsNaN(h[i]) {
					t.Fatalf("frame %d: got %g dB with F0 %g", i, h[i], f)
				}
			}
			e := math.Abs(meanOf(h) - db)
			if !(e <= hnrWorst) {
				t.Errorf("%g Hz: got %.3f dB, want %g", f0, meanOf(h), db)
			}
			sum += e
			n++
		}
	}
	if sum/float64(n) > hnrMean {
		t.Errorf("mean error: got %.3f dB, want at most %g", sum/float64(n), hnrMean)
	}
}

func TestHNREdges(t *testing.T) {
	h := dsp.NewHNR(dsp.SampleRate)
	for name, x := range map[string][]float64{"empty": nil, "silence": make([]float64, 4410), "short": signals.Tone(dsp.SampleRate, 100, 1, 0.01)} {
		for i, v := range h.Track(nil, x, []float64{100, 100}) {
			if !math.IsNaN(v) {
				t.Errorf("%s, frame %d: got %g dB, want NaN", name, i, v)
			}
		}
	}
	x := signals.Tone(dsp.SampleRate, 100, 0.5, 0.3)
	f0 := dsp.NewPitch(dsp.SampleRate, nil).Track(nil, x)
	d := h.Track(nil, x, f0)
	if !cost.Race {
		if n := cost.Allocations(3, func() { d = h.Track(d, x, f0) }); n > 0 {
			t.Errorf("got %g allocations, want 0", n)
		}
	}
}

// FuzzVoice holds that no samples and no track upset the voice measures.
func FuzzVoice(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 120.0)
	f.Add([]byte{0x7f, 0xf0, 0, 0, 0, 0, 0, 1, 0xff, 0xff}, 50.0)
	f.Add([]byte{}, math.Inf(1))
	f.Add([]byte{1, 2, 3, 4, 0xff, '0', 0xfb, '0'}, 4200.0)                  // a period of two samples once had no end
	f.Add([]byte("0000000000000\xfa8A00A77000000000000000000000000"), 572.0) // infinities once reached the interpolation
	f.Add([]byte{9, 8, 7, 6, 5, 4, 3, 2, 1}, 1e-300)
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0, 1}
	p, q, h, c := dsp.NewPitch(16000, nil), dsp.NewPulses(16000), dsp.NewHNR(16000), dsp.NewCPPS(16000)
	f.Fuzz(func(t *testing.T, b []byte, hz float64) {
		if len(b) > 1000 {
			return
		}
		x := make([]float64, 8*len(b))
		for i := range x {
			v := b[i/8]
			x[i] = float64(int8(v)) / 128 * math.Sin(float64(i)*float64(v)/512)
			if v >= 248 {
				x[i] = special[v-248]
			}
		}
		f0 := p.Track(nil, x)
		if !(hz > 0 && hz < 8000) {
			hz = 0
		}
		forced := make([]float64, len(f0))
		for i := range forced {
			forced[i] = hz
		}
		for _, track := range [][]float64{f0, forced} {
			times := q.Find(nil, x, track)
			for i := 1; i < len(times); i++ {
				if !(times[i] > times[i-1]) {
					t.Fatalf("pulses %g and %g: want ascending", times[i-1], times[i])
				}
			}
			dsp.MeasureJitter(times)
			dsp.MeasureShimmer(times, q.Amplitudes())
			h.Track(nil, x, track)
			c.Measure(x, track)
		}
	})
}
