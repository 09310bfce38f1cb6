package features

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
)

// exact is the relative difference that the order of a few additions may make.
const exact = 1e-12

var nan = math.NaN()

// blank is an analysis of n frames in which nothing was measured.
func blank(n int) *dsp.Analysis {
	a := &dsp.Analysis{
		Duration: float64(n) * dsp.Hop,
		F0:       make([]float64, n), Level: make([]float64, n), Loudness: make([]float64, n),
		HNR: make([]float64, n), Spectrum: make([]dsp.Spectrum, n), MFCC: make([][dsp.NumMFCC]float64, n),
		Formants: make([]dsp.Formants, n), IsSpeech: make([]bool, n),
		Jitter: dsp.Jitter{Local: nan, Absolute: nan, RAP: nan, PPQ5: nan, DDP: nan}, CPPS: nan,
		Shimmer: dsp.Shimmer{Local: nan, LocalDB: nan, APQ3: nan, APQ5: nan, APQ11: nan},
		Quality: dsp.Quality{SNR: nan, Bandwidth: nan},
	}
	for i := range n {
		a.Level[i], a.HNR[i] = math.Inf(-1), nan
		a.Spectrum[i] = dsp.Spectrum{Centroid: nan, Rolloff85: nan, Flux: nan, Flatness: nan, Slope500: nan, Slope1500: nan, Alpha: nan, Hammarberg: nan}
		a.Formants[i] = dsp.Formants{F: [3]float64{nan, nan, nan}, B: [3]float64{nan, nan, nan}}
	}
	return a
}

// talk is blank(n) with all frames in one speech segment.
func talk(n int) *dsp.Analysis {
	a := blank(n)
	a.Speech = segments(0, a.Duration)
	for i := range a.IsSpeech {
		a.IsSpeech[i] = true
	}
	return a
}

// segments builds segments from pairs of start and end.
func segments(t ...float64) (s []dsp.Segment) {
	for i := 0; i < len(t); i += 2 {
		s = append(s, dsp.Segment{Start: t[i], End: t[i+1]})
	}
	return s
}

// spectrum builds a Spectrum from its fields in order.
func spectrum(v ...float64) dsp.Spectrum {
	return dsp.Spectrum{Centroid: v[0], Rolloff85: v[1], Flux: v[2], Flatness: v[3], Slope500: v[4], Slope1500: v[5], Alpha: v[6], Hammarberg: v[7]}
}

