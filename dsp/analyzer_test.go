package dsp_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"
	"unsafe"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// conversation returns dur seconds of alternating voice, noise and silence, with
// vowels, consonants and pauses.
func conversation(dur float64) []float64 {
	var x []float64
	names := []string{"a", "i", "u", "ae", "schwa"}
	for k := uint64(0); float64(len(x)) < dur*dsp.SampleRate; k++ {
		v := signals.Klatt(dsp.SampleRate, 100+float64(k%7)*15, signals.Vowels[names[k%5]], 1, 0.25)
		x = append(x, signals.Scale(v, 0.4)...)
		x = append(x, signals.Fade(signals.Noise(dsp.SampleRate, 0.02, 0.08, k), dsp.SampleRate, 0.01)...)
		if k%6 == 5 {
			x = append(x, make([]float64, dsp.SampleRate*3/10)...)
		}
	}
	return signals.Quantize(x[:int(dur*dsp.SampleRate)], 1)
}

// finite counts the elements that are neither NaN nor infinite.
func finite(x []float64) (n int) {
	for _, v := range x {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			n++
		}
	}
	return n
}

func count(x []float64, ok func(float64) bool) (n int) {
	for _, v := range x {
		if ok(v) {
			n++
		}
	}
	return n
}

// What an edge case gives. A NaN asks for NaN, a range for a number in it.
type edge struct {
	name             string
	x                []float64
	voiced           [2]float64 // share of the frames
	speech           [2]float64 // share of the duration
	f0               float64    // Hz, median of the voiced frames within 1 %; 0 if none need be
	level            [2]float64 // dBFS of the middle frame
	clipped          [2]float64
	bandwidth        [2]float64 // Hz; NaN
	jitter, hnr, cpp bool       // whether they are defined
}

func TestEdgeCases(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	vowel := func(gain, dur float64) []float64 {
		return signals.Fade(signals.Scale(signals.Harmonic(dsp.SampleRate, signals.Constant(110), dur), gain), dsp.SampleRate, 0.01)
	}
	offset := vowel(0.25, 1)
	for i := range offset {
		offset[i] += 0.3
	}
	narrow := signals.Klatt(8000, 120, signals.Vowels["schwa"][:3], 1, 1)
	narrow = quantized(dsp.NewResampler(8000, dsp.SampleRate).Resample(nil, signals.Scale(narrow, 0.5)))
	none, all, some := [2]float64{0, 0}, [2]float64{1, 1}, [2]float64{0, 1}
	most, unset := [2]float64{0.95, 1}, [2]float64{nan, nan}
	band := [2]float64{1000, 22050}
	for _, c := range []edge{
		{"silence", make([]float64, dsp.SampleRate), none, none, 0, [2]float64{-inf, -inf}, none, unset, false, false, false},
		{"noise only", signals.Noise(dsp.SampleRate, 0.1, 1, 1), none, none, 0, [2]float64{-21, -19}, none, [2]float64{22050, 22050}, false, false, false},
		{"one vowel", vowel(0.5, 1), most, all, 110, [2]float64{-20, -6}, none, band, true, true, true},
		{"30 ms", signals.Tone(dsp.SampleRate, 220, 0.5, 0.03), some, none, 0, [2]float64{-10, -8}, none, unset, true, true, false}, // six periods: enough for jitter, not for CPPS
		{"one sample", []float64{0.5}, none, none, 0, [2]float64{-inf, 0}, none, unset, false, false, false},
		{"clipped", signals.Clip(vowel(2.5, 1), 1), most, all, 110, [2]float64{-6, 0}, [2]float64{0.3, 0.45}, band, true, true, true},
		{"offset", offset, most, all, 110, [2]float64{-26, -12}, none, band, true, true, true},
		{"very quiet", vowel(0.001, 1), most, all, 110, [2]float64{-76, -60}, none, band, true, true, true},
		{"narrow band", narrow, most, all, 120, [2]float64{-20, -5}, none, [2]float64{2000, 4200}, true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, dsp.NewAnalyzer().Analyze(c.x)) })
	}
}

