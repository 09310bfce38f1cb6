package voicescreen

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/voicescreen/voicescreen/dsp"
	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/features"
)

// Channel is one channel of a recording, at its own rate. It is the caller's.
type Channel struct {
	Samples   []float64 // mono, nominally in [-1, 1)
	Rate      int       // Hz
	Truncated bool      // the file ends before what its header announces
	Partial   bool      // the recording goes on beyond what was read
}

// ReadChannel reads one channel of a WAV file at 8 to 192 kHz: the one of that
// number, from 1 on, or the only one for 0. It reads at most the given length
// from the beginning, 0 for the default of AudioOptions.MaxDuration, and its
// memory grows with what it reads, whatever the header says.
//
// The error is ErrAudio for what is no such file or holds no sample, ErrUpload
// if r fails, or ctx's.
func ReadChannel(ctx context.Context, r io.Reader, number int, most time.Duration) (*Channel, error) {
	positive(&most, defaultMaxDuration)
	c, err := readChannel(ctx, r, number, most)
	if err != nil {
		return nil, audioError(err)
	}
	return c, nil
}

// readChannel is ReadChannel but for its errors, which are those of package
// wav, of r, ErrAudio, and ctx's.
func readChannel(ctx context.Context, r io.Reader, number int, most time.Duration) (*Channel, error) {
	wr, err := wav.NewReader(r)
	if err != nil {
		return nil, err
	}
	f := wr.Format()
	o := SubmitOptions{Channel: number}
	if err := o.checkFormat(f); err != nil {
		return nil, err
	}
	c := &Channel{Rate: f.SampleRate}
	limit := maxSamples(f.SampleRate, most)
	first := max(number, 1) - 1
	var x samples
	block := make([]float64, checkBlock*f.Channels)
	for x.n <= limit {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := wr.Read(block)
		for i := first; i < n; i += f.Channels {
			x.add(block[i])
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if x.n == 0 {
		return nil, fmt.Errorf("%w: file holds no samples", ErrAudio)
	}
	c.Partial = x.n > limit
	c.Truncated = wr.Truncated()
	c.Samples = x.join(min(x.n, limit))
	return c, nil
}

// samples collects samples in blocks: a slice that grows by append holds more
// than twice the memory while it does.
type samples struct {
	full  [][]float64
	block []float64
	n     int
}

// sampleBlock is the length of a block. Chosen: 0.5 MB, a second and a half at
// 44.1 kHz.
const sampleBlock = 1 << 16

func (s *samples) add(v float64) {
	if len(s.block) == cap(s.block) {
		if s.block != nil {
			s.full = append(s.full, s.block)
		}
		s.block = make([]float64, 0, sampleBlock)
	}
	s.block = append(s.block, v)
	s.n++
}

// join returns the first n samples in one slice.
func (s *samples) join(n int) []float64 {
	x := make([]float64, 0, n)
	for _, b := range append(s.full, s.block) {
		x = append(x, b[:min(len(b), n-len(x))]...)
	}
	return x
}

// maxSamples is how many samples of a recording are analysed. Rates above
// 48 kHz have no more samples than that one, and so less time.
func maxSamples(rate int, d time.Duration) int {
	return int(min(d.Seconds()*float64(min(rate, 48000)), math.MaxInt32))
}

func checkRate(rate int) error {
	o := SubmitOptions{}
	return o.checkFormat(wav.Format{SampleRate: rate, Channels: 1})
}

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
// schema voice/1. What it returns shares c's samples, and its Analysis is valid
// until the next call. It panics if c.Rate is not from 8 to 192 kHz.
func (m *Measurer) Measure(c *Channel) *features.Recording {
	in := &features.Recording{Samples: c.Samples, Native: c.Samples, NativeRate: c.Rate}
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
	in.Features = features.Extract(in.Analysis)
	return in
}
