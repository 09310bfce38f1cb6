package dsp_test

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
)

// mfccTolerance is the error allowed in a coefficient or log energy, relative
// to it or, below 1, absolute: ours and the stored values differ in the order
// of their sums alone.
const mfccTolerance = 1e-9

// Frames are 25 ms long and 10 ms apart, in whole samples (The HTK Book 3.4,
// section 5.2).
func TestMFCCFrames(t *testing.T) {
	for _, c := range []struct {
		sr                float64
		frame, hop, count int // of two seconds
	}{{8000, 200, 80, 198}, {16000, 400, 160, 198}, {44100, 1103, 441, 198}} {
		m := dsp.NewMFCC(c.sr, nil)
		if n := m.FrameCount(int(2 * c.sr)); m.FrameLen() != c.frame || m.HopLen() != c.hop || n != c.count {
			t.Errorf("%g Hz: got %d frames of %d samples every %d, want %d of %d every %d", c.sr, n, m.FrameLen(), m.HopLen(), c.count, c.frame, c.hop)
		}
		if n := m.FrameCount(c.frame - 1); n != 0 {
			t.Errorf("%g Hz: got %d frames of too few samples, want 0", c.sr, n)
		}
	}
}

func TestMFCCOfSilenceIsZero(t *testing.T) {
	m := dsp.NewMFCC(44100, nil)
	for i, c := range m.Coefficients(nil, make([]float64, m.FrameLen())) {
		if c != 0 {
			t.Errorf("got c%d = %v, want 0", i, c)
		}
	}
}

func TestMFCCOfNaNIsNaN(t *testing.T) {
	m := dsp.NewMFCC(16000, nil)
	x := noise(1, m.FrameLen())
	x[17] = math.NaN()
	for i, c := range m.Coefficients(nil, x) {
		if !math.IsNaN(c) {
			t.Errorf("got c%d = %v, want NaN", i, c)
		}
	}
}

// A gain of 20 dB adds the same to every log
// energy, so it changes c0 alone.
func TestMFCCOfGain(t *testing.T) {
	m := dsp.NewMFCC(44100, &dsp.MFCCOptions{Filters: 40, Coefficients: 20, Low: 50, High: 15000})
	x := noise(2, m.FrameLen())
	a := m.Coefficients(nil, x)
	for i := range x {
		x[i] *= 10
	}
	b := m.Coefficients(nil, x)
	a[0] += math.Sqrt(2.0/40) * 40 * 2 * math.Ln10
	compare(t, "20 dB", b, a, mfccTolerance)
}

func TestMelScale(t *testing.T) {
	for _, f := range []float64{0, 20, 700, 1000, 8000, 22050} {
		if got := dsp.MelToHz(dsp.HzToMel(f)); !closeTo(got, f, 1e-12) {
			t.Errorf("got %v Hz, want %v", got, f)
		}
	}
	// 1000 mel is 1000 Hz by construction of the scale, to the rounding of 1127.
	if got := dsp.HzToMel(1000); math.Abs(got-1000) > 0.02 {
		t.Errorf("got %v mel for 1000 Hz, want 1000", got)
	}
}

func TestMFCCPanics(t *testing.T) {
	for name, call := range map[string]func(){
		"rate":  func() { dsp.NewMFCC(math.NaN(), nil) },
		"band":  func() { dsp.NewMFCC(16000, &dsp.MFCCOptions{High: 9000}) },
		"frame": func() { dsp.NewMFCC(16000, nil).Coefficients(nil, make([]float64, 399)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: got no panic", name)
				}
			}()
			call()
		}()
	}
}

func BenchmarkMFCC(b *testing.B) {
	x := noise(1, dsp.SampleRate)
	m := dsp.NewMFCC(dsp.SampleRate, nil)
	c := make([]float64, dsp.NumMFCC)
	b.ReportAllocs()
	for b.Loop() {
		for i := range m.FrameCount(len(x)) {
			m.Coefficients(c, x[i*m.HopLen():][:m.FrameLen()])
		}
	}
	reportAudio(b, len(x))
}