func (c *edge) check(t *testing.T, out *dsp.Analysis) {
	within := func(what string, got float64, want [2]float64) {
		t.Helper()
		if math.IsNaN(want[0]) != math.IsNaN(got) || got < want[0] || got > want[1] {
			t.Errorf("%s: got %g, want %g", what, got, want)
		}
	}
	defined := func(what string, got float64, want bool) {
		t.Helper()
		if math.IsNaN(got) == want {
			t.Errorf("%s: got %g, want defined %v", what, got, want)
		}
	}
	n := float64(len(out.F0))
	voiced := count(out.F0, func(f float64) bool { return f > 0 })
	within("share of voiced frames", float64(voiced)/n, c.voiced)
	within("share of speech", out.SpeechDuration()/out.Duration, c.speech)
	within("level", out.Level[len(out.Level)/2], c.level)
	within("clipped", out.Quality.Clipped, c.clipped)
	within("bandwidth", out.Quality.Bandwidth, c.bandwidth)
	defined("jitter", out.Jitter.Local, c.jitter)
	defined("shimmer", out.Shimmer.Local, c.jitter)
	defined("CPPS", out.CPPS, c.cpp)
	if got := finite(out.HNR) > 0; got != c.hnr {
		t.Errorf("HNR: got some frame defined %v, want %v", got, c.hnr)
	}
	if c.f0 != 0 {
		var f []float64
		for _, v := range out.F0 {
			if v > 0 {
				f = append(f, v)
			}
		}
		if got := medianOf(f); math.Abs(got/c.f0-1) > 0.01 {
			t.Errorf("F0: got a median of %g Hz, want %g", got, c.f0)
		}
	}
	for i := range out.F0 {
		f := out.Formants[i].F[0]
		if out.F0[i] == 0 && (!math.IsNaN(f) || !math.IsNaN(out.HNR[i])) {
			t.Errorf("unvoiced frame %d: got F1 %g, HNR %g, want NaN", i, f, out.HNR[i])
		}
	}
}

func TestEmptyRecording(t *testing.T) {
	a := dsp.NewAnalyzer()
	a.Analyze(conversation(1))
	out := a.Analyze(nil)
	if out.Duration != 0 || len(out.F0)+len(out.MFCC)+len(out.Speech)+len(out.Pulses) != 0 {
		t.Errorf("got %+v, want nothing", out)
	}
	for _, v := range []float64{out.Jitter.Local, out.Shimmer.Local, out.CPPS, out.Quality.SNR, out.Quality.Bandwidth} {
		if !math.IsNaN(v) {
			t.Errorf("got %g, want NaN", v)
		}
	}
}

// bits returns every number of an analysis as bits, so that NaN equals NaN.
func bits(v reflect.Value, dst []uint64) []uint64 {
	switch v.Kind() {
	case reflect.Float64:
		return append(dst, math.Float64bits(v.Float()))
	case reflect.Bool:
		if v.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case reflect.Slice, reflect.Array:
		dst = append(dst, uint64(v.Len()))
		for i := range v.Len() {
			dst = bits(v.Index(i), dst)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			dst = bits(v.Field(i), dst)
		}
	}
	return dst
}

// analysisBits is everything that a measured.
func analysisBits(a *dsp.Analysis) []uint64 { return bits(reflect.ValueOf(*a), nil) }

// Equal input gives equal output, bit for bit, after any other recording.
func TestAnalyzeIsDeterministic(t *testing.T) {
	x, other := conversation(2), conversation(3)
	a := dsp.NewAnalyzer()
	want := analysisBits(a.Analyze(x))
	same := func(what string, got []uint64) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got other bits than the first time", what)
		}
	}
	same("again", analysisBits(a.Analyze(x)))
	a.Analyze(other)
	a.Analyze(make([]float64, 1000))
	a.Analyze([]float64{math.NaN(), math.Inf(1), 1e300})
	same("after other recordings", analysisBits(a.Analyze(x)))
	same("new analyzer", analysisBits(dsp.NewAnalyzer().Analyze(x)))
}

