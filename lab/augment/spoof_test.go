package augment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

// TestSpoofOfOddities takes apart what is hardly a recording.
func TestSpoofOfOddities(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, m := range append(slices.Clone(methods), append(manipulations, decoded)...) {
		for name, x := range map[string][]float64{"silence": make([]float64, testRate/2), "noise": colouredNoise(testRate/2, 0, rng),
			"a click": append([]float64{1}, make([]float64, testRate/4)...), "a voice": vowel(testRate/2, rng)} {
			for seed := range *seeds {
				before := slices.Clone(x)
				y := m.make(x, testRate, rand.New(rand.NewPCG(seed, 0)))
				if len(y) < len(x)/2 || len(y) > 2*len(x) {
					t.Fatalf("%s of %s: got %d samples of %d", m.name, name, len(y), len(x))
				}
				for _, v := range y {
					if math.IsNaN(v) || math.Abs(v) > 100 {
						t.Fatalf("%s of %s, seed %d: got %v", m.name, name, seed, v)
					}
				}
				if !slices.Equal(x, before) {
					t.Fatalf("%s changed its input", m.name)
				}
				if again := m.make(x, testRate, rand.New(rand.NewPCG(seed, 0))); !slices.Equal(y, again) {
					t.Fatalf("%s: got other samples the second time", m.name)
				}
			}
		}
	}
}

// pitchOf is the median pitch of the voiced frames in Hz.
func pitchOf(x []float64) float64 {
	var voiced []float64
	for _, f := range dsp.NewPitch(testRate, nil).Track(nil, x) {
		if f > 0 {
			voiced = append(voiced, f)
		}
	}
	if len(voiced) == 0 {
		return math.NaN()
	}
	slices.Sort(voiced)
	return voiced[len(voiced)/2]
}

// peakOf is the frequency in Hz of the envelope's peak from low to high Hz: the
// centre of gravity there of the power at 400 Hz resolution.
func peakOf(x []float64, low, high float64) float64 {
	var sum, weight float64
	for f := low; f < high; f += 50 {
		e := bandEnergy(x, testRate, f-100, f+100)
		e *= e
		sum += f * e
		weight += e
	}
	return sum / weight
}

// TestWhatMoves checks pitch, formant and length after each manipulation: they
// move by the factors asked for, or stay.
func TestWhatMoves(t *testing.T) {
	const (
		pitchTolerance   = 0.015 // of the pitch; its estimate on the jittered vowel
		formantTolerance = 0.06  // of the formant, which harmonics 120 Hz apart sample
	)
	x := vowel(2*testRate, rand.New(rand.NewPCG(6, 6)))
	f0, f1 := pitchOf(x), peakOf(x, 300, 1000)
	v := func() *vocoder { return newVocoder(x, testRate) }
	n := len(x)
	rng := func() *rand.Rand { return rand.New(rand.NewPCG(2, 2)) }
	for name, c := range map[string]struct {
		y                      []float64
		pitch, formant, length float64
	}{
		"phase vocoder, longer":  {newSTFT(1024).stretched(x, 1.25, false), 1, 1, 1.25},
		"phase vocoder, locked":  {newSTFT(1024).stretched(x, 0.8, true), 1, 1, 0.8},
		"phase vocoder, pitch":   {fitted(resized(newSTFT(1024).stretched(x, 1.25, true), 1/1.25), n), 1.25, 1.25, 1},
		"wsola":                  {wsola(x, 1.2, testRate, 0.04), 1, 1, 1.2},
		"joined, longer":         {joints{3600, 480, 600}.stretched(x, 1.25), 1, 1, 1.25},
		"joined, shorter":        {joints{1200, 200, 480}.stretched(x, 0.8), 1, 1, 0.8},
		"psola, higher":          {overlapped(x, testRate, 1.3, 1, 1), 1.3, 1, 1},
		"psola, lower and slow":  {overlapped(x, testRate, 0.8, 1.2, 1), 0.8, 1, 1.2},
		"formants up":            {warped(x, testRate, 1.2, 0.002), 1, 1.2, 1},
		"formants down":          {warped(x, testRate, 0.85, 0.002), 1, 0.85, 1},
		"world":                  {v().pulses(n, true, rng()), 1, 1, 1},
		"sinusoids":              {v().harmonics(n, 0.3), 1, 1, 1},
		"world, moved":           {func() []float64 { w := v(); w.warp(1.2); return w.pulses(n, true, rng()) }(), 1, 1.2, 1},
		"griffin-lim":            {griffinLim(x, testRate, rng()), 1, 1, 1},
		"high band":              {looseHighBand(x, testRate, rng()), 1, 1, 1},
		"images":                 {images(x, testRate, rng()), 1, 1, 1},
		"gain from hop to hop":   {func() []float64 { y := slices.Clone(x); repeatGain(y, 256, rng()); return y }(), 1, 1, 1},
		"band errors":            {bandErrors(x, testRate, rng()), 1, 1, 1},
		"tones of the upsampler": {func() []float64 { y := slices.Clone(x); addTones(y, 256, rng()); return y }(), 1, 1, 1},
	} {
		if got, want := pitchOf(c.y), c.pitch*f0; !(math.Abs(got-want) <= pitchTolerance*want) {
			t.Errorf("%s: got a pitch of %.1f Hz, want %.1f", name, got, want)
		}
		if got, want := peakOf(c.y, 300*c.formant, 1000*c.formant), c.formant*f1; !(math.Abs(got-want) <= formantTolerance*want) {
			t.Errorf("%s: got a formant of %.0f Hz, want %.0f", name, got, want)
		}
		if got, want := float64(len(c.y)), c.length*float64(n); math.Abs(got-want) > 1 {
			t.Errorf("%s: got %v samples, want %v", name, got, want)
		}
		if db := 10 * math.Log10(energy(c.y)/float64(len(c.y))/(energy(x)/float64(n))); math.Abs(db) > 3 {
			t.Errorf("%s: got %.1f dB more, want the level of before", name, db)
		}
	}
}

