package dsp_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
)

// The recordings of testdata, with what is known of them: truth.json by
// construction, praat.json by Praat 6.3.07, opensmile.json by openSMILE 3.0.1
// (testdata/README.md). No test of this file needs anything else.

// analyzed decodes a mono file, resamples it to 44.1 kHz and measures it, as a
// recording is.
func analyzed(t *testing.T, name string) *dsp.Analysis {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := wav.Decode(f, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	x := a.Samples
	if a.SampleRate != dsp.SampleRate {
		x = dsp.NewResampler(a.SampleRate, dsp.SampleRate).Resample(nil, x)
	}
	return dsp.NewAnalyzer().Analyze(x)
}

func fixture(t *testing.T, name string) *dsp.Analysis {
	t.Helper()
	return analyzed(t, filepath.Join("testdata", name+".wav"))
}

// known reads a file of known values by the name of the recording.
func known[V any](t *testing.T, file string) map[string]V {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]V
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

// defined returns the values of x that are numbers and not 0, ascending.
func defined(x []float64) []float64 {
	return slices.Sorted(func(yield func(float64) bool) {
		for _, v := range x {
			if !math.IsNaN(v) && v != 0 && !yield(v) {
				return
			}
		}
	})
}

func median(x []float64) float64 { return dsp.PercentileSorted(defined(x), 50) }

// formant returns the track of F1 (k = 0), F2 or F3.
func formant(a *dsp.Analysis, k int) []float64 {
	f := make([]float64, len(a.Formants))
	for i, v := range a.Formants {
		f[i] = v.F[k]
	}
	return f
}

func cents(f, ref float64) float64 { return 1200 * math.Log2(f/ref) }

// grossly is the relative error from which an F0 is a gross error, as in the
// accuracy table.
const grossly = 0.2

// truth is what is known of a recording by construction.
type truth struct {
	Frames       []float64 `json:"f0_frames_10ms_from_t0"`
	Formants     []float64
	Jitter       float64 `json:"jitter_local"`
	JitterAbs    float64 `json:"jitter_local_abs"`
	JitterRAP    float64 `json:"jitter_rap"`
	JitterPPQ5   float64 `json:"jitter_ppq5"`
	Shimmer      float64 `json:"shimmer_local"`
	ShimmerDB    float64 `json:"shimmer_local_db"`
	ShimmerAPQ3  float64 `json:"shimmer_apq3"`
	ShimmerAPQ5  float64 `json:"shimmer_apq5"`
	ShimmerAPQ11 float64 `json:"shimmer_apq11"`
}

// The vowel has the jitter and the shimmer that its pulses were given.
func TestPerturbationOfTheFixture(t *testing.T) {
	// Relative. The goals of the accuracy table are 3 and 1 % for the mean
	// over many vowels.
	const jitterTolerance, shimmerTolerance = 0.005, 0.01
	a, w := fixture(t, "vowel_perturbed"), known[truth](t, "truth.json")["vowel_perturbed"]
	for _, c := range []struct {
		name           string
		got, want, tol float64
	}{
		{"jitter local", a.Jitter.Local, w.Jitter, jitterTolerance},
		{"jitter absolute", a.Jitter.Absolute, w.JitterAbs, jitterTolerance},
		{"RAP", a.Jitter.RAP, w.JitterRAP, jitterTolerance},
		{"PPQ5", a.Jitter.PPQ5, w.JitterPPQ5, jitterTolerance},
		{"DDP", a.Jitter.DDP, 3 * w.JitterRAP, jitterTolerance},
		{"shimmer local", a.Shimmer.Local, w.Shimmer, shimmerTolerance},
		{"shimmer in dB", a.Shimmer.LocalDB, w.ShimmerDB, shimmerTolerance},
		{"APQ3", a.Shimmer.APQ3, w.ShimmerAPQ3, shimmerTolerance},
		{"APQ5", a.Shimmer.APQ5, w.ShimmerAPQ5, shimmerTolerance},
		{"APQ11", a.Shimmer.APQ11, w.ShimmerAPQ11, shimmerTolerance},
	} {
		if !(math.Abs(c.got/c.want-1) <= c.tol) {
			t.Errorf("%s: got %.6f, want %.6f within %g %%", c.name, c.got, c.want, 100*c.tol)
		}
	}
}

// The voice in as much noise has the F0 of its trajectory.
func TestF0OfTheFixtureInNoise(t *testing.T) {
	const edge, tolerance = 3, 2.4 // frames that fade in or out; cent, the median of the field's best at 0 dB
	f0, want := fixture(t, "intonation_noise").F0, known[truth](t, "truth.json")["intonation_noise"].Frames
	if len(f0) != len(want) {
		t.Fatalf("got %d frames, want %d", len(f0), len(want))
	}
	var errors []float64
	for i := edge; i < len(f0)-edge; i++ {
		if f0[i] == 0 || math.Abs(f0[i]/want[i]-1) > grossly {
			t.Errorf("frame %d: got %.1f Hz, want %.1f", i, f0[i], want[i])
			continue
		}
		errors = append(errors, math.Abs(cents(f0[i], want[i])))
	}
	if m := dsp.Percentile(errors, 50); !(m <= tolerance) {
		t.Errorf("got a median error of %.2f cent, want at most %g", m, tolerance)
	}
}

// The Klatt vowel has the formants of its resonators.
func TestFormantsOfTheFixture(t *testing.T) {
	tolerance := [3]float64{0.012, 0.0013, 0.0025} // relative: the goals of the accuracy table
	a := fixture(t, "vowel_klatt")
	for k, tol := range tolerance {
		if got, want := median(formant(a, k)), known[truth](t, "truth.json")["vowel_klatt"].Formants[k]; !(math.Abs(got/want-1) <= tol) {
			t.Errorf("F%d: got %.1f Hz, want %.1f within %g %%", k+1, got, want, 100*tol)
		}
	}
}

// praatValues is what testdata/praat.praat measures of a recording.
type praatValues struct {
	F0First    float64   `json:"f0_first_s"`
	F0         []float64 `json:"f0_hz"` // every 10 ms, 0 where unvoiced
	Jitter     float64   `json:"jitter_local"`
	JitterRAP  float64   `json:"jitter_rap"`
	JitterPPQ5 float64   `json:"jitter_ppq5"`
	HNR        float64   `json:"hnr_mean_db"`
	F1         float64   `json:"f1_median_hz"`
	F2         float64   `json:"f2_median_hz"`
	F3         float64   `json:"f3_median_hz"`
}

// Shimmer is not compared: Praat's holds the ringing of earlier periods, ours
// does not (README.md). Nor is CPPS on its own, whose scale depends on windows:
// the accuracy program compares its order.
func TestFixturesAgainstPraat(t *testing.T) {
	const (
		pitchTolerance   = 8    // cent, median over the frames that are voiced in both; most is Praat's own error at 0 dB
		jitterTolerance  = 0.06 // relative: Praat's error on vowels is 6.9 % on average
		hnrTolerance     = 1.0  // dB: Praat's mean is over its frames, ours over the voiced ones
		formantTolerance = 0.03 // relative: the errors of plain Burg are 3.4, 0.8 and 23 %
	)
	praat := known[praatValues](t, "praat.json")
	for _, c := range []struct {
		name                  string
		jitter, hnr, formants bool // whether this can be compared
	}{
		{"vowel_perturbed", true, true, false}, // Praat finds a formant of no resonance at 1260 Hz
		{"intonation_noise", false, true, false},
		{"vowel_klatt", false, false, false}, // no jitter, no noise, and a third formant of no resonance
		{"spoken", true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, p := fixture(t, c.name), praat[c.name]
			var errors []float64
			for k, f := range p.F0 {
				i := int(math.Round(p.F0First/dsp.Hop)) + k
				if f == 0 || i >= len(a.F0) || a.F0[i] == 0 {
					continue
				}
				if math.Abs(a.F0[i]/f-1) > grossly {
					t.Errorf("frame %d: got %.1f Hz, Praat %.1f", i, a.F0[i], f)
				}
				errors = append(errors, math.Abs(cents(a.F0[i], f)))
			}
			if len(errors) < len(defined(p.F0))*9/10 {
				t.Errorf("got %d frames that are voiced in both, want nearly Praat's %d", len(errors), len(defined(p.F0)))
			}
			if m := dsp.Percentile(errors, 50); !(m <= pitchTolerance) {
				t.Errorf("F0: got a median difference of %.2f cent, want at most %v", m, pitchTolerance)
			}
			if c.jitter {
				for name, v := range map[string][2]float64{"local": {a.Jitter.Local, p.Jitter}, "RAP": {a.Jitter.RAP, p.JitterRAP}, "PPQ5": {a.Jitter.PPQ5, p.JitterPPQ5}} {
					if !(math.Abs(v[0]/v[1]-1) <= jitterTolerance) {
						t.Errorf("jitter %s: got %.5f, Praat %.5f", name, v[0], v[1])
					}
				}
			}
			if got := dsp.Mean(defined(a.HNR)); c.hnr && !(math.Abs(got-p.HNR) <= hnrTolerance) {
				t.Errorf("HNR: got %.2f dB, Praat %.2f", got, p.HNR)
			}
			for k, want := range []float64{p.F1, p.F2, p.F3} {
				if got := median(formant(a, k)); c.formants && !(math.Abs(got/want-1) <= formantTolerance) {
					t.Errorf("F%d: got %.0f Hz, Praat %.0f", k+1, got, want)
				}
			}
		})
	}
}

