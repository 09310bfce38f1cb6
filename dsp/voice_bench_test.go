package dsp

import (
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// benchVoice is 12 s of a voice that speaks two thirds of the time.
func benchVoice() []float64 {
	var x []float64
	for i := range 4 {
		x = append(x, signals.Sequence(SampleRate, signals.VoicedUnvoiced, uint64(i))...)
	}
	return x
}

// perSecond reports how many seconds of audio are handled in a second.
func perSecond(b *testing.B, x []float64) {
	seconds := float64(len(x)) / SampleRate
	b.ReportMetric(seconds*float64(b.N)/b.Elapsed().Seconds(), "audio-s/s")
	b.ReportMetric(1e3*b.Elapsed().Seconds()/float64(b.N)/seconds, "ms/audio-s")
}

func BenchmarkPitch(b *testing.B) {
	x := benchVoice()
	p := NewPitch(SampleRate, nil)
	var f0 []float64
	b.ReportAllocs()
	for b.Loop() {
		f0 = p.Track(f0, x)
	}
	perSecond(b, x)
}

func BenchmarkPulses(b *testing.B) {
	x := benchVoice()
	f0 := NewPitch(SampleRate, nil).Track(nil, x)
	p := NewPulses(SampleRate)
	var t []float64
	b.ReportAllocs()
	for b.Loop() {
		t = p.Find(t, x, f0)
	}
	perSecond(b, x)
}

func BenchmarkPerturbation(b *testing.B) {
	x := benchVoice()
	f0 := NewPitch(SampleRate, nil).Track(nil, x)
	p := NewPulses(SampleRate)
	t := p.Find(nil, x, f0)
	b.ReportAllocs()
	for b.Loop() {
		MeasureJitter(t)
		MeasureShimmer(t, p.Amplitudes())
	}
	perSecond(b, x)
}

func BenchmarkHNR(b *testing.B) {
	x := benchVoice()
	f0 := NewPitch(SampleRate, nil).Track(nil, x)
	h := NewHNR(SampleRate)
	var t []float64
	b.ReportAllocs()
	for b.Loop() {
		t = h.Track(t, x, f0)
	}
	perSecond(b, x)
}

func BenchmarkCPPS(b *testing.B) {
	x := benchVoice()
	f0 := NewPitch(SampleRate, nil).Track(nil, x)
	c := NewCPPS(SampleRate)
	b.ReportAllocs()
	for b.Loop() {
		c.Measure(x, f0)
	}
	perSecond(b, x)
}

func BenchmarkVoice(b *testing.B) {
	x := benchVoice()
	p, q, h, c := NewPitch(SampleRate, nil), NewPulses(SampleRate), NewHNR(SampleRate), NewCPPS(SampleRate)
	var f0, t, r []float64
	b.ReportAllocs()
	for b.Loop() {
		f0 = p.Track(f0, x)
		t = q.Find(t, x, f0)
		MeasureJitter(t)
		MeasureShimmer(t, q.Amplitudes())
		r = h.Track(r, x, f0)
		c.Measure(x, f0)
	}
	perSecond(b, x)
}