// extractCases are analyses made by hand with the features computed by hand.
var extractCases = []struct {
	name string
	a    func() *dsp.Analysis
	want map[string]float64
}{
	{"silence has no measures", func() *dsp.Analysis { return blank(100) }, map[string]float64{
		"speech.duration_s": 0, "speech.ratio": 0, "speech.rate_syl_s": nan, "pause.count_min": nan, "pause.mean_s": nan,
		"loudness.peaks_s": nan, "f0.mean_hz": nan, "f0.sd_st": nan, "f0.slope_st_s": nan, "voiced.ratio": nan,
		"hnr.mean_db": nan, "formant.f1.median_hz": nan, "vowel.space": nan, "level.mean_dbfs": nan,
		"spectral.flux": nan, "mfcc.1.mean": nan, "quality.clipped_ratio": 0,
	}},
	{"nothing at all", func() *dsp.Analysis { return blank(0) }, map[string]float64{"speech.duration_s": 0, "speech.ratio": nan, "mfcc.12.delta_sd": nan}},
	{"timing", func() *dsp.Analysis {
		a := blank(1000)
		a.Speech = segments(1, 3, 3.5, 5, 6.5, 7) // 4 s of speech in a span of 6 s
		a.Pauses = segments(3, 3.5, 5, 6.5)
		a.Syllables = []float64{1.2, 1.5, 1.9, 2.4, 2.8, 3.7, 4.1, 4.6, 4.9, 6.6, 6.7, 6.8}
		return a
	}, map[string]float64{
		"speech.duration_s": 4, "speech.ratio": 0.4, "speech.rate_syl_s": 2, "articulation.rate_syl_s": 3,
		"pause.count_min": 20, "pause.mean_s": 1, "pause.sd_s": math.Sqrt(0.5), "pause.ratio": 2. / 6,
	}},
	{"one pause has no spread", func() *dsp.Analysis {
		a := blank(300)
		a.Speech = segments(0, 1, 2, 3)
		a.Pauses = segments(1, 2)
		return a
	}, map[string]float64{"pause.mean_s": 1, "pause.sd_s": nan, "speech.rate_syl_s": 0}},
	{"speech without a pause", func() *dsp.Analysis { return talk(100) }, map[string]float64{
		"pause.count_min": 0, "pause.mean_s": nan, "pause.sd_s": nan, "pause.ratio": 0, "speech.ratio": 1, "voiced.ratio": 0,
	}},
	{"loudness peaks", func() *dsp.Analysis {
		a := talk(300) // three bumps, at frames 50, 110 and 230
		for i := range a.Loudness {
			for _, c := range []float64{50, 110, 230} {
				a.Loudness[i] += math.Exp(-math.Pow((float64(i)-c)/8, 2))
			}
		}
		return a
	}, map[string]float64{"loudness.peaks_s": 1, "loudness.peak_gap_mean_s": 0.9, "loudness.peak_gap_sd_s": math.Sqrt(0.18)}},
	{"pitch an octave apart", func() *dsp.Analysis {
		a := talk(8)
		copy(a.F0, []float64{100, 0, 0, 100, 200, 200, 0, 0}) // median 150
		return a
	}, map[string]float64{
		"f0.mean_hz": 150, "f0.median_hz": 150, "f0.sd_st": math.Sqrt(4 * 36 / 3.), "f0.range_st": 12,
		"f0.slope_st_s": nan, "voiced.ratio": 0.5,
	}},
	{"pitch slopes are weighted by length", func() *dsp.Analysis {
		a := talk(40)
		for i := range 10 { // 10 frames up a semitone each, 100 st/s
			a.F0[i] = 100 * math.Exp2(float64(i)/12)
		}
		for i := range 20 { // 20 frames down half a semitone each, −50 st/s
			a.F0[15+i] = 200 * math.Exp2(-float64(i)/24)
		}
		a.F0[38], a.F0[39] = 50, 400 // too short to count
		return a
	}, map[string]float64{"f0.slope_st_s": 0}},
	{"voice quality", func() *dsp.Analysis {
		a := talk(4)
		a.F0, a.HNR = []float64{100, 0, 100, 100}, []float64{10, nan, 14, nan}
		a.Jitter = dsp.Jitter{Local: .01, Absolute: .0001, RAP: .005, PPQ5: .006, DDP: .015}
		a.Shimmer = dsp.Shimmer{Local: .03, LocalDB: .3, APQ3: .02, APQ5: .021, APQ11: nan}
		a.CPPS = 12
		return a
	}, map[string]float64{
		"jitter.local": .01, "jitter.abs_s": .0001, "jitter.rap": .005, "jitter.ppq5": .006, "jitter.ddp": .015,
		"shimmer.local": .03, "shimmer.local_db": .3, "shimmer.apq3": .02, "shimmer.apq5": .021, "shimmer.apq11": nan,
		"hnr.mean_db": 12, "hnr.sd_db": math.Sqrt(8), "cpps.db": 12,
	}},
	{"formants", func() *dsp.Analysis {
		a := talk(5) // F1 and F2 on the corners of a rectangle of 200 Hz × 400 Hz
		for i, f := range [][2]float64{{400, 1000}, {600, 1000}, {400, 1400}, {600, 1400}} {
			a.Formants[i].F = [3]float64{f[0], f[1], nan}
		}
		return a
	}, map[string]float64{
		"formant.f1.median_hz": 500, "formant.f1.sd_hz": 200 / math.Sqrt(3), "formant.f2.median_hz": 1200, "formant.f2.sd_hz": 400 / math.Sqrt(3),
		"formant.f3.median_hz": nan, "formant.f3.sd_hz": nan, "vowel.space": math.Pi * 0.2 * 0.4 / 3,
	}},
	{"level leaves digital silence out", func() *dsp.Analysis {
		a := talk(5)
		a.Level = []float64{-20, -30, -40, math.Inf(-1), 0}
		a.IsSpeech[4] = false
		return a
	}, map[string]float64{"level.mean_dbfs": -30, "level.sd_db": 10, "level.range_db": 18}},
	{"spectrum", func() *dsp.Analysis {
		a := talk(3) // two speech frames, of which one is voiced
		a.IsSpeech[2] = false
		a.F0[0] = 120
		a.Spectrum[0] = spectrum(1000, 2000, .1, .2, .01, -.02, 15, 25)
		a.Spectrum[1] = spectrum(3000, 4000, .3, .4, .05, .06, -5, 5)
		a.Spectrum[2] = spectrum(9000, 9000, 9, 9, 9, 9, 9, 9)
		return a
	}, map[string]float64{
		"spectral.centroid_hz": 2000, "spectral.rolloff85_hz": 3000, "spectral.flux": .2, "spectral.flatness": .3,
		"spectral.slope_0_500": .01, "spectral.slope_500_1500": -.02, "spectral.alpha_db": 15, "spectral.hammarberg_db": 25,
	}},
	{"cepstrum", func() *dsp.Analysis {
		a := talk(4)
		for i, c := range []float64{0, 1, 0, 5} {
			a.MFCC[i][0], a.MFCC[i][1], a.MFCC[i][12] = 99, c, 7
		}
		a.IsSpeech[3] = false // speech: c1 = 0 1 0, d = 0.1, 1, 1.4
		return a
	}, map[string]float64{
		"mfcc.1.mean": 1. / 3, "mfcc.1.sd": math.Sqrt(1. / 3), "mfcc.1.delta_sd": math.Sqrt((22.*22 + 5*5 + 17*17) / 900 / 2), // mean 2.5/3
		"mfcc.12.mean": 7, "mfcc.12.sd": 0, "mfcc.12.delta_sd": 0,
	}},
	{"recording quality", func() *dsp.Analysis {
		a := blank(1)
		a.Quality = dsp.Quality{SNR: 30, Clipped: .001, Bandwidth: 8000}
		return a
	}, map[string]float64{"quality.snr_db": 30, "quality.clipped_ratio": .001, "quality.bandwidth_hz": 8000}},
}

