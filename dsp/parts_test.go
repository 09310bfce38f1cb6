package dsp

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// TestLevelsEqualDefinition: each is the RMS of the frame's own samples.
func TestLevelsEqualDefinition(t *testing.T) {
	for _, n := range []int{1, 100, 441, 551, 552, 700, 1103, 5000} {
		x := noise(21, n)
		got := make([]float64, FrameCount(n))
		all, meter := whole(x), levelMeter{}
		meter.start(&all, 0.1)
		for i := range got {
			got[i] = meter.frame(&all, i)
			var s, count float64
			for j := max(i*441-551, 0); j <= min(i*441+551, n-1); j++ {
				s += sq(x[j] - 0.1)
				count++
			}
			if want := 10 * math.Log10(s/count); !closeTo(got[i], want, 1e-12) {
				t.Errorf("%d samples: got %v dB in frame %d, want %v", n, got[i], i, want)
			}
		}
	}
}

// TestEqualLoudness holds Hermansky's eq. 6 against the 40 dB sensitivity he
// describes: 12 dB per octave to 400 Hz, 0 to 1200 Hz, 6 to 3100 Hz, 0 above.
func TestEqualLoudness(t *testing.T) {
	rise := func(f float64) float64 { return ratioDB(equalLoudness(2*f), equalLoudness(f)) }
	for _, c := range []struct{ f, low, high float64 }{
		{50, 11, 12.1}, {100, 9, 12.1}, {500, 1, 5}, {1400, 2, 6}, {3500, -1, 2.5},
	} {
		if got := rise(c.f); got < c.low || got > c.high {
			t.Errorf("got %v dB per octave from %v Hz, want %v to %v", got, c.f, c.low, c.high)
		}
	}
}

func TestSumLog(t *testing.T) {
	x := noise(13, 1500)
	var want float64
	for k := range x {
		x[k] = math.Exp(80 * x[k])
		want += math.Log(x[k])
	}
	if got := sumLog(x); !closeTo(got, want, 1e-12) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := sumLog([]float64{1, 0, 2}); !math.IsInf(got, -1) {
		t.Errorf("got %v with a zero, want -Inf", got)
	}
	if got, want := sumLog([]float64{5e-324, 2}), math.Log(5e-324)+math.Ln2; !closeTo(got, want, 1e-12) {
		t.Errorf("got %v with a subnormal, want %v", got, want)
	}
}

func BenchmarkActivity(b *testing.B) {
	x := signals.Sequence(SampleRate, signals.VoicedUnvoiced, 1)
	out := NewAnalyzer().Analyze(x)
	all, v, power := whole(x), newActivity(SampleRate), make([]float32, len(out.F0))
	b.ReportAllocs()
	for b.Loop() {
		out.Speech, out.Pauses, out.Syllables = out.Speech[:0], out.Pauses[:0], out.Syllables[:0]
		v.start(len(out.F0), 0)
		v.measure(&all, len(out.F0))
		v.detect(out)
		v.syllables(out, power)
	}
	b.ReportMetric(float64(len(x))/SampleRate*float64(b.N)/b.Elapsed().Seconds(), "s/s")
}

func BenchmarkQuality(b *testing.B) {
	x := signals.Sequence(SampleRate, signals.VoicedUnvoiced, 1)
	a := NewAnalyzer()
	out := a.Analyze(x)
	b.ReportAllocs()
	for b.Loop() {
		_, e := sanitize(nil, x)
		clipped(x, e)
		a.activity.snr(out.IsSpeech)
		a.bandwidth()
	}
	b.ReportMetric(float64(len(x))/SampleRate*float64(b.N)/b.Elapsed().Seconds(), "s/s")
}

// TestMFCCEqualsStoredFrames compares the log mel energies too. Ours and the stored
// values differ in the order of their sums alone.
func TestMFCCEqualsStoredFrames(t *testing.T) {
	const storedTolerance = 1e-9 // relative or, below 1, absolute
	var frames []struct {
		Signal       string
		RateHz       float64 `json:"rate_hz"`
		Samples      []float64
		LogMel, MFCC []float64
	}
	b, err := os.ReadFile("testdata/mfcc_htk.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &frames); err != nil {
		t.Fatal(err)
	}
	if len(frames) == 0 {
		t.Fatal("got no frames")
	}
	for _, f := range frames {
		m := NewMFCC(f.RateHz, nil)
		for i := range f.Samples {
			f.Samples[i] /= 32767
		}
		got := m.Coefficients(nil, f.Samples)
		compare(t, f.Signal+" mfcc", got, f.MFCC, storedTolerance)
		compare(t, f.Signal+" log mel", m.logs, f.LogMel, storedTolerance)
	}
}

// Resonances go where they can be a formant of some voice.
func TestFormantsGoWhereTheyFit(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name  string
		found []float64
		want  [3]float64
	}{
		{"lowest three", []float64{500, 1500, 2500, 3500}, [3]float64{500, 1500, 2500}},
		{"child's open vowel", []float64{1030, 2320, 3320}, [3]float64{1030, 2320, 3320}}, // Peterson & Barney 1952
		{"man's rounded vowel", []float64{300, 870, 2240}, [3]float64{300, 870, 2240}},
		{"vowel of heard", []float64{490, 1350, 1690}, [3]float64{490, 1350, 1690}},
		{"F1 missed", []float64{1900, 2600, 3400}, [3]float64{nan, 1900, 2600}},
		{"F1 missed, F2 low", []float64{1240, 2140, 3050}, [3]float64{nan, 1240, 2140}},
		{"F1 and F2 missed", []float64{4400}, [3]float64{nan, nan, 4400}},
		{"all missed", []float64{4900}, [3]float64{nan, nan, nan}},
		{"the source's pole", []float64{120, 500, 1500, 2500}, [3]float64{500, 1500, 2500}},
		{"a nasal's", []float64{250, 1000, 1200, 2400}, [3]float64{250, 1000, 2400}},
		{"F1 alone", []float64{500}, [3]float64{500, nan, nan}},
		{"none", nil, [3]float64{nan, nan, nan}},
	} {
		var found [][2]float64
		for _, f := range c.found {
			found = append(found, [2]float64{f, f / 10})
		}
		got := assign(found)
		for k, want := range c.want {
			if got.F[k] != want && !(math.IsNaN(got.F[k]) && math.IsNaN(want)) {
				t.Errorf("%s: got %v of %v, want %v", c.name, got.F, c.found, c.want)
				break
			}
			if got.B[k] != want/10 && !(math.IsNaN(got.B[k]) && math.IsNaN(want)) {
				t.Errorf("%s: got a width of %g for %g Hz", c.name, got.B[k], want)
			}
		}
	}
}
