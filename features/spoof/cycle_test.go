package spoof

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

// slowCycle computes cycle.* by their definitions.
func slowCycle(x, pulses []float64) []float64 {
	edges := []int{1, 6, 12, 18, 26, 36, 50, 70, 92, 117}
	n := len(pulses)
	spectra := make([][]complex128, n) // nil where none was measured
	for i := 1; i+1 < n; i++ {
		before, after, middle := pulses[i]-pulses[i-1], pulses[i+1]-pulses[i], int(math.Round(pulses[i]*16000))
		if before > 0.02 || after > 0.02 || before/after > 1.3 || after/before > 1.3 || middle < 80 || middle+80 > len(x) {
			continue
		}
		spectra[i] = make([]complex128, 129)
		for k := range spectra[i] {
			for s := middle - 80; s < middle+80; s++ {
				w := 0.5 + 0.5*math.Cos(math.Pi*float64(s-middle)/80)
				spectra[i][k] += complex(w*x[s], 0) * cmplx.Rect(1, -2*math.Pi*float64(k)/256*(float64(s)-pulses[i]*16000))
			}
		}
	}
	mean := func(from, to, lag int) (wave, shape float64) { // from and to in bins
		count := 0.0
		for i := 0; i+lag < n; i++ {
			on := true
			for j := i; j <= i+lag; j++ {
				on = on && spectra[j] != nil
			}
			if !on {
				continue
			}
			var sum complex128
			var a, b float64
			for k := from; k < to; k++ {
				u, v := spectra[i][k], spectra[i+lag][k]
				sum += u * cmplx.Conj(v)
				a += cmplx.Abs(u) * cmplx.Abs(u)
				b += cmplx.Abs(v) * cmplx.Abs(v)
			}
			count++
			wave += 1 - real(sum)/math.Sqrt(a*b)
			shape += 1 - cmplx.Abs(sum)/math.Sqrt(a*b)
		}
		if count < leastPairs {
			return math.NaN(), math.NaN()
		}
		return wave / count, shape / count
	}
	var out []float64
	for b := range len(edges) - 1 {
		w1, s1 := mean(edges[b], edges[b+1], 1)
		w5, s5 := mean(edges[b], edges[b+1], 5)
		w10, s10 := mean(edges[b], edges[b+1], 10)
		for _, d := range [2][3]float64{{w1, w5, w10}, {s1, s5, s10}} {
			out = append(out, math.Log(d[0]+1e-6), math.Log(math.Max(d[1]-d[0], 0)+2e-3), math.Log(d[2]+1e-6)-math.Log(d[0]+1e-6))
		}
	}
	for b := range len(edges) - 1 {
		middle := (edges[b] + edges[b+1]) / 2
		for _, half := range [2][2]int{{edges[b], middle}, {middle, edges[b+1]}} {
			one, _ := mean(half[0], half[1], 1)
			for _, lag := range []int{10, 20} {
				later, _ := mean(half[0], half[1], lag)
				out = append(out, math.Log(math.Max(1-later, 0.05)/math.Max(1-one, 0.05)))
			}
		}
	}
	return out
}

func TestCycleEqualsDefinition(t *testing.T) {
	e := track(speech(t), dsp.SampleRate)
	first := schema.Index("cycle.band1.wave_log")
	got := e.Vector(nil, 0, e.Duration()).Values[first:]
	want := slowCycle(e.x, e.voice.pulses)
	if len(want) != len(cycleFeatures()) {
		t.Fatalf("got %d measures, want %d", len(cycleFeatures()), len(want))
	}
	for k, w := range want {
		if name, _ := schema.Feature(first + k); !(math.Abs(got[k]-w) <= 1e-8) {
			t.Errorf("%s: got %v, want %v", name, got[k], w)
		}
	}
}

// ofCycles returns cycle.* of samples whose pulses are given, by name.
func ofCycles(x, pulses []float64) func(name string) float64 {
	v := &vector{out: make([]float64, schema.Len()), hi: len(x), length: len(x)}
	for i := range v.out {
		v.out[i] = math.NaN()
	}
	c := newCycles()
	c.measure(x, pulses)
	v.cycle(c, pulses)
	return func(name string) float64 { return v.out[schema.Index(name)] }
}

// ringing are one second of samples of a voice of pulses that are delayed by the given
// samples and ring at 600 Hz and at 4 kHz, at the latter by late(i) later, and the times of
// the pulses without the delays.
func ringing(delay, late func(i int) float64) (x, pulses []float64) {
	const period, decay = 133.7, 20 // samples
	x = make([]float64, rateHz)
	for i := 0; ; i++ {
		at := 100 + period*float64(i)
		if at >= float64(len(x)) {
			return x, pulses
		}
		pulses = append(pulses, at/rateHz)
		for _, ring := range [...]struct{ hz, from float64 }{{600, at + delay(i)}, {4000, at + delay(i) + late(i)}} {
			for s := int(math.Ceil(ring.from)); s < min(len(x), int(ring.from)+10*decay); s++ {
				d := float64(s) - ring.from
				x[s] += math.Exp(-d/decay) * d / decay * math.Sin(2*math.Pi*ring.hz/rateHz*d)
			}
		}
	}
}

