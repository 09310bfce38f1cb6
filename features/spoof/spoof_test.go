package spoof

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/features"
)

func TestSpoofSchemaIsFixed(t *testing.T) {
	golden, err := os.ReadFile("testdata/spoof-10.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for i := range schema.Len() {
		name, unit := schema.Feature(i)
		got.WriteString(strings.TrimSpace(name+" "+unit) + "\n")
	}
	if got.String() != string(golden) {
		t.Errorf("spoof/10 differs from testdata/spoof-10.txt; got\n%s", got.String())
	}
}

// speech is a recording of testdata with synthetic speech.
func speech(t testing.TB) []float64 {
	t.Helper()
	f, err := os.Open("../../testdata/spoken_en.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := wav.Decode(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.SampleRate != dsp.SampleRate {
		t.Fatalf("got %d Hz, want %d", a.SampleRate, dsp.SampleRate)
	}
	return a.Samples
}

// pulses is a train of pulses at rateHz, whose periods in samples period
// gives one after the other, through a resonance at 700 Hz.
func pulses(seconds float64, period func(i int) float64) []float64 {
	x := make([]float64, int(seconds*rateHz))
	at := 0.0
	for i := 0; int(at) < len(x); i++ {
		whole := int(at)
		x[whole] += 1 - (at - float64(whole))
		if whole+1 < len(x) {
			x[whole+1] += at - float64(whole)
		}
		at += period(i)
	}
	r, w := 0.97, 2*math.Pi*700/rateHz
	var y1, y2 float64
	for i, v := range x {
		y := v + 2*r*math.Cos(w)*y1 - r*r*y2
		x[i], y1, y2 = y, y, y1
	}
	return x
}

func TestSpoofOfNothing(t *testing.T) {
	nan := make([]float64, 20000)
	for i := range nan {
		nan[i] = math.NaN()
	}
	for name, x := range map[string][]float64{
		"empty": nil, "one sample": {0.5}, "100 samples": make([]float64, 100), "silence": make([]float64, 40000), "NaN": nan,
	} {
		for i, v := range extract(x, rateHz).Values {
			if n, _ := schema.Feature(i); !math.IsNaN(v) {
				t.Errorf("%s: got %s = %v, want NaN", name, n, v)
			}
		}
	}
}