// TestLinearPrediction checks that the order's poles and the pitch survive,
// over the settings drawn.
func TestLinearPrediction(t *testing.T) {
	x := vowel(testRate, rand.New(rand.NewPCG(6, 6)))
	f1 := peakOf(x, 300, 1000)
	for seed := range uint64(10) {
		y := linearPrediction(x, testRate, rand.New(rand.NewPCG(seed, 4)))
		if got := peakOf(y, 300, 1000); math.Abs(got-f1) > 0.12*f1 { // the pitch may move, and with it what samples the formant
			t.Errorf("seed %d: got a formant of %.0f Hz, want %.0f", seed, got, f1)
		}
		if f := pitchOf(y) / pitchOf(x); !(f > 0.68 && f < 1.45) { // six semitones
			t.Errorf("seed %d: got the pitch times %.2f", seed, f)
		}
	}
}

// TestImages puts in a tone, and finds its mirror at half of the rate.
func TestImages(t *testing.T) {
	x := make([]float64, testRate)
	for i := range x {
		x[i] = math.Sin(2 * math.Pi * 1500 * float64(i) / testRate)
	}
	for seed := range uint64(10) {
		y := images(x, testRate, rand.New(rand.NewPCG(seed, 4)))
		mirror := 0.0
		for _, half := range []float64{8000, 4000} { // of a half and of a quarter of the rate
			mirror = max(mirror, bandEnergy(y, testRate, half-1600, half-1400))
		}
		db := 10 * math.Log10(mirror/bandEnergy(y, testRate, 1400, 1600))
		if db > -18 || db < -47 {
			t.Errorf("seed %d: got a mirror at %.1f dB, want -20 to -45", seed, db)
		}
	}
}

// TestSpoof draws every method, and leaves alone what is too short.
func TestSpoof(t *testing.T) {
	x := vowel(testRate/2, rand.New(rand.NewPCG(6, 6)))
	seen := map[string]bool{}
	for seed := range uint64(80) {
		y, name := Spoof(x, testRate, rand.New(rand.NewPCG(seed, 4)))
		seen[name] = true
		if slices.Equal(x, y) {
			t.Errorf("%s: got what went in", name)
		}
	}
	for _, m := range methods {
		if !seen[m.name] {
			t.Errorf("%s was never drawn", m.name)
		}
	}
	for _, c := range []struct {
		n, rate int
	}{{0, testRate}, {1000, testRate}, {8000, 7000}} {
		if y, name := Spoof(x[:c.n], c.rate, rand.New(rand.NewPCG(1, 4))); name != "" || !slices.Equal(y, x[:c.n]) {
			t.Errorf("%d samples at %d Hz: got %q, want them back", c.n, c.rate, name)
		}
	}
}

// Manipulated makes a voice in each way, of which none is what went in; of what is too
// short it makes none.
func TestManipulated(t *testing.T) {
	x := vowel(testRate/2, rand.New(rand.NewPCG(6, 6)))
	var names []string
	Manipulated(x, testRate, rand.New(rand.NewPCG(1, 4)), func(y []float64, name string) {
		names = append(names, name)
		if slices.Equal(x, y) {
			t.Errorf("%s: got what went in", name)
		}
	})
	if want := []string{"phase vocoder", "resampled pitch", "psola", "joined pitch", "joined tempo"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	Manipulated(x[:1000], testRate, rand.New(rand.NewPCG(1, 4)), func(_ []float64, name string) { t.Errorf("0.1 s: got a voice by %s", name) })
}