func TestExtract(t *testing.T) {
	for _, c := range extractCases {
		t.Run(c.name, func(t *testing.T) {
			v := Extract(c.a())
			for name, want := range c.want {
				got := v.Get(name)
				if math.IsNaN(want) != math.IsNaN(got) || math.Abs(got-want) > exact*max(1, math.Abs(want)) {
					t.Errorf("%s: got %v, want %v", name, got, want)
				}
			}
			for i, x := range v.Values {
				if math.IsInf(x, 0) {
					name, _ := v.Schema.Feature(i)
					t.Errorf("%s is infinite", name)
				}
			}
		})
	}
}

// TestProminentPeaksEqualTheDefinition compares the single pass with the
// definition of prominence, on noise, where no two values are equal.
func TestProminentPeaksEqualTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 200 {
		x := make([]float64, 3+rng.IntN(60))
		for i := range x {
			x[i] = rng.Float64()
			if i > 0 {
				x[i] += 0.8 * x[i-1]
			}
		}
		least := peakProminence * (dsp.Percentile(x, 95) - dsp.Percentile(x, 5))
		var want []int
		for i := range x {
			left, right := x[i], x[i]
			for j := i; j >= 0 && x[j] <= x[i]; j-- {
				left = min(left, x[j])
			}
			for j := i; j < len(x) && x[j] <= x[i]; j++ {
				right = min(right, x[j])
			}
			if p := x[i] - max(left, right); p > 0 && p >= least {
				want = append(want, i)
			}
		}
		if got := prominentPeaks(x, nil); !slices.Equal(got, want) {
			t.Fatalf("trial %d: got %v, want %v for %v", trial, got, want, x)
		}
	}
}

func BenchmarkExtract(b *testing.B) {
	x := speaker(b)
	a := dsp.NewAnalyzer().Analyze(x)
	b.ReportAllocs()
	for b.Loop() {
		Extract(a)
	}
	b.ReportMetric(a.Duration*float64(b.N)/b.Elapsed().Seconds(), "audio_s/s")
}

// speaker is a recording of testdata with synthetic speech.
func speaker(t testing.TB) []float64 {
	t.Helper()
	f, err := os.Open("../testdata/spoken_en.wav")
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