// TestSpoofPitch measures pulse trains whose periods are known.
func TestSpoofPitch(t *testing.T) {
	steady := extract(pulses(2, func(int) float64 { return 100.5 }), rateHz)
	// The period is constant: what remains is the dither.
	if got := steady.Get("pitch.step_mean_oct"); got > 1e-4 {
		t.Errorf("steady: got steps of %v octaves, want 0", got)
	}
	if got := steady.Get("periodicity.p10_db"); got < 15 {
		t.Errorf("steady: got periodicity %v dB, want above 15", got)
	}
	if got := steady.Get("periodicity.voiced_ratio"); got < 0.99 {
		t.Errorf("steady: got a voiced share of %v, want 1", got)
	}
	// A glide of one octave a second: every frame is 0.01 octaves on.
	at := 0.0
	glide := extract(pulses(1.2, func(int) float64 {
		p := rateHz / (100 * math.Exp2(at/rateHz))
		at += p
		return p
	}), rateHz)
	if got := glide.Get("pitch.step_median_oct"); math.Abs(got-0.01) > 0.001 {
		t.Errorf("glide: got steps of %v octaves, want 0.01", got)
	}
	if got := glide.Get("pitch.range_oct"); math.Abs(got-0.9*1.17) > 0.05 {
		t.Errorf("glide: got a range of %v octaves, want 1.05", got)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	rough := extract(pulses(2, func(int) float64 { return 100 + 2*rng.NormFloat64() }), rateHz)
	if a, b := rough.Get("pitch.step_mean_oct"), steady.Get("pitch.step_mean_oct"); a < 10*b {
		t.Errorf("got steps of %v octaves with jitter, %v without", a, b)
	}
	for i := range len(periodBands) - 1 {
		name := "periodicity.band" + string(rune('1'+i)) + ".mean"
		if a, b := steady.Get(name), rough.Get(name); math.Abs(a-1) > 0.05 || i == 4 && b > 0.9 {
			t.Errorf("%s: got %v for steady and %v for rough pulses, want 1 and less", name, a, b)
		}
	}
}

// extract measures x with an Extractor of its own.
func extract(x []float64, rate int) features.Vector {
	return NewExtractor().Extract(nil, x, rate)
}

// noise is seconds of white noise at rateHz.
func noise(seconds float64) []float64 {
	rng := rand.New(rand.NewPCG(2, 2))
	x := make([]float64, int(seconds*rateHz))
	for i := range x {
		x[i] = 0.1 * rng.NormFloat64()
	}
	return x
}

func TestSpoofFineStructureFindsATone(t *testing.T) {
	plain := noise(3)
	tone := slices.Clone(plain)
	for i := range tone {
		tone[i] += 0.03 * math.Sin(2*math.Pi*2500*float64(i)/rateHz)
	}
	a, b := extract(plain, rateHz), extract(tone, rateHz)
	if x, y := a.Get("fine.whole.band2.max"), b.Get("fine.whole.band2.max"); y < x+2 {
		t.Errorf("got a maximum of %v with a tone in the band, %v without", y, x)
	}
	if x, y := a.Get("fine.whole.band3.max"), b.Get("fine.whole.band3.max"); math.Abs(x-y) > 0.1 {
		t.Errorf("band without a tone: got %v, want %v", y, x)
	}
	// The residual of noise is normal under the Hann window, whose fourth
	// moment is 35/128 and second 3/8: kurtosis 3·(35/128)/(3/8)², and less by
	// what a frame of 462 samples falls short of it.
	if got := a.Get("lpc.unvoiced.kurtosis_log.mean"); math.Abs(got-math.Log(35./6)) > 0.15 {
		t.Errorf("got log kurtosis %v of noise, want %v", got, math.Log(35./6))
	}
}

// TestSpoofDoesNotDependOnTheDuration compares noise of 2 s and of 20 s: measures
// that average over a longer time would be smoother.
func TestSpoofDoesNotDependOnTheDuration(t *testing.T) {
	x := noise(20)
	short, long := extract(x[:2*rateHz], rateHz), extract(x, rateHz)
	for _, name := range []string{"lpc.unvoiced.peak_log.mean", "lpc.unvoiced.kurtosis_log.sd", "lpc.a2.sd"} {
		if a, b := short.Get(name), long.Get(name); math.Abs(a-b) > 0.15*math.Abs(b) {
			t.Errorf("%s: got %v of 2 s, %v of 20 s", name, a, b)
		}
	}
}

// TestFrontEndKeepsTheBand measures the gain for tones: 1 inside the band, near 0
// outside. The loudest tone, in the middle of the band, sets the level.
func TestFrontEndKeepsTheBand(t *testing.T) {
	amplitude := func(x []float64, f float64) float64 {
		var re, im float64
		for i, v := range x[4000:12000] { // whole periods of every tone
			s, c := math.Sincos(2 * math.Pi * f * float64(i+4000) / rateHz)
			re, im = re+v*c, im+v*s
		}
		return 2 * math.Hypot(re, im) / 8000
	}
	tones := map[float64][2]float64{20: {0, 0.02}, 60: {0.4, 0.6}, 120: {0.97, 1.03}, 5000: {0.97, 1.03}, 7000: {0.97, 1.03}, 7900: {0, 0.001}}
	x := make([]float64, rateHz)
	for i := range x {
		x[i] = math.Sin(2 * math.Pi * 1000 * float64(i) / rateHz)
		for f := range tones {
			x[i] += 0.1 * math.Sin(2*math.Pi*f*float64(i)/rateHz)
		}
	}
	y := newFront().prepare(x, rateHz)
	ref := amplitude(y, 1000)
	for f, want := range tones {
		if got := 10 * amplitude(y, f) / ref; got < want[0] || got > want[1] {
			t.Errorf("%v Hz: got gain %.4f, want %v to %v", f, got, want[0], want[1])
		}
	}
}

// BenchmarkExtractSpoof measures one recording after another.
func BenchmarkExtractSpoof(b *testing.B) {
	x, e, dst := speech(b), NewExtractor(), make([]float64, schema.Len())
	e.Extract(dst, x, dsp.SampleRate) // makes the scratch
	b.ReportAllocs()
	for b.Loop() {
		e.Extract(dst, x, dsp.SampleRate)
	}
	seconds := float64(len(x)) / dsp.SampleRate * float64(b.N)
	b.ReportMetric(seconds/b.Elapsed().Seconds(), "audio_s/s")
}

// BenchmarkNewExtractor makes the tables, at the first recording also those of
// the resampler.
func BenchmarkNewExtractor(b *testing.B) {
	x := make([]float64, 1)
	b.ReportAllocs()
	for b.Loop() {
		NewExtractor().Track(x, dsp.SampleRate)
	}
}
