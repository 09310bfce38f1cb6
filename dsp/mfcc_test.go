package dsp

import (
	"math"
	"testing"
)

// mfccTolerance is the error allowed in a coefficient or log energy, relative
// to it or, below 1, absolute: ours and the stored values differ in the order
// of their sums alone.
const mfccTolerance = 1e-9

func closeTo(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*math.Max(1, math.Abs(want))
}

func compare(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !closeTo(got[i], want[i], tolerance) {
			t.Errorf("%s: got [%d] = %v, want %v", what, i, got[i], want[i])
		}
	}
}

func TestMFCCEqualsStoredFrames(t *testing.T) {
	var frames []struct {
		Signal       string
		RateHz       float64 `json:"rate_hz"`
		Samples      []float64
		LogMel, MFCC []float64
	}
	readJSON(t, "testdata/mfcc_htk.json", &frames)
	if len(frames) == 0 {
		t.Fatal("got no frames")
	}
	for _, f := range frames {
		m := NewMFCC(f.RateHz, nil)
		for i := range f.Samples {
			f.Samples[i] /= 32767
		}
		got := m.Coefficients(nil, f.Samples)
		compare(t, f.Signal+" mfcc", got, f.MFCC, mfccTolerance)
		compare(t, f.Signal+" log mel", m.logs, f.LogMel, mfccTolerance)
	}
}

// Frames are 25 ms long and 10 ms apart, in whole samples (The HTK Book 3.4,
// section 5.2).
func TestMFCCFrames(t *testing.T) {
	for _, c := range []struct {
		sr                float64
		frame, hop, count int // of two seconds
	}{{8000, 200, 80, 198}, {16000, 400, 160, 198}, {44100, 1103, 441, 198}} {
		m := NewMFCC(c.sr, nil)
		if n := m.FrameCount(int(2 * c.sr)); m.FrameLen() != c.frame || m.HopLen() != c.hop || n != c.count {
			t.Errorf("%g Hz: got %d frames of %d samples every %d, want %d of %d every %d", c.sr, n, m.FrameLen(), m.HopLen(), c.count, c.frame, c.hop)
		}
		if n := m.FrameCount(c.frame - 1); n != 0 {
			t.Errorf("%g Hz: got %d frames of too few samples, want 0", c.sr, n)
		}
	}
}

func TestMFCCOfSilenceIsZero(t *testing.T) {
	m := NewMFCC(44100, nil)
	for i, c := range m.Coefficients(nil, make([]float64, m.FrameLen())) {
		if c != 0 {
			t.Errorf("got c%d = %v, want 0", i, c)
		}
	}
}

func TestMFCCOfNaNIsNaN(t *testing.T) {
	m := NewMFCC(16000, nil)
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
	m := NewMFCC(44100, &MFCCOptions{Filters: 40, Coefficients: 20, Low: 50, High: 15000})
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
		if got := MelToHz(HzToMel(f)); !closeTo(got, f, 1e-12) {
			t.Errorf("got %v Hz, want %v", got, f)
		}
	}
	// 1000 mel is 1000 Hz by construction of the scale, to the rounding of 1127.
	if got := HzToMel(1000); math.Abs(got-1000) > 0.02 {
		t.Errorf("got %v mel for 1000 Hz, want 1000", got)
	}
}

// TestFilterBankEqualsDefinition writes the triangles down slowly.
func TestFilterBankEqualsDefinition(t *testing.T) {
	const sr, nfft, n = 16000.0, 512, 20
	for _, band := range [][2]float64{{0, 8000}, {300, 3400}, {60, 7999}} {
		b := newFilterBank(sr, nfft, n, band[0], band[1], HzToMel)
		p := noise(5, nfft/2+1)
		for k := range p {
			p[k] = math.Abs(p[k])
		}
		got := make([]float64, n)
		b.energies(got, p[:b.lastBins])
		edge := func(j int) float64 {
			return HzToMel(band[0]) + (HzToMel(band[1])-HzToMel(band[0]))*float64(j)/(n+1)
		}
		want := make([]float64, n)
		for m := range want {
			for k := 1; k < nfft/2; k++ {
				x := HzToMel(float64(k) * sr / nfft)
				up := (x - edge(m)) / (edge(m+1) - edge(m))
				down := (edge(m+2) - x) / (edge(m+2) - edge(m+1))
				want[m] += p[k] * math.Max(0, math.Min(up, down))
			}
		}
		compare(t, "filters", got, want, 1e-12)
	}
}

func BenchmarkMFCC(b *testing.B) {
	x := noise(1, SampleRate)
	m := NewMFCC(SampleRate, nil)
	c := make([]float64, NumMFCC)
	b.ReportAllocs()
	for b.Loop() {
		for i := range m.FrameCount(len(x)) {
			m.Coefficients(c, x[i*m.HopLen():][:m.FrameLen()])
		}
	}
	reportAudio(b, len(x))
}
