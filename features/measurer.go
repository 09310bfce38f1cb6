package features

import "github.com/voicescreen/voicescreen/dsp"

// A Measurer measures recordings one after the other, and keeps its memory from
// one to the next. It is not safe for concurrent use.
type Measurer struct {
	analyzer  *dsp.Analyzer
	resampler *dsp.Resampler // from the rate below
	from      int            // Hz; 0 at first

	streamed extraction // of the latest Source
	sink     dsp.Sink   // fills streamed
}

// NewMeasurer returns a Measurer.
func NewMeasurer() *Measurer {
	m := &Measurer{analyzer: dsp.NewAnalyzer()}
	e := &m.streamed
	m.sink = dsp.Sink{Begin: e.begin, Wants: e.wants, Frame: e.frame, HNR: e.harmonics, Formants: e.resonances}
	return m
}

// Measure brings c to dsp.SampleRate, analyses it and computes the features of
// schema voice/1. The result shares the samples of c, or has a copy with the values that they
// count as ([dsp.Bounded]). Its Analysis is valid until the next call. Measure panics if
// c.Rate is not from 8 to 192 kHz.
func (m *Measurer) Measure(c *Channel) *Recording {
	x := dsp.Bounded(nil, c.Samples)
	in := &Recording{Samples: x, Native: x, NativeRate: c.Rate, Lossy: c.Lossy}
	if c.Rate != dsp.SampleRate {
		m.resampleFrom(c.Rate)
		in.Samples = m.resampler.Resample(nil, x)
	}
	in.Analysis = m.analyzer.Analyze(in.Samples)
	if c.Rate != dsp.SampleRate { // resampling rounds what was cut off
		in.Analysis.Quality.Clipped = dsp.Clipped(x)
	}
	in.Features = Extract(in.Analysis)
	return in
}

// MeasureSource is [Measurer.Measure] of a recording that is read in blocks. Memory grows
// by about 90 bytes for each 10 ms. The result has no Samples and no Native, and of its
// Analysis Level, Loudness, HNR, Spectrum, MFCC and Formants are empty. It reads src,
// as its scorers may, until the next call.
//
// The error is that of src, or [dsp.ErrChanged].
func (m *Measurer) MeasureSource(src *Source) (*Recording, error) {
	in := &Recording{Source: src, NativeRate: src.Rate(), Lossy: src.Lossy()}
	var err error
	if src.Rate() == dsp.SampleRate {
		in.Analysis, err = m.analyzer.Stream(src, &src.survey, &m.sink)
	} else {
		m.resampleFrom(src.Rate())
		tap := &clipTap{Source: src}
		in.Analysis, err = m.analyzer.Stream(m.resampler.Samples(tap), nil, &m.sink)
		if err == nil { // resampling rounds what was cut off
			in.Analysis.Quality.Clipped = tap.share
		}
	}
	if err != nil {
		return nil, err
	}
	in.Features = m.streamed.vector()
	m.streamed.release()
	return in, nil
}

func (m *Measurer) resampleFrom(rate int) {
	if m.from != rate {
		m.resampler, m.from = dsp.NewResampler(rate, dsp.SampleRate), rate
	}
}

// A clipTap counts what is clipped in a Source the first time it is read to its end.
type clipTap struct {
	*Source
	clipping *dsp.Clipping
	counted  bool
	share    float64
}

func (t *clipTap) Rewind() error {
	t.clipping = dsp.NewClipping(&t.survey)
	return t.Source.Rewind()
}

func (t *clipTap) Read(dst []float64) (int, error) {
	n, err := t.Source.Read(dst)
	switch {
	case t.counted:
	case n == 0 && err != nil:
		t.share, t.counted = t.clipping.Share(), true
	default:
		t.clipping.Add(dst[:n])
	}
	return n, err
}
