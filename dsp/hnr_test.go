package dsp

import (
	"fmt"
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// meanOf is the mean of what is not NaN.
func meanOf(v []float64) float64 {
	var s float64
	var n int
	for _, x := range v {
		if !math.IsNaN(x) {
			s += x
			n++
		}
	}
	return s / float64(n)
}

// Goals in dB: below what the best program reaches.
const hnrMean, hnrWorst = 0.10, 0.25

func TestHNROfKnownRatios(t *testing.T) {
	var sum float64
	var n int
	for _, f0 := range []float64{95, 147, 230} {
		for _, db := range []float64{5, 12, 18, 24, 30} {
			x := signals.Quantize(signals.HNR(SampleRate, f0, db, 1.5, uint64(db)), 1)
			track := NewPitch(SampleRate, nil).Track(nil, x)
			h := NewHNR(SampleRate).Track(nil, x, track)
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
	h := NewHNR(SampleRate)
	for name, x := range map[string][]float64{"empty": nil, "silence": make([]float64, 4410), "short": signals.Tone(SampleRate, 100, 1, 0.01)} {
		for i, v := range h.Track(nil, x, []float64{100, 100}) {
			if !math.IsNaN(v) {
				t.Errorf("%s, frame %d: got %g dB, want NaN", name, i, v)
			}
		}
	}
	x := signals.Tone(SampleRate, 100, 0.5, 0.3)
	f0 := NewPitch(SampleRate, nil).Track(nil, x)
	d := h.Track(nil, x, f0)
	if !raceEnabled {
		if n := testing.AllocsPerRun(3, func() { d = h.Track(d, x, f0) }); n > 0 {
			t.Errorf("got %g allocations, want 0", n)
		}
	}
}

// What lowers the regularity of a voice lowers the cepstral peak.
func TestCPPSFallsWithNoiseAndJitter(t *testing.T) {
	measure := func(x []float64) float64 {
		return NewCPPS(SampleRate).Measure(x, trajectoryFrames(signals.Constant(140), float64(len(x))/SampleRate))
	}
	last := math.Inf(1)
	for _, db := range []float64{40, 25, 10, 0} {
		v := measure(signals.HNR(SampleRate, 140, db, 1, 1))
		if !(v < last-0.5) {
			t.Errorf("%g dB of noise: got %.2f dB, want less than %.2f", db, v, last)
		}
		last = v
	}
	last = math.Inf(1)
	for _, j := range []float64{0, 0.01, 0.04} {
		v := measure(signals.NewTrain(140, 1, j, 0, 2).Vowel(SampleRate, 1))
		if !(v < last-0.5) {
			t.Errorf("jitter of %g: got %.2f dB, want less than %.2f", j, v, last)
		}
		last = v
	}
}

func TestCPPSEdges(t *testing.T) {
	c := NewCPPS(SampleRate)
	x := signals.HNR(SampleRate, 140, 20, 0.5, 1)
	f0 := trajectoryFrames(signals.Constant(140), 0.5)
	a := c.Measure(x, f0)
	const rounding = 1e-9
	if b := c.Measure(signals.Scale(x, 0.01), f0); math.Abs(a-b) > rounding {
		t.Errorf("40 dB fainter: got %g dB, want %g", b, a)
	}
	for name, v := range map[string]float64{
		"empty":    c.Measure(nil, nil),
		"silence":  c.Measure(make([]float64, 20000), f0),
		"unvoiced": c.Measure(x, make([]float64, 51)),
		"short":    c.Measure(x[:2000], f0[:5]),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s: got %g, want NaN", name, v)
		}
	}
	if !raceEnabled {
		if n := testing.AllocsPerRun(3, func() { c.Measure(x, f0) }); n > 0 {
			t.Errorf("got %g allocations, want 0", n)
		}
	}
}

// A perfectly periodic vowel is at the upper end of what the papers report.
func TestCPPSOfAPerfectVoice(t *testing.T) {
	for _, f := range []float64{100, 200} {
		x := signals.Klatt(SampleRate, f, signals.Vowels["schwa"], 1, 1)
		f0 := trajectoryFrames(signals.Constant(f), 1)
		v := NewCPPS(SampleRate).Measure(x, f0)
		if !(v > 15 && v < 40) {
			t.Errorf("%s: got %.1f dB, want the 15 to 40 dB of a perfect voice", fmt.Sprint(f), v)
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
	p, q, h, c := NewPitch(16000, nil), NewPulses(16000), NewHNR(16000), NewCPPS(16000)
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
			MeasureJitter(times)
			MeasureShimmer(times, q.Amplitudes())
			h.Track(nil, x, track)
			c.Measure(x, track)
		}
	})
}
