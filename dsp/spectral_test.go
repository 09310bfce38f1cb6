package dsp

import (
	"math"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
)

func TestSpectralCountsFrames(t *testing.T) {
	s := NewSpectral()
	var out Analysis
	for _, n := range []int{0, 1, 440, 441, 1323, 44100} {
		s.Frames(noise(1, n), 0, &out)
		want := FrameCount(n)
		if len(out.Level) != want || len(out.Loudness) != want || len(out.Spectrum) != want || len(out.MFCC) != want {
			t.Errorf("%d samples: got %d, %d, %d, %d frames, want %d", n,
				len(out.Level), len(out.Loudness), len(out.Spectrum), len(out.MFCC), want)
		}
	}
}

// TestSpectralMFCCIsCentred: frame i of the track is the HTK frame round the
// sample i·441.
func TestSpectralMFCCIsCentred(t *testing.T) {
	x := noise(2, SampleRate/10)
	var out Analysis
	NewSpectral().Frames(x, 0, &out)
	m := NewMFCC(SampleRate, nil)
	for i := range out.MFCC {
		frame := CopyFrame(make([]float64, m.FrameLen()), x, i*hopSamples-m.FrameLen()/2)
		compare(t, "MFCC", out.MFCC[i][:], m.Coefficients(nil, frame), 0)
	}
}

func TestSpectralRepeats(t *testing.T) {
	s := NewSpectral()
	var a, b Analysis
	x := noise(3, 9000)
	s.Frames(x, 0, &a)
	s.Frames(noise(4, 20000), 0, &b)
	s.Frames(x, 0, &b)
	for i := range a.Level {
		if a.Level[i] != b.Level[i] || a.Loudness[i] != b.Loudness[i] || a.Spectrum[i] != b.Spectrum[i] || a.MFCC[i] != b.MFCC[i] {
			t.Fatalf("got another frame %d after another signal", i)
		}
	}
}

func TestSpectralAllocatesNothing(t *testing.T) {
	s, x := NewSpectral(), noise(1, 8820)
	var out Analysis
	s.Frames(x, 0, &out)
	if n := cost.Allocations(3, func() { s.Frames(x, 0, &out) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// FuzzSpectral: any samples, NaN and infinities among them, give as many
// frames as they should and no panic, and frames far from bad samples are
// untouched.
func FuzzSpectral(f *testing.F) {
	f.Add(uint64(0x7ff8000000000001), uint64(0x7ff0000000000000), 100) // NaN, +Inf
	f.Add(uint64(0x7fefffffffffffff), uint64(0xffefffffffffffff), 9)   // extremes
	f.Add(uint64(1), uint64(0x8000000000000000), 2000)                 // subnormal, −0
	s := NewSpectral()
	f.Fuzz(func(t *testing.T, a, b uint64, at int) {
		x := noise(5, 6000)
		var clean, out Analysis
		s.Frames(x, 0, &clean)
		at = ((at % 3000) + 3000) % 3000
		x[at], x[at+1] = math.Float64frombits(a), math.Float64frombits(b)
		s.Frames(x, 0, &out)
		if len(out.Level) != FrameCount(len(x)) {
			t.Fatalf("got %d frames", len(out.Level))
		}
		for i := (at+levelFrame)/hopSamples + 3; i < len(out.Level); i++ {
			if out.Level[i] != clean.Level[i] || out.MFCC[i] != clean.MFCC[i] || out.Spectrum[i] != clean.Spectrum[i] {
				t.Fatalf("got frame %d changed by the samples at %d", i, at)
			}
		}
	})
}

func BenchmarkSpectral(b *testing.B) {
	x := noise(1, SampleRate)
	s := NewSpectral()
	var out Analysis
	b.ReportAllocs()
	for b.Loop() {
		s.Frames(x, 0, &out)
	}
	reportAudio(b, len(x))
}

func BenchmarkSpectrum(b *testing.B) {
	x := noise(1, SampleRate)
	s := newSpectrometer(SampleRate, spectrumFrame)
	for b.Loop() {
		for i := range FrameCount(len(x)) {
			CopyFrame(s.frame, x, i*hopSamples-spectrumFrame/2)
			s.measure(!s.analyze(s.frame))
		}
	}
	reportAudio(b, len(x))
}

func BenchmarkLoudness(b *testing.B) {
	s := NewSpectral()
	CopyFrame(s.spectrum.frame, noise(1, spectrumFrame), 0)
	s.spectrum.analyze(s.spectrum.frame)
	for b.Loop() {
		for range FrameCount(SampleRate) {
			s.loudness.of(s.spectrum.power)
		}
	}
	reportAudio(b, SampleRate)
}

func BenchmarkLevel(b *testing.B) {
	x := noise(1, SampleRate)
	all, meter := whole(x), levelMeter{}
	for b.Loop() {
		meter.start(&all, 0)
		for i := range FrameCount(len(x)) {
			meter.frame(&all, i)
		}
	}
	reportAudio(b, len(x))
}
