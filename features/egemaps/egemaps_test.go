package egemaps_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/features/egemaps"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

const rate = 44100

// measure measures samples at 44.1 kHz.
func measure(x []float64) features.Vector { return measureAt(x, rate) }

func measureAt(x []float64, rate int) features.Vector {
	in := features.NewMeasurer().Measure(&features.Channel{Samples: x, Rate: rate})
	return egemaps.NewMeasurer().Measure(in)
}

func readWAV(t *testing.T, path string) []float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := wav.Decode(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a.Samples
}

// stored returns the values of openSMILE, by file and name.
func stored(t *testing.T) map[string]map[string]float64 {
	t.Helper()
	b, err := os.ReadFile("testdata/opensmile.json")
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]map[string]float64
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSchemaHasThePublishedNames(t *testing.T) {
	s := egemaps.Schema()
	if s.Len() != 88 {
		t.Errorf("got %d features, want 88", s.Len())
	}
	for file, values := range stored(t) {
		if len(values) != s.Len() {
			t.Errorf("%s: got %d stored values, want %d", file, len(values), s.Len())
		}
		for name := range values {
			if s.Index(name) < 0 {
				t.Errorf("the schema has no %s", name)
			}
		}
	}
}

// The functionals whose definition is that of openSMILE agree with its values. The
// tolerances are chosen above the differences of the files, which come from other frame
// positions and windows, and far below what a wrong definition gives.
func TestValuesAgreeWithOpenSMILE(t *testing.T) {
	tolerances := []struct {
		name               string
		absolute, relative float64
	}{
		{"F0semitoneFrom27.5Hz_sma3nz_amean", 0.05, 0},
		{"F0semitoneFrom27.5Hz_sma3nz_percentile20.0", 0.1, 0},
		{"F0semitoneFrom27.5Hz_sma3nz_percentile50.0", 0.1, 0},
		{"F0semitoneFrom27.5Hz_sma3nz_percentile80.0", 0.1, 0},
		{"loudness_sma3_amean", 0, 0.05},
		{"loudness_sma3_percentile50.0", 0, 0.05},
		{"loudness_sma3_percentile80.0", 0, 0.05},
		{"spectralFlux_sma3_amean", 0, 0.2},
		{"spectralFluxV_sma3nz_amean", 0, 0.2},
		{"mfcc1_sma3_amean", 1.5, 0},
		{"mfcc2_sma3_amean", 1.5, 0},
		{"mfcc3_sma3_amean", 1.5, 0},
		{"mfcc4_sma3_amean", 1.5, 0},
		{"mfcc1V_sma3nz_amean", 1.5, 0},
		{"HNRdBACF_sma3nz_amean", 0.6, 0},
		{"alphaRatioV_sma3nz_amean", 1.2, 0},
		{"hammarbergIndexV_sma3nz_amean", 2.5, 0},
		{"VoicedSegmentsPerSec", 0.2, 0},
		{"MeanVoicedSegmentLengthSec", 0.1, 0},
		{"equivalentSoundLevel_dBp", 0.2, 0},
	}
	for file, want := range stored(t) {
		got := measure(readWAV(t, filepath.Join("../../dsp/testdata", file+".wav")))
		for _, c := range tolerances {
			g, w := got.Get(c.name), want[c.name]
			if !(math.Abs(g-w) <= c.absolute+c.relative*math.Abs(w)) {
				t.Errorf("%s, %s: got %.4g, want %.4g", file, c.name, g, w)
			}
		}
	}
}

// Jitter is that of the pulses: closer to the truth than openSMILE.
func TestJitterOfAVowel(t *testing.T) {
	got := measure(readWAV(t, "../../dsp/testdata/vowel_perturbed.wav")).Get("jitterLocal_sma3nz_amean")
	if !(math.Abs(got-0.0112) < 0.0006) { // 1.1 % by construction
		t.Errorf("got %v, want about 0.0112", got)
	}
}

// The level of each harmonic is set: the difference of the first two is known.
func TestHarmonicDifference(t *testing.T) {
	const f0, want = 150.0, -12.0
	x := make([]float64, rate)
	for i := range x {
		p := 2 * math.Pi * f0 * float64(i) / rate
		x[i] = 0.05*math.Sin(p) + 0.05*math.Pow(10, -want/20)*math.Sin(2*p) + 0.01*math.Sin(3*p)
	}
	v := measure(x)
	if got := v.Get("logRelF0-H1-H2_sma3nz_amean"); math.Abs(got-want) > 0.3 {
		t.Errorf("got H1 − H2 of %.2f dB, want %v", got, want)
	}
	if got := v.Get("F0semitoneFrom27.5Hz_sma3nz_amean"); math.Abs(got-12*math.Log2(f0/27.5)) > 0.02 {
		t.Errorf("got F0 of %.3f semitones, want %.3f", got, 12*math.Log2(f0/27.5))
	}
}

