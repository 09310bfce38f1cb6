package signals

import (
	"math"
	"slices"
	"testing"
)

const sr = 44100.0

// rounding is a bound on the relative rounding error of sums of some 1e5 terms.
const rounding = 1e-9

func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf("%s: got %g, want %g", what, got, want)
	}
}

func TestAddNoiseHasTheSNR(t *testing.T) {
	x := Tone(sr, 220, 0.5, 0.5)
	for _, snr := range []float64{-5, 0, 20} {
		y := AddNoise(x, snr, 1)
		for i := range y {
			y[i] -= x[i]
		}
		if got := 10 * math.Log10(Power(x)/Power(y)); math.Abs(got-snr) > rounding {
			t.Errorf("SNR: got %g dB, want %g dB", got, snr)
		}
	}
}

// TestHarmonicIsPeriodic checks that a complex whose period is a whole number of samples
// repeats exactly.
func TestHarmonicIsPeriodic(t *testing.T) {
	x := Harmonic(sr, Constant(sr/400), 0.1)
	for i := 400; i < len(x); i++ {
		if math.Abs(x[i]-x[i-400]) > 1e-9 {
			t.Fatalf("sample %d: got %g, want %g as one period before", i, x[i], x[i-400])
		}
	}
}

func TestTrainTruth(t *testing.T) {
	// by hand: periods 1 2 1 2 1, amplitudes 1 2 1 2 1 2
	p := Train{Times: []float64{0, 1, 3, 4, 6, 7}, Amplitudes: []float64{1, 2, 1, 2, 1, 2}}.Truth()
	near(t, "local jitter", p.JitterLocal, 1/1.4, rounding)
	near(t, "absolute jitter", p.JitterAbs, 1, rounding)
	near(t, "RAP", p.JitterRAP, (2.0/3)/1.4, rounding)
	near(t, "PPQ5", p.JitterPPQ5, 0.4/1.4, rounding)
	near(t, "local shimmer", p.ShimmerLocal, 1/1.5, rounding)
	near(t, "shimmer in dB", p.ShimmerDB, 20*math.Log10(2), rounding)
}

func TestNewTrainMeetsItsTarget(t *testing.T) {
	p := NewTrain(110, 20, 0.02, 0.06, 7).Truth()
	const sampling = 0.06 // relative, four standard errors with 2200 periods
	near(t, "jitter", p.JitterLocal, 0.02, sampling)
	near(t, "shimmer", p.ShimmerLocal, 0.06, sampling)
	if q := NewTrain(110, 2, 0, 0, 1).Truth(); q.JitterLocal > 1e-12 || q.ShimmerLocal != 0 {
		t.Errorf("unperturbed train: got %+v, want zeros", q)
	}
}

// TestVowelAgainstItsDefinition compares the response to one pulse with the convolution of
// the damped sinusoids and the Gaussian, summed directly at a few times.
func TestVowelAgainstItsDefinition(t *testing.T) {
	at := 0.0213337
	x := Train{Times: []float64{at}, Amplitudes: []float64{1}}.Vowel(sr, 0.06)
	for _, i := range []int{930, 945, 1000, 1300, 1800} {
		var want, sum float64
		const n, width = 40000, 0.001
		for j := -n; j <= n; j++ {
			u := width * float64(j) / n
			g := math.Exp(-0.5 * u * u / (pulseSigma * pulseSigma))
			sum += g
			if tt := float64(i)/sr - at - u; tt > 0 {
				for _, f := range formantRing {
					want += g * f[2] * math.Exp(-math.Pi*f[1]*tt) * math.Sin(2*math.Pi*f[0]*tt)
				}
			}
		}
		want /= sum
		const table = 5e-5 // the table's step rounds the onset's corner
		if math.Abs(x[i]-want) > table {
			t.Errorf("sample %d: got %g, want %g", i, x[i], want)
		}
	}
}

func TestKlattHasItsFormants(t *testing.T) {
	// the level of a partial at F1 exceeds that of one between F1 and F2
	x := Klatt(sr, 100, []Resonance{{700, 60}, {2300, 90}}, 1, 0.5)
	level := func(f float64) float64 {
		var re, im float64
		for i, v := range x {
			s, c := math.Sincos(2 * math.Pi * f * float64(i) / sr)
			re, im = re+v*c, im+v*s
		}
		return 20 * math.Log10(math.Hypot(re, im))
	}
	if d := level(700) - level(1400); d < 15 {
		t.Errorf("F1 over the valley: got %.1f dB, want more than 15 dB", d)
	}
	if d := level(700) - level(750); d < 40 {
		t.Errorf("partial over the gap between partials: got %.1f dB, want more than 40 dB", d)
	}
}

