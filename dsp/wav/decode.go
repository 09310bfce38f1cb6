package wav

import "io"

// Audio is one channel of a recording.
type Audio struct {
	Format              // of the file; Channels counts those of the file, not of Samples
	Samples   []float64 // one channel, in the scale of Reader.Read
	Truncated bool      // whether the file ended before the samples that its header announces
}

// Seconds is the duration of the samples in seconds.
func (a *Audio) Seconds() float64 { return float64(len(a.Samples)) / float64(a.SampleRate) }

// DecodeOptions are the settings of [Decode]. Nil and zero fields mean the default.
type DecodeOptions struct {
	// Channel is the number of the channel to return, from 1 on. Default: the
	// recording must be mono.
	Channel int

	// MaxSamples is the largest number of samples of the channel. A longer
	// recording gives ErrTooLong. Default: no limit.
	MaxSamples int
}

const (
	// blockSamples is the size of the pieces in which Decode collects samples:
	// 256 KiB each, chosen so that the last, partly empty one costs little.
	blockSamples = 32 << 10

	// maxFirstBlock is the largest number of samples for which Decode allocates
	// memory before it reads them: 128 MiB. Chosen: it holds six minutes, and a
	// sparse file of any size is harmless.
	maxFirstBlock = 16 << 20
)

// Decode reads a whole WAV file from r and returns one channel of it, which may be
// empty. The result belongs to the caller. The errors are those of [NewReader] and
// [Reader.Read] except io.EOF, a [*ChannelError] for a missing or ambiguous channel,
// and [ErrTooLong]. With an error the result is nil.
//
// At its peak Decode holds twice the memory of the samples. It holds once that memory
// if r has a method Len or Seek that gives the number of bytes, as a file and a
// bytes.Reader do.
func Decode(r io.Reader, opts *DecodeOptions) (*Audio, error) {
	if opts == nil {
		opts = &DecodeOptions{}
	}
	there := remaining(r)
	wr, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	f := wr.Format()
	first, err := channelIndex(f.Channels, opts.Channel)
	if err != nil {
		return nil, err
	}
	room := int64(blockSamples / 8)
	if there > 0 {
		room = min(there/int64(f.frameBytes()), maxFirstBlock)
	}
	if opts.MaxSamples > 0 {
		room = min(room, int64(opts.MaxSamples))
	}
	samples, err := collect(wr, make([]float64, 0, room+1), first, opts.MaxSamples)
	if err != nil {
		return nil, err
	}
	return &Audio{Format: f, Samples: samples, Truncated: wr.Truncated()}, nil
}

// remaining is the number of bytes that r still has, and 0 if that is unknown.
func remaining(r io.Reader) int64 {
	switch r := r.(type) {
	case interface{ Len() int }:
		return int64(r.Len())
	case io.Seeker:
		here, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return 0
		}
		end, err := r.Seek(0, io.SeekEnd)
		if err != nil {
			return 0
		}
		if _, err := r.Seek(here, io.SeekStart); err != nil {
			return 0
		}
		return end - here
	}
	return 0
}

// channelIndex returns the index in a frame of the channel with the given number, 0
// meaning the only one.
func channelIndex(channels, channel int) (int, error) {
	if channel == 0 && channels == 1 {
		return 0, nil
	}
	if channel < 1 || channel > channels {
		return 0, &ChannelError{Channels: channels, Channel: channel}
	}
	return channel - 1, nil
}

// collect reads the samples of the channel at index first into block and further
// blocks. A limit of 0 means no limit.
func collect(r *Reader, block []float64, first, limit int) ([]float64, error) {
	step := r.format.Channels
	var frames []float64
	if step > 1 {
		frames = make([]float64, blockSamples/8/step*step)
	}
	var full [][]float64
	total := 0
	for {
		if len(block) == cap(block) {
			full = append(full, block)
			block = make([]float64, 0, blockSamples)
		}
		n, err := readChannel(r, block[len(block):cap(block)], frames, first, step)
		block = block[:len(block)+n]
		total += n
		if limit > 0 && total > limit {
			return nil, ErrTooLong
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if full == nil {
		return block, nil
	}
	samples := make([]float64, 0, total)
	for _, b := range full {
		samples = append(samples, b...)
	}
	return append(samples, block...), nil
}

// readChannel fills dst with samples of one channel out of step, by way of
// frames if there are several.
func readChannel(r *Reader, dst, frames []float64, first, step int) (int, error) {
	if step == 1 {
		return r.Read(dst)
	}
	n, err := r.Read(frames[:min(len(frames), len(dst)*step)])
	n /= step
	for i := range n {
		dst[i] = frames[i*step+first]
	}
	return n, err
}