func TestFixturesAgainstOpenSMILE(t *testing.T) {
	type values struct {
		F0         float64 `json:"F0semitoneFrom27.5Hz_sma3nz_percentile50.0"`
		Jitter     float64 `json:"jitterLocal_sma3nz_amean"`
		Alpha      float64 `json:"alphaRatioV_sma3nz_amean"` // high over low
		Hammarberg float64 `json:"hammarbergIndexV_sma3nz_amean"`
	}
	const (
		pitchTolerance  = 5    // cent: openSMILE is 1.3 to 2.3 too high on clean signals
		jitterTolerance = 0.05 // relative: openSMILE's error on vowels is 4.2 % on average
		levelTolerance  = 0.5  // dB: windows of 20 and 23 ms
	)
	smile := known[values](t, "opensmile.json")
	if len(smile) != 3 {
		t.Fatalf("got values of %d recordings, want 3", len(smile))
	}
	for name, w := range smile {
		t.Run(name, func(t *testing.T) {
			a := fixture(t, name)
			if got, want := median(a.F0), 27.5*math.Exp2(w.F0/12); name != "intonation_noise" && !(math.Abs(cents(got, want)) <= pitchTolerance) {
				t.Errorf("F0: got %.2f Hz, openSMILE %.2f", got, want)
			}
			if name == "vowel_perturbed" && !(math.Abs(a.Jitter.Local/w.Jitter-1) <= jitterTolerance) {
				t.Errorf("jitter: got %.5f, openSMILE %.5f", a.Jitter.Local, w.Jitter)
			}
			var alpha, hammarberg []float64
			for i, s := range a.Spectrum {
				if a.F0[i] > 0 {
					alpha, hammarberg = append(alpha, s.Alpha), append(hammarberg, s.Hammarberg)
				}
			}
			if got := dsp.Mean(alpha); !(math.Abs(got+w.Alpha) <= levelTolerance) {
				t.Errorf("alpha ratio: got %.2f dB, openSMILE %.2f", got, -w.Alpha)
			}
			if got := dsp.Mean(hammarberg); !(math.Abs(got-w.Hammarberg) <= levelTolerance) {
				t.Errorf("Hammarberg index: got %.2f dB, openSMILE %.2f", got, w.Hammarberg)
			}
		})
	}
}

// F1 of synthetic speech has the median of Praat 6.3.07 (Burg, in the frames that
// its pitch calls voiced, by testdata/praat.praat), and no resonance is taken for
// another.
func TestFirstFormantOfSpeech(t *testing.T) {
	const (
		tolerance = 0.10 // relative
		spread    = 200  // Hz: the vowels of Peterson and Barney's averages (1952) alone spread by 150 to 200 in one group of speakers
	)
	for _, c := range []struct {
		name, file string
		praat      float64 // Hz
		widest     float64 // Hz of spread
	}{
		{"female", "../testdata/female_en.wav", 527.17, spread},
		{"male, whose F1 eSpeak moves more than people do", "../testdata/short_en.wav", 477.65, 1.3 * spread},
	} {
		f := formant(analyzed(t, c.file), 0)
		if got, sd := median(f), dsp.SD(defined(f)); !(math.Abs(got/c.praat-1) <= tolerance) || !(sd <= c.widest) {
			t.Errorf("%s: got F1 %.0f ± %.0f Hz, want %.0f within 10 %% ± %.0f at most", c.name, got, sd, c.praat, c.widest)
		}
	}
}