func TestSequence(t *testing.T) {
	x := Sequence(sr, VoicedUnvoiced, 1)
	if want := 119951; len(x) != want {
		t.Errorf("length: got %d, want %d", len(x), want)
	}
	if f := SequenceF0(VoicedUnvoiced, 0.45); math.Abs(f-math.Sqrt(120*140)) > 1e-6 {
		t.Errorf("F0 at 0.45 s: got %g", f)
	}
	if f := SequenceF0(VoicedUnvoiced, 0.7); f != 0 {
		t.Errorf("F0 at 0.7 s: got %g, want 0", f)
	}
	if d := ToEdge(VoicedUnvoiced, 0.26); math.Abs(d-0.01) > 1e-9 {
		t.Errorf("distance to the edge: got %g, want 0.01", d)
	}
	if !slices.Equal(x, Sequence(sr, VoicedUnvoiced, 1)) {
		t.Error("equal seeds gave different signals")
	}
}

func TestHNRHasTheRatio(t *testing.T) {
	clean, noisy := HNR(sr, 110, 300, 1, 1), HNR(sr, 110, 10, 1, 1)
	from, to := int(0.1*sr), int(0.9*sr)
	var g, den float64 // least squares: the gain that was applied with the noise
	for i := from; i < to; i++ {
		g += clean[i] * noisy[i]
		den += clean[i] * clean[i]
	}
	g /= den
	var ph, pn float64
	for i := from; i < to; i++ {
		ph += g * clean[i] * g * clean[i]
		pn += (noisy[i] - g*clean[i]) * (noisy[i] - g*clean[i])
	}
	if d := 10*math.Log10(ph/pn) - 10; math.Abs(d) > 0.1 {
		t.Errorf("HNR off by %.3f dB", d)
	}
}

// TestSpeechRepeatsAtItsF0 checks the truth of a speaker on the samples: where the voice is
// regular, a stretch of two periods is like the one a period later.
func TestSpeechRepeatsAtItsF0(t *testing.T) {
	for _, seed := range []uint64{2, 3} {
		s := NewSpeaker(seed).Speak(sr, 4)
		if !slices.Equal(s.X, NewSpeaker(seed).Speak(sr, 4).X) {
			t.Errorf("seed %d: got other speech the second time", seed)
		}
		similar := func(at, lag int) float64 {
			var ab, aa, bb float64
			for i := at - lag; i < at; i++ {
				a, b := s.X[i], s.X[i+lag]
				ab, aa, bb = ab+a*b, aa+a*a, bb+b*b
			}
			return ab / math.Sqrt(aa*bb)
		}
		var voiced, unvoiced []float64
		for i := 5; i+5 < len(s.F0); i++ {
			at := int(float64(i) * 0.01 * sr)
			switch f := s.F0[i]; {
			case f == 0 && s.F0[i-5] == 0 && s.F0[i+5] == 0:
				unvoiced = append(unvoiced, similar(at, int(math.Round(sr/120))))
			case f > 0 && !s.Irregular[i]:
				voiced = append(voiced, similar(at, int(math.Round(sr/f))))
			}
		}
		if share := float64(len(voiced)) / float64(len(s.F0)); share < 0.3 || share > 0.8 || len(unvoiced) < 30 {
			t.Fatalf("seed %d: got %d voiced and %d unvoiced frames of %d", seed, len(voiced), len(unvoiced), len(s.F0))
		}
		slices.Sort(voiced)
		slices.Sort(unvoiced)
		if v, u := voiced[len(voiced)/4], unvoiced[3*len(unvoiced)/4]; !(v > 0.8 && u < 0.3) {
			t.Errorf("seed %d: got a lower quartile of %.2f voiced and an upper one of %.2f unvoiced", seed, v, u)
		}
	}
}

// TestSpeechTruth counts by hand: closures 10 ms apart, one of 14 ms, and a gap.
func TestSpeechTruth(t *testing.T) {
	var s Speech
	s.truth([]float64{0.015, 0.025, 0.035, 0.049, 0.059, 0.109, 0.119, 0.141}, 0.16)
	for i, want := range []float64{0, 0, 100, 100, 1 / 0.014, 100, 0, 0, 0, 0, 0, 100, 1 / 0.022, 1 / 0.022, 1 / 0.022, 0, 0} {
		near(t, "F0", s.F0[i], want, rounding)
		if irregular := i >= 3 && i <= 5 || i >= 11 && i <= 14; s.Irregular[i] != irregular {
			t.Errorf("frame %d: got irregular %v, want %v", i, s.Irregular[i], irregular)
		}
	}
}
