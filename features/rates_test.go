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

// A voice that ends at 4 kHz, as behind a telephone, with noise of one density over all that
// each rate holds: where the resampler ends the noise is not where the sound ends. And one
// that fills the band of the rate.
func TestBandwidthDoesNotDependOnTheRate(t *testing.T) {
	for _, rate := range []int{11025, 16000, 22050, 32000, 44100, 48000, 96000} {
		for _, level := range []float64{1e-3, 1e-4, 1e-5} {
			for _, end := range []float64{4000, float64(min(rate, 44100)) / 2.2} {
				x := signals.Noise(float64(rate), level*math.Sqrt(float64(rate)/44100), 3, 1)
				for i := range x {
					second := float64(i) / float64(rate)
					syllable := max(math.Sin(4*math.Pi*second), 0)
					for f := 125.0; syllable > 0 && f <= end; f += 125 {
						x[i] += 0.01 * syllable * syllable * math.Sin(2*math.Pi*f*second+f*f)
					}
				}
				over := 450.0 // four bins are 172 Hz
				if end != 4000 {
					over = 1200 // nothing hides the skirt of the window, which falls to −90 dB within a kHz
				}
				if got := measured(t, x, rate)("quality.bandwidth_hz"); !(got > end-450 && got < end+over) {
					t.Errorf("%d Hz, noise of %v: got a bandwidth of %.0f Hz, want %.0f", rate, level, got, end)
				}
			}
		}
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