// offsetTolerance is relative: adding an offset rounds the samples to 1e-16, which is
// at -80 dB in the smallest of the spectra.
const offsetTolerance = 1e-6

// A recording with an offset measures like one without.
func TestOffsetChangesNothing(t *testing.T) {
	x := conversation(2)
	y := append([]float64(nil), x...)
	for i := range y {
		y[i] += 0.2
	}
	a, b := dsp.NewAnalyzer().Analyze(x), dsp.NewAnalyzer().Analyze(y)
	same := func(what string, u, v float64) {
		t.Helper()
		if math.IsNaN(u) != math.IsNaN(v) || math.Abs(u-v) > offsetTolerance*math.Max(1, math.Abs(u)) {
			t.Errorf("%s: got %g with the offset, want %g as without", what, v, u)
		}
	}
	for i := range a.F0 {
		same("F0", a.F0[i], b.F0[i])
		same("HNR", a.HNR[i], b.HNR[i])
		same("loudness", a.Loudness[i], b.Loudness[i])
		same("c0", a.MFCC[i][0], b.MFCC[i][0])
		same("F2", a.Formants[i].F[1], b.Formants[i].F[1])
		if a.Level[i] > -90 { // where the samples stand out from the mean's own rounding
			same("level", a.Level[i], b.Level[i])
			same("centroid", a.Spectrum[i].Centroid, b.Spectrum[i].Centroid)
		}
	}
	same("pulses", float64(len(a.Pulses)), float64(len(b.Pulses)))
	same("jitter", a.Jitter.Local, b.Jitter.Local)
	same("shimmer", a.Shimmer.Local, b.Shimmer.Local)
	same("CPPS", a.CPPS, b.CPPS)
	same("SNR", a.Quality.SNR, b.Quality.SNR)
	same("bandwidth", a.Quality.Bandwidth, b.Quality.Bandwidth)
}

// Samples that are no numbers count as silence, and huge ones as clipped.
func TestAnalyzeSanitizes(t *testing.T) {
	x := conversation(1)
	clean := append([]float64(nil), x...)
	for i := 0; i < len(x); i += 777 {
		x[i] = [...]float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300}[i%5]
		clean[i] = [...]float64{0, 0, 0, 16, -16}[i%5]
	}
	before := append([]float64(nil), x...)
	got := analysisBits(dsp.NewAnalyzer().Analyze(x))
	for i := range x {
		if math.Float64bits(x[i]) != math.Float64bits(before[i]) {
			t.Fatalf("sample %d was changed from %g to %g", i, before[i], x[i])
		}
	}
	out := dsp.NewAnalyzer().Analyze(x)
	if n := finite(out.Level); n != len(out.Level) {
		t.Errorf("got %d frames with a level, want %d", n, len(out.Level))
	}
	// The mean is summed in another order where samples had to be replaced.
	want := dsp.NewAnalyzer().Analyze(clean)
	for i := range want.F0 {
		if math.Abs(out.F0[i]-want.F0[i]) > 1e-6 {
			t.Errorf("frame %d: got %g Hz, want %g as for the cleaned samples", i, out.F0[i], want.F0[i])
		}
	}
	if len(got) == 0 {
		t.Error("got nothing")
	}
}

// After one recording, one no longer allocates nothing.
func TestAnalyzeAllocatesNothing(t *testing.T) {
	x := conversation(2)
	a := dsp.NewAnalyzer()
	a.Analyze(x)
	if n := cost.Allocations(3, func() { a.Analyze(x) }); n != 0 {
		t.Errorf("got %g allocations for each recording, want 0", n)
	}
}

// memoryBudget is the most memory in bytes that the analyzer may allocate, samples
// apart, for a recording of one minute: a tenth of the 64 MiB for ten minutes, and 4
// MiB for tables of fixed size.
const memoryBudget = 64<<20/10 + 4<<20

