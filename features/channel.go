package features

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/go-audio/audio"

	"github.com/voicescreen/voicescreen/dsp/audiofile"
	"github.com/voicescreen/voicescreen/dsp/wav"
)

// The sample rates that are analysed, in Hz. Below the first there is no
// second formant; above the second are no recordings of voices.
const (
	MinSampleRate = 8000
	MaxSampleRate = 192000
)

// MaxDuration is how much of a recording is read where the caller states no
// other length. Chosen: longer than prompted speech.
const MaxDuration = 10 * time.Minute

// Channel is one channel of a recording, at its own rate. It is the caller's.
type Channel struct {
	Samples   []float64 // mono, nominally in [-1, 1)
	Rate      int       // Hz
	Truncated bool      // the file ends before what its header announces
	Partial   bool      // the recording goes on beyond Samples
	Lossy     bool      // the recording was encoded with loss, as MP3 and Opus are
}

// An UnsuitableError says why a recording that can be read is not analysed: its
// sample rate, its number of channels, or that it is empty.
type UnsuitableError string

func (e UnsuitableError) Error() string { return "features: " + string(e) }

// ReadChannel reads one channel of a recording at 8 to 192 kHz, in any format
// that package dsp/audiofile reads, which it finds in the content. Channels are
// numbered from 1; 0 means the only channel. ReadChannel reads at most the
// length most from the beginning, or MaxDuration where most is not positive,
// and of rates above 48 kHz only as many samples as that length has at 48 kHz.
// Memory grows with what is read, whatever the header says.
//
// The error is one of packages audiofile and wav for a broken file or a format
// that is not read, an UnsuitableError, r's, or ctx's.
func ReadChannel(ctx context.Context, r io.Reader, number int, most time.Duration) (*Channel, error) {
	if most <= 0 {
		most = MaxDuration
	}
	ar, err := audiofile.NewReader(r)
	if err != nil {
		return nil, err
	}
	f := ar.Format()
	if err := CheckFormat(f.Format, number); err != nil {
		return nil, err
	}
	limit := maxSamples(f.SampleRate, most)
	first := max(number, 1) - 1
	var x samples
	block := make([]float64, readBlock*f.Channels)
	for x.n <= limit {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := ar.Read(block)
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
		return nil, UnsuitableError("file holds no samples")
	}
	return &Channel{
		Samples:   x.join(min(x.n, limit)),
		Rate:      f.SampleRate,
		Truncated: ar.Truncated(),
		Partial:   x.n > limit,
		Lossy:     f.Lossy,
	}, nil
}

// FromBuffer copies one channel of samples in memory. Channels are numbered
// from 1; 0 means the only channel. An IntBuffer must state its SourceBitDepth;
// the samples of float buffers are nominally in [-1, 1). The buffer is not
// changed.
//
// The error is one of package wav for a buffer without a format or a channel
// that is not there, see [wav.FromBuffer], or an UnsuitableError for a rate that
// is not from 8 to 192 kHz.
func FromBuffer(buf audio.Buffer, number int) (*Channel, error) {
	a, err := wav.FromBuffer(buf, number)
	if err != nil {
		return nil, err
	}
	if err := checkRate(a.SampleRate); err != nil {
		return nil, err
	}
	return &Channel{Samples: a.Samples, Rate: a.SampleRate}, nil
}

// CheckFormat returns an UnsuitableError unless a channel of a recording of the
// format can be analysed. Channels are numbered from 1; 0 means the only
// channel. An error about the channel is a [wav.ChannelError] too.
func CheckFormat(f wav.Format, number int) error {
	if err := checkRate(f.SampleRate); err != nil {
		return err
	}
	switch {
	case number == 0 && f.Channels != 1:
		return &channelError{UnsuitableError(fmt.Sprintf("recording has %d channels, want 1", f.Channels)), wav.ChannelError{Channels: f.Channels}}
	case number < 0 || number > f.Channels:
		return &channelError{UnsuitableError(fmt.Sprintf("channel %d of a recording with %d", number, f.Channels)), wav.ChannelError{Channels: f.Channels, Channel: number}}
	}
	return nil
}

// channelError is an UnsuitableError that is a [wav.ChannelError] too.
type channelError struct {
	UnsuitableError
	channel wav.ChannelError
}

func (e *channelError) Unwrap() []error { return []error{e.UnsuitableError, &e.channel} }

func checkRate(rate int) error {
	if rate < MinSampleRate || rate > MaxSampleRate {
		return UnsuitableError(fmt.Sprintf("sample rate is %d Hz, want %d to %d", rate, MinSampleRate, MaxSampleRate))
	}
	return nil
}

// Limit returns as much of c as ReadChannel reads of the same recording. The
// result shares the samples of c. The error is an UnsuitableError where the
// rate of c is not from 8 to 192 kHz.
func (c *Channel) Limit(most time.Duration) (*Channel, error) {
	if err := checkRate(c.Rate); err != nil {
		return nil, err
	}
	part := *c
	if n := maxSamples(c.Rate, most); len(part.Samples) > n {
		part.Samples, part.Partial = part.Samples[:n], true
	}
	return &part, nil
}

// Seconds is the length of c.
func (c *Channel) Seconds() float64 { return float64(len(c.Samples)) / float64(c.Rate) }

// maxSamples is how many samples of a recording are analysed. Rates above
// 48 kHz have as many samples as 48 kHz, and so less time: this bounds memory.
func maxSamples(rate int, d time.Duration) int {
	return int(min(d.Seconds()*float64(min(rate, 48000)), math.MaxInt32))
}

// readBlock is how many frames are decoded at a time. Chosen: a Read of some
// KB.
const readBlock = 4096

// samples collects samples in blocks: a slice that grows by append holds more
// than twice the memory while it grows.
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
