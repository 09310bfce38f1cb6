package features

import "github.com/voicescreen/voicescreen/dsp"

// A Measurer measures recordings one after the other, and keeps its memory from
// one to the next. It is not safe for concurrent use.
type Measurer struct {
	analyzer  *dsp.Analyzer
	resampler *dsp.Resampler // from the rate below
	from      int            // Hz; 0 at first
}

// NewMeasurer returns a Measurer.
func NewMeasurer() *Measurer { return &Measurer{analyzer: dsp.NewAnalyzer()} }

// Measure brings c to dsp.SampleRate, analyses it and computes the features of
// schema voice/1. The result shares the samples of c, and its Analysis is valid
// until the next call. Measure panics if c.Rate is not from 8 to 192 kHz.
func (m *Measurer) Measure(c *Channel) *Recording {
	in := &Recording{Samples: c.Samples, Native: c.Samples, NativeRate: c.Rate, Lossy: c.Lossy}
	if c.Rate != dsp.SampleRate {
		if m.from != c.Rate {
			m.resampler, m.from = dsp.NewResampler(c.Rate, dsp.SampleRate), c.Rate
		}
		in.Samples = m.resampler.Resample(nil, c.Samples)
	}
	in.Analysis = m.analyzer.Analyze(in.Samples)
	if c.Rate != dsp.SampleRate { // resampling rounds what was cut off
		in.Analysis.Quality.Clipped = dsp.Clipped(c.Samples)
	}
	in.Features = Extract(in.Analysis)
	return in
}
