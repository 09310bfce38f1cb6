package dsp

import "testing"

// reportAudio reports how many seconds of audio a benchmark handled per second,
// for passes over a signal of n samples at SampleRate.
func reportAudio(b *testing.B, n int) {
	audio := float64(n) / SampleRate * float64(b.N)
	b.ReportMetric(audio/b.Elapsed().Seconds(), "audio_s/s")
	b.ReportMetric(1e3*b.Elapsed().Seconds()/audio, "ms/audio_s")
}

func BenchmarkSpectral(b *testing.B) {
	x := noise(1, SampleRate)
	s := NewSpectral()
	var out Analysis
	b.ReportAllocs()
	for b.Loop() {
		s.Frames(x, &out)
	}
	reportAudio(b, len(x))
}
