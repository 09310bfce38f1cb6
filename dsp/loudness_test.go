package dsp_test

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// loudnessOf is the loudness of a frame of 20 ms of x under a Hamming window.
func loudnessOf(x []float64, rate float64) float64 {
	n := int(0.020 * rate)
	size := 64
	for size < n {
		size *= 2
	}
	frame := make([]float64, size)
	dsp.Multiply(frame[:n], x[:n], dsp.Hamming(n))
	return dsp.NewLoudness(rate, size).Of(dsp.NewFFT(size).Power(nil, frame))
}

// The values are those of openSMILE 3.0.1 (eGeMAPSv02, loudness_sma3_amean) for sines of
// amplitude ½ at 44.1 kHz.
func TestLoudnessOfTones(t *testing.T) {
	for _, c := range []struct{ f, want float64 }{{220, 1.211}, {440, 1.778}, {1000, 2.169}, {5000, 2.330}} {
		got := loudnessOf(signals.Tone(44100, c.f, 0.5, 0.1), 44100)
		const tolerance = 0.12 // relative; the windows and the exponent, 0.33 in place of ⅓, differ
		if math.Abs(got/c.want-1) > tolerance {
			t.Errorf("%v Hz: got %.3f, want %.3f", c.f, got, c.want)
		}
	}
}

// Eight times the power is twice as loud, half of the samples are less loud, and silence
// is not loud at all.
func TestLoudnessScale(t *testing.T) {
	x := signals.Tone(44100, 500, 0.1, 0.1)
	a, b := loudnessOf(x, 44100), loudnessOf(signals.Scale(x, math.Sqrt(8)), 44100)
	if math.Abs(b/a-2) > 1e-9 {
		t.Errorf("eight times the power is %v times as loud, want 2", b/a)
	}
	if c := loudnessOf(signals.Tone(16000, 500, 0.1, 0.1), 16000); !(c > 0.3*a && c < 0.8*a) {
		t.Errorf("got a loudness of %v at 16 kHz and %v at 44.1 kHz", c, a)
	}
	if got := loudnessOf(make([]float64, 4410), 44100); got != 0 {
		t.Errorf("got a loudness of silence of %v, want 0", got)
	}
}

// Without pre-emphasis the cepstrum of a frame is that of the spectrum itself: a louder
// low band raises c1. The length of the frame is that of the option.
func TestMFCCWithoutPreEmphasis(t *testing.T) {
	m := dsp.NewMFCC(16000, &dsp.MFCCOptions{Frame: 0.020, PreEmphasis: -1})
	if m.FrameLen() != 320 {
		t.Fatalf("got a frame of %d samples, want 320", m.FrameLen())
	}
	x := signals.Noise(16000, 0.1, 0.020, 1)[:320]
	plain := m.Coefficients(nil, x)
	emphasised := dsp.NewMFCC(16000, &dsp.MFCCOptions{Frame: 0.020}).Coefficients(nil, x)
	if !(plain[1] > emphasised[1]+5) {
		t.Errorf("got c1 of %v without and %v with pre-emphasis, want the first to be higher", plain[1], emphasised[1])
	}
	y := make([]float64, len(x)) // pre-emphasis within the frame, by hand
	for j := range y {
		y[j] = x[j] - 0.97*x[max(j-1, 0)]
	}
	for k, got := range m.Coefficients(nil, y) {
		if math.Abs(got-emphasised[k]) > 1e-9*(1+math.Abs(got)) {
			t.Errorf("c%d: got %v of an emphasised frame, want %v", k, got, emphasised[k])
		}
	}
}

func TestImpossibleLoudnessAndMFCCPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"loudness at 2 kHz":       func() { dsp.NewLoudness(2000, 1024) },
		"loudness of 32 points":   func() { dsp.NewLoudness(44100, 32) },
		"MFCC of no frame":        func() { dsp.NewMFCC(16000, &dsp.MFCCOptions{Frame: -1}) },
		"MFCC of an hour":         func() { dsp.NewMFCC(16000, &dsp.MFCCOptions{Frame: 3600}) },
		"MFCC of an undefined":    func() { dsp.NewMFCC(16000, &dsp.MFCCOptions{Frame: math.NaN()}) },
		"MFCC with emphasis of 2": func() { dsp.NewMFCC(16000, &dsp.MFCCOptions{PreEmphasis: 2}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			f()
		}()
	}
}
