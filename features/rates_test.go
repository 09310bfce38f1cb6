package features_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/features"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// measured are the measures of samples at a rate in both ways, which must agree.
func measured(t *testing.T, x []float64, rate int) (of func(name string) float64) {
	t.Helper()
	c := &features.Channel{Samples: x, Rate: rate}
	whole := slices.Clone(features.NewMeasurer().Measure(c).Features.Values)
	src, err := features.NewSource(c, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	in, err := features.NewMeasurer().MeasureSource(src)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range in.Features.Values {
		if name, _ := features.VoiceSchema().Feature(i); !(math.Abs(v-whole[i]) <= 1e-6*math.Max(1, math.Abs(v))) && !(math.IsNaN(v) && math.IsNaN(whole[i])) {
			t.Errorf("%d Hz: %s: got %v in blocks, %v as a whole", rate, name, v, whole[i])
		}
	}
	return func(name string) float64 { return whole[features.VoiceSchema().Index(name)] }
}

// voice is some seconds of syllables with harmonics of 125 Hz up to the frequency end, over
// white noise of one density at each rate, and says where between the syllables it is.
func voice(rate int, end, noise, seconds float64) (x []float64, between []bool) {
	x = signals.Noise(float64(rate), noise*math.Sqrt(float64(rate)/44100), seconds, 1)
	between = make([]bool, len(x))
	for i := range x {
		at := float64(i) / float64(rate)
		syllable := max(math.Sin(4*math.Pi*at), 0)
		between[i] = syllable == 0
		for f := 125.0; syllable > 0 && f <= end; f += 125 {
			x[i] += 0.01 * syllable * syllable * math.Sin(2*math.Pi*f*at+f*f)
		}
	}
	return x, between
}

// A voice that ends at 4 kHz, as behind a telephone, with noise over all that each rate holds:
// where the resampler ends the noise is not where the sound ends. And one that fills the band
// of the rate.
func TestBandwidthDoesNotDependOnTheRate(t *testing.T) {
	for _, rate := range []int{11025, 16000, 22050, 32000, 44100, 48000, 96000} {
		for _, noise := range []float64{1e-3, 1e-4, 1e-5} {
			for _, end := range []float64{4000, float64(min(rate, 44100)) / 2.2} {
				over := 550.0 // four bins are 172 Hz, and the skirt of the window
				if end != 4000 {
					over = 1350 // which nothing hides down to −90 dB
				}
				x, _ := voice(rate, end, noise, 3)
				if got := measured(t, x, rate)("quality.bandwidth_hz"); !(got > end-450 && got < end+over) {
					t.Errorf("%d Hz, noise of %v: got a bandwidth of %.0f Hz, want %.0f", rate, noise, got, end)
				}
			}
		}
	}
}

// What lies between the syllables does not make a voice narrow: silence of the recording, and
// breath, which is no noise of it.
func TestBandwidthDoesNotDependOnThePauses(t *testing.T) {
	const rate, end = 16000, 7000
	x, between := voice(rate, end, 1e-3, 4)
	want := measured(t, x, rate)("quality.bandwidth_hz")
	if !(want > end-450) {
		t.Errorf("got a bandwidth of %.0f Hz, want %d", want, end)
	}
	long := append(slices.Clone(x), signals.Noise(rate, 1e-3*math.Sqrt(rate/44100.), 40, 2)...)
	if got := measured(t, long, rate)("quality.bandwidth_hz"); math.Abs(got-want) > 150 {
		t.Errorf("with a pause of 40 s: got a bandwidth of %.0f Hz, want %.0f", got, want)
	}
	breath := signals.Noise(rate, 0.01, 4, 3)
	for i, on := range between {
		if on && i*2/rate%4 == 3 { // in one pause of four
			x[i] += breath[i]
		}
	}
	if got := measured(t, x, rate)("quality.bandwidth_hz"); math.Abs(got-want) > 150 {
		t.Errorf("with breath: got a bandwidth of %.0f Hz, want %.0f", got, want)
	}
}

// A sample that is no number counts as 0, and one far beyond full scale as 16, at each rate.
func TestSamplesThatCountAsOthers(t *testing.T) {
	for _, rate := range []int{16000, 44100, 48000} {
		x := signals.AddNoise(signals.Harmonic(float64(rate), signals.IntonationMale(), 2), 30, 1)
		for name, c := range map[string]struct{ sample, as float64 }{
			"NaN": {math.NaN(), 0}, "infinite": {math.Inf(-1), 0}, "far beyond": {1e6, 16}, "far below": {-1e6, -16},
		} {
			got, want := slices.Clone(x), slices.Clone(x)
			got[rate/2], want[rate/2] = c.sample, c.as
			a, b := measured(t, got, rate), measured(t, want, rate)
			for i := range features.VoiceSchema().Len() {
				name2, _ := features.VoiceSchema().Feature(i)
				if v, w := a(name2), b(name2); v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
					t.Errorf("%d Hz, %s: %s: got %v, want %v", rate, name, name2, v, w)
				}
			}
		}
	}
}