// TestCyclesOfKnownVoices: equal cycles are alike, whatever their pulses' places between
// the samples; a band that comes early and late changes its waveform there, not its shape
// and not the other band; such steps, which are forgotten, do not grow with the pulses between,
// and a delay that grows from pulse to pulse does so with their square.
func TestCyclesOfKnownVoices(t *testing.T) {
	never := func(int) float64 { return 0 }
	const low, high = "cycle.band2.", "cycle.band7." // 375 to 750 Hz, 3125 to 4375 Hz
	steady := ofCycles(ringing(never, never))
	for _, name := range []string{low + "wave_log", low + "shape_log", high + "wave_log", high + "shape_log"} {
		if got := steady(name); !(got < math.Log(1e-3)) {
			t.Errorf("equal cycles: got %s = %v", name, got)
		}
	}
	rng := rand.New(rand.NewPCG(3, 3))
	loose := ofCycles(ringing(never, func(int) float64 { return 0.5 * rng.NormFloat64() }))
	if got := loose(low + "wave_log"); !(got < math.Log(1e-3)) {
		t.Errorf("a band in step beside one that is not: got %v", got)
	}
	// Two delays of 0.5 samples differ by 0.71, which at 4 kHz is 1.11 rad: 1 − exp(−1.11²/2) = 0.46.
	if wave, shape := math.Exp(loose(high+"wave_log")), math.Exp(loose(high+"shape_log")); !(math.Abs(wave-0.46) < 0.12 && shape < 0.05) {
		t.Errorf("a band that comes early and late: got %v of the waveform, %v of the shape, want 0.46 and less than 0.05", wave, shape)
	}
	if growth, drift := loose(high+"wave_growth"), math.Exp(loose(high+"wave_drift_log")); !(math.Abs(growth) < 0.2 && drift < 0.1) {
		t.Errorf("steps that are forgotten: got a growth of %v and a drift of %v, want 0 and less than 0.1", growth, drift)
	}
	late := ofCycles(ringing(func(i int) float64 { return 0.03 * float64(i) }, never))
	if got := late(high + "wave_growth"); !(math.Abs(got-math.Log(100)) < 0.2) {
		t.Errorf("a delay that grows: got a growth of %v over ten pulses, want %v", got, math.Log(100))
	}
	// After five pulses it is 0.15 samples, 0.236 rad.
	if got, want := math.Exp(late(high+"wave_drift_log")), (1-math.Cos(0.236))*24/25; !(math.Abs(got-want-leastDrift) < 0.2*want) {
		t.Errorf("a delay that grows: got a drift of %v, want %v", got, want)
	}
}

// TestNoiseLeavesDecays adds as much noise as there is voice to one whose delay grows: what
// is left of Re c from one pulse to ten and twenty stays the same, where wave_log does not.
func TestNoiseLeavesDecays(t *testing.T) {
	const low = "cycle.half4." // 562.5 to 750 Hz
	never := func(int) float64 { return 0 }
	x, pulses := ringing(func(i int) float64 { return 0.2 * float64(i) }, never)
	for range 2 { // four seconds of it
		n := len(x)
		x = append(x, x...)
		for _, at := range pulses {
			pulses = append(pulses, at+float64(n)/rateHz)
		}
	}
	clean := ofCycles(x, pulses)
	rng := rand.New(rand.NewPCG(5, 5))
	level := math.Sqrt(dsp.Dot(x, x) / float64(len(x)))
	for i := range x {
		x[i] += level * rng.NormFloat64()
	}
	noisy := ofCycles(x, pulses)
	for _, name := range []string{"decay10", "decay20"} {
		if a, b := clean(low+name), noisy(low+name); !(a < -0.05 && math.Abs(b-a) < 0.05) {
			t.Errorf("%s: got %v without noise and %v with it, want the same, below −0.05", name, a, b)
		}
	}
	if a, b := clean("cycle.band2.wave_log"), noisy("cycle.band2.wave_log"); !(b > a+0.5) {
		t.Errorf("wave_log: got %v without noise and %v with it, want more", a, b)
	}
}

func TestCycleNeedsPulses(t *testing.T) {
	x, pulses := ringing(func(int) float64 { return 0 }, func(int) float64 { return 0 })
	for _, n := range []int{0, 1, 2, 3, 13} {
		if got := ofCycles(x, pulses[:n])("cycle.band1.wave_log"); !math.IsNaN(got) {
			t.Errorf("%d pulses: got %v, want NaN", n, got)
		}
	}
	few := ofCycles(x, pulses[:18])
	if a, b := few("cycle.band1.wave_log"), few("cycle.band1.wave_growth"); math.IsNaN(a) || !math.IsNaN(b) {
		t.Errorf("18 pulses: got %v and %v, want a number and NaN", a, b)
	}
}

// A pulse in digital silence is left out.
func TestCyclesOfSilence(t *testing.T) {
	x, pulses := ringing(func(int) float64 { return 0 }, func(int) float64 { return 0 })
	middle := int(pulses[50] * rateHz)
	clear(x[middle-cycleFrame/2-5 : middle+cycleFrame/2+5])
	if got := ofCycles(x, pulses)("cycle.band1.wave_log"); math.IsNaN(got) {
		t.Errorf("got %v, want a number", got)
	}
}

func BenchmarkCycles(b *testing.B) {
	x, pulses := ringing(func(int) float64 { return 0 }, func(int) float64 { return 0 })
	c := newCycles()
	for b.Loop() {
		c.measure(x, pulses)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(pulses)), "µs/pulse")
}