// The temporal functionals count the segments of a sequence that is known: three voiced
// parts of 0.4 s, noise and silence between them.
func TestSegments(t *testing.T) {
	noise := signals.Noise(rate, 0.02, 0.2, 1)
	voice := signals.Harmonic(rate, signals.Constant(120), 0.4)
	var x []float64
	for range 3 {
		x = append(x, make([]float64, int(0.15*rate))...)
		x = append(x, voice...)
		x = append(x, noise...)
	}
	v := measure(x)
	seconds := float64(len(x)) / rate
	for name, want := range map[string][2]float64{ // the value and the tolerance: two frames
		"VoicedSegmentsPerSec":       {3 / seconds, 1e-6},
		"MeanVoicedSegmentLengthSec": {0.4, 0.025},
		"MeanUnvoicedSegmentLength":  {(seconds - 1.2) / 4, 0.025},
	} {
		if got := v.Get(name); !(math.Abs(got-want[0]) <= want[1]) {
			t.Errorf("%s: got %v, want %v ± %v", name, got, want[0], want[1])
		}
	}
	for _, name := range []string{"alphaRatioUV_sma3nz_amean", "spectralFluxUV_sma3nz_amean"} {
		if got := v.Get(name); math.IsNaN(got) {
			t.Errorf("%s is undefined", name)
		}
	}
}

// A gain changes the level, the loudness and the flux, and nothing that is a ratio. An
// offset changes nothing.
func TestGainAndOffset(t *testing.T) {
	x := readWAV(t, "../../dsp/testdata/vowel_perturbed.wav")
	y, z := make([]float64, len(x)), make([]float64, len(x))
	for i, v := range x {
		y[i], z[i] = v/2, v+0.1
	}
	a, b, c := measure(x), measure(y), measure(z)
	for i, v := range a.Values {
		name, _ := a.Schema.Feature(i)
		scaled := v
		switch {
		case name == "equivalentSoundLevel_dBp":
			scaled -= 20 * math.Log10(2)
		case strings.HasPrefix(name, "loudness_") && !strings.Contains(name, "Norm"):
			scaled /= math.Pow(2, 2.0/3)
		case strings.HasPrefix(name, "spectralFlux") && !strings.Contains(name, "Norm"):
			scaled /= 2
		}
		const rounding = 1e-6
		if !near(b.Values[i], scaled, rounding) {
			t.Errorf("%s at half the amplitude: got %v, want %v", name, b.Values[i], scaled)
		}
		const ends = 1e-3 // rounding of the mean moves a pulse at an end of the recording
		if !near(c.Values[i], v, ends) {
			t.Errorf("%s with an offset: got %v, want %v", name, c.Values[i], v)
		}
	}
}

func near(got, want, tolerance float64) bool {
	if math.IsNaN(want) {
		return math.IsNaN(got)
	}
	return math.Abs(got-want) <= tolerance*(1+math.Abs(want))
}

// What cannot be measured is NaN, and nothing panics.
func TestUndefined(t *testing.T) {
	nan := make([]float64, rate/2)
	for i := range nan {
		nan[i] = math.NaN()
	}
	for name, x := range map[string][]float64{
		"empty": nil, "one sample": {0.5}, "5 ms": make([]float64, 220), "silence": make([]float64, rate), "NaN": nan,
		"infinite": {math.Inf(1), math.Inf(-1), 0, 1},
	} {
		for _, r := range []int{8000, rate, 192000} {
			v := measureAt(x, r)
			for i, got := range v.Values {
				if math.IsInf(got, 0) {
					f, _ := v.Schema.Feature(i)
					t.Errorf("%s at %d Hz: %s is infinite", name, r, f)
				}
			}
			for _, f := range []string{"F0semitoneFrom27.5Hz_sma3nz_amean", "jitterLocal_sma3nz_amean", "F1frequency_sma3nz_amean", "alphaRatioV_sma3nz_amean"} {
				if got := v.Get(f); !math.IsNaN(got) {
					t.Errorf("%s at %d Hz: got %s of %v, want NaN", name, r, f, got)
				}
			}
		}
	}
}

// A Measurer gives the same values whatever it measured before, at any rate.
func TestMeasurerKeepsNothing(t *testing.T) {
	x := readWAV(t, "../../dsp/testdata/vowel_klatt.wav")
	want := measure(x)
	m, e := features.NewMeasurer(), egemaps.NewMeasurer()
	for _, c := range []*features.Channel{{Samples: x[:rate/3], Rate: 16000}, {Samples: x, Rate: rate}, {Samples: nil, Rate: 8000}, {Samples: x, Rate: rate}} {
		got := e.Measure(m.Measure(c))
		if c.Rate != rate {
			continue
		}
		for i, v := range got.Values {
			if v != want.Values[i] && !(math.IsNaN(v) && math.IsNaN(want.Values[i])) {
				name, _ := got.Schema.Feature(i)
				t.Errorf("%s: got %v, want %v", name, v, want.Values[i])
			}
		}
	}
}
