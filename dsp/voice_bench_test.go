package dsp_test

import (
	"testing"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/internal/proof/signals"
)

// benchVoice is 12 s of a voice that speaks two thirds of the time.
func benchVoice() []float64 {
	var x []float64
	for i := range 4 {
		x = append(x, signals.Sequence(dsp.SampleRate, signals.VoicedUnvoiced, uint64(i))...)
	}
	return x
}

// perSecond reports how many seconds of audio are handled in a second.
func perSecond(b *testing.B, x []float64) {
	seconds := float64(len(x)) / dsp.SampleRate
	b.ReportMetric(seconds*float64(b.N)/b.Elapsed().Seconds(), "audio-s/s")
	b.ReportMetric(1e3*b.Elapsed().Seconds()/float64(b.N)/seconds, "ms/audio-s")
}

func BenchmarkPitch(b *testing.B) {
	x := benchVoice()
	p := dsp.NewPitch(dsp.SampleRate, nil)
	var f0 []float64
	b.ReportAllocs()
	for b.Loop() {
		f0 = p.Track(f0, x)
	}
	perSecond(b, x)
}

func BenchmarkPulses(b *testing.B) {
	x := benchVoice()
	f0 := dsp.NewPitch(dsp.SampleRate, nil).Track(nil, x)
	p := dsp.NewPulses(dsp.SampleRate)
	var t []float64
	b.ReportAllocs()
	for b.Loop() {
		t = p.Find(t, x, f0)
	}
	perSecond(b, x)
}

func BenchmarkPerturbation(b *testing.B) {
	x := benchVoice()
	f0 := dsp.NewPitch(dsp.SampleRate, nil).Track(nil, x)
	p := dsp.NewPulses(dsp.SampleRate)
	t := p.Find(nil, x, f0)
	b.ReportAllocs()
	for b.Loop() {
		dsp.MeasureJitter(t)
		dsp.MeasureShimmer(t, p.Amplitudes())
	}
	perSecond(b, x)
}

func BenchmarkHNR(b *testing.B) {
	x := benchVoice()
	f0 := dsp.NewPitch(dsp.SampleRate, nil).Track(nil, x)
	h := dsp.NewHNR(dsp.SampleRate)
	var t []float64
	b.ReportAllocs()
	for b.Loop() {
		t = h.Track(t, x, f0)
	}
	perSecond(b, x)
}

func BenchmarkCPPS(b *testing.B) {
	x := benchVoice()
	f0 := dsp.NewPitch(dsp.SampleRate, nil).Track(nil, x)
	c := dsp.NewCPPS(dsp.SampleRate)
	b.ReportAllocs()
	for b.Loop() {
		c.Measure(x, f0)
	}
	perSecond(b, x)
}

func BenchmarkVoice(b *testing.B) {
	x := benchVoice()
	p, q, h, c := dsp.NewPitch(dsp.SampleRate, nil), dsp.NewPulses(dsp.SampleRate), dsp.NewHNR(dsp.SampleRate), dsp.NewCPPS(dsp.SampleRate)
	var f0, t, r []float64
	b.ReportAllocs()
	for b.Loop() {
		f0 = p.Track(f0, x)
		t = q.Find(t, x, f0)
		dsp.MeasureJitter(t)
		dsp.MeasureShimmer(t, q.Amplitudes())
		r = h.Track(r, x, f0)
		c.Measure(x, f0)
	}
	perSecond(b, x)
}
