package dsp_test

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// snrTolerance is in dB: speech segments include up to 25 ms of pause at
// either side, and the noise of a short recording varies.
const snrTolerance = 1.0

func TestSNR(t *testing.T) {
	for _, want := range []float64{10, 30, 60} {
		x, speech := utterance(0.3, 0)
		var power, n float64
		for _, s := range speech {
			for _, v := range x[int(s.Start*dsp.SampleRate):int(s.End*dsp.SampleRate)] {
				power += v * v
				n++
			}
		}
		rms := math.Sqrt(power/n) * math.Pow(10, -want/20)
		for i, v := range signals.Noise(dsp.SampleRate, rms, float64(len(x))/dsp.SampleRate, 3) {
			x[i] += v
		}
		if got := dsp.NewAnalyzer().Analyze(x).Quality.SNR; math.Abs(got-want) > snrTolerance {
			t.Errorf("got %.2f dB, want %g ± %g", got, want, snrTolerance)
		}
	}
}

// Without a pause the dips of the speech are taken for noise, where they are
// deep enough.
func TestSNRWithoutPause(t *testing.T) {
	x := modulated(120, 5, 40, 2)
	if got := dsp.NewAnalyzer().Analyze(x).Quality.SNR; !(got > 10 && got < 45) {
		t.Errorf("deep dips: got %.1f dB, want 10 to 45", got)
	}
	x = modulated(120, 5, 3, 2)
	if got := dsp.NewAnalyzer().Analyze(x).Quality.SNR; !math.IsNaN(got) {
		t.Errorf("steady voice: got %.1f dB, want NaN", got)
	}
}

func TestClipped(t *testing.T) {
	const dur = 1
	voice := func(gain float64) []float64 {
		return signals.Scale(signals.Harmonic(dsp.SampleRate, signals.Constant(110), dur), gain)
	}
	over := func(x []float64) float64 { // share of the samples at or over full scale
		n := 0
		for _, v := range x {
			if math.Abs(v) >= 1 {
				n++
			}
		}
		return float64(n) / float64(len(x))
	}
	for _, c := range []struct {
		name string
		x    []float64
		want float64
	}{
		{"not clipped", voice(0.99), 0},
		{"16 bits, not clipped", signals.Quantize(voice(0.5), 1), 0},
		{"16 bits, quiet", signals.Quantize(voice(0.001), 1), 0},
		{"low tone", signals.Tone(dsp.SampleRate, 100, 0.9, dur), 0},
		{"a square wave is nothing but flat", square(), 1},
		{"by 8 dB", signals.Clip(voice(2.5), 1), over(voice(2.5))},
		{"by 8 dB, then 12 dB down", signals.Scale(signals.Clip(voice(2.5), 1), 0.25), over(voice(2.5))},
		{"by 3 dB, 16 bits", quantized(signals.Clip(voice(1.41), 1)), over(voice(1.41))},
	} {
		got := dsp.Clipped(c.x)
		// Runs of one or two samples are not counted: at most a tenth here.
		if got > c.want*1.001 || got < 0.9*c.want {
			t.Errorf("%s: got %.5f, want %.5f less up to a tenth", c.name, got, c.want)
		}
	}
	x := signals.Clip(voice(2.5), 0.5)
	for i := range x {
		x[i] += 0.2
	}
	if got, want := dsp.Clipped(x), dsp.Clipped(signals.Clip(voice(2.5), 0.5)); math.Abs(got-want) > 1e-12 {
		t.Errorf("with an offset: got %g, want %g", got, want)
	}
}

// quantized rounds x to 16 bits without dither.
func quantized(x []float64) []float64 {
	for i, v := range x {
		x[i] = min(math.Round(v*32768), 32767) / 32768
	}
	return x
}

func square() []float64 {
	x := make([]float64, dsp.SampleRate)
	for i := range x {
		x[i] = 0.8
		if i/200%2 == 1 {
			x[i] = -0.8
		}
	}
	return x
}

func TestBandwidth(t *testing.T) {
	const tolerance = 0.06 // of the band: the resampler's transition and the smoothing of 172 Hz
	for _, sr := range []int{8000, 16000, 32000} {
		// Speech-like: a harmonic voice over 40 dB weaker noise, at the lower rate.
		x := signals.Scale(signals.Harmonic(float64(sr), signals.Constant(120), 1), 0.3)
		for i, v := range signals.Noise(float64(sr), 1e-3, 1, 2) {
			x[i] += v
		}
		y := quantized(dsp.NewResampler(sr, dsp.SampleRate).Resample(nil, x))
		got, want := dsp.NewAnalyzer().Analyze(y).Quality.Bandwidth, float64(sr)/2
		if math.Abs(got-want) > tolerance*want {
			t.Errorf("recorded at %d Hz: got %.0f Hz, want %.0f", sr, got, want)
		}
	}
	if got := dsp.NewAnalyzer().Analyze(signals.Noise(dsp.SampleRate, 0.1, 1, 1)).Quality.Bandwidth; got != dsp.SampleRate/2 {
		t.Errorf("white noise: got %g Hz, want the whole band", got)
	}
	if got := dsp.NewAnalyzer().Analyze(make([]float64, dsp.SampleRate)).Quality.Bandwidth; !math.IsNaN(got) {
		t.Errorf("silence: got %g Hz, want NaN", got)
	}
}