func TestAnalyzeMemory(t *testing.T) {
	x := conversation(5)
	for len(x) < 60*dsp.SampleRate {
		x = append(x, x[:5*dsp.SampleRate]...)
	}
	if cost.Race {
		x = x[:6*dsp.SampleRate]
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := dsp.NewAnalyzer().Analyze(x)
	runtime.ReadMemStats(&after)
	got := after.TotalAlloc - before.TotalAlloc
	t.Logf("%.1f MiB for %.0f s, %.2f MiB of them tracks", float64(got)/(1<<20), out.Duration, float64(uint64(len(out.F0))*uint64(33+unsafe.Sizeof(dsp.Spectrum{})+unsafe.Sizeof(dsp.Formants{})+8*dsp.NumMFCC))/(1<<20))
	if got > memoryBudget {
		t.Errorf("got %d bytes allocated, want at most %d", got, memoryBudget)
	}
}

// FuzzAnalyzer feeds arbitrary samples, to a Meter too: no panic, no endless loop, tracks of
// the promised length, and nothing that looks like a number where there is none.
func FuzzAnalyzer(f *testing.F) {
	add := func(x []float64, repeat uint16) {
		var b []byte
		for _, v := range x {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		f.Add(b, repeat)
	}
	add([]float64{0}, 5000)
	add([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}, 900)
	add([]float64{math.MaxFloat64, -math.MaxFloat64, 5e-324, -5e-324}, 1000)
	add(signals.Tone(dsp.SampleRate, 441, 1e-300, 0.01), 30)
	add(signals.Klatt(dsp.SampleRate, 110, signals.Vowels["a"], 1, 0.05), 5)
	r := rand.New(rand.NewPCG(1, 1))
	wild := make([]float64, 200)
	for i := range wild {
		wild[i] = math.Float64frombits(r.Uint64())
	}
	add(wild, 40)
	a := dsp.NewAnalyzer()
	f.Fuzz(func(t *testing.T, b []byte, repeat uint16) {
		const most = dsp.SampleRate / 2 // samples, so that a round stays short
		var x []float64
		for range int(repeat) + 1 {
			for i := 0; i+8 <= len(b) && len(x) < most; i += 8 {
				x = append(x, math.Float64frombits(binary.LittleEndian.Uint64(b[i:])))
			}
		}
		var out *dsp.Analysis
		cost.Check(t, 8*len(x), func() { out = a.Analyze(x) })
		n := dsp.FrameCount(len(x))
		for _, got := range []int{len(out.F0), len(out.Level), len(out.Loudness), len(out.HNR), len(out.Spectrum), len(out.MFCC), len(out.Formants), len(out.IsSpeech)} {
			if got != n {
				t.Fatalf("got %d frames, want %d of %d samples", got, n, len(x))
			}
		}
		for i, v := range out.F0 {
			if !(v >= 0 && v <= 1000) {
				t.Errorf("frame %d: got F0 %g", i, v)
			}
			for _, w := range out.Formants[i].F {
				if w < 90 || w > 5300 {
					t.Errorf("frame %d: got a formant at %g Hz", i, w)
				}
			}
		}
		if c := out.Quality.Clipped; !(c >= 0 && c <= 1) {
			t.Errorf("got %g clipped", c)
		}
		if s := out.SpeechDuration(); !(s >= 0 && s <= out.Duration+1e-9) {
			t.Errorf("got %g s of speech in %g s", s, out.Duration)
		}
		m := dsp.NewMeter(dsp.SampleRate)
		m.Add(x)
		if r := m.Reading(); !(r.Speech >= 0 && r.Speech <= r.Duration) || !(r.Clipped >= 0 && r.Clipped <= 1) || !(r.F0 >= 0 && r.F0 <= 1000) || math.IsInf(r.Level, 0) {
			t.Errorf("got %+v while it is recorded", r)
		}
	})
}

func BenchmarkAnalyze(b *testing.B) {
	x := conversation(10)
	a := dsp.NewAnalyzer()
	a.Analyze(x)
	b.ReportAllocs()
	for b.Loop() {
		a.Analyze(x)
	}
	reportSpeed(b, len(x))
}
