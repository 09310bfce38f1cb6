package wav

import "io"

// Audio is one channel of a recording.
type Audio struct {
	Format              // of the file; Channels counts those of the file, not of Samples
	Samples   []float64 // one channel, scaled as Reader.Read says
	Truncated bool      // the file ended before the samples that its header announces
}

// Seconds is the length of the samples.
func (a *Audio) Seconds() float64 { return float64(len(a.Samples)) / float64(a.SampleRate) }

// DecodeOptions says what Decode shall return. Nil and zero fields mean the
// default.
type DecodeOptions struct {
	// Channel is the one to return, from 1 on. Default: the recording must be
	// mono.
	Channel int

	// MaxSamples is the most samples of the channel that are read. A longer
	// recording is ErrTooLong. Default: no limit.
	MaxSamples int
}

// blockSamples is the size of the pieces in which Decode collects samples:
// 256 KiB each, chosen so that the last, partly empty one costs little.
const blockSamples = 32 << 10

// Decode reads a whole WAV file from r and returns one channel of it. The
// samples may be none at all. The errors are those of [NewReader] and
// [Reader.Read] but io.EOF, a [*ChannelError] if the recording does not have
// the channel or has several and none was asked for, and [ErrTooLong]; beside
// an error there are no samples. At its peak it holds twice the memory of the
// samples.
func Decode(r io.Reader, opts *DecodeOptions) (*Audio, error) {
	if opts == nil {
		opts = &DecodeOptions{}
	}
	wr, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	f := wr.Format()
	first, err := channelIndex(f.Channels, opts.Channel)
	if err != nil {
		return nil, err
	}
	samples, err := collect(wr, first, f.Channels, opts.MaxSamples)
	if err != nil {
		return nil, err
	}
	return &Audio{Format: f, Samples: samples, Truncated: wr.Truncated()}, nil
}

// channelIndex turns the number of a channel, 0 for the only one, into its
// place in a frame.
func channelIndex(channels, channel int) (int, error) {
	if channel == 0 && channels == 1 {
		return 0, nil
	}
	if channel < 1 || channel > channels {
		return 0, &ChannelError{Channels: channels, Channel: channel}
	}
	return channel - 1, nil
}

// collect reads every step-th sample from the one at index first on. A limit
// of 0 is none.
func collect(r *Reader, first, step, limit int) ([]float64, error) {
	var full [][]float64
	total := 0
	block := make([]float64, 0, blockSamples/8) // a short recording needs no full block
	var frames []float64
	if step > 1 {
		frames = make([]float64, blockSamples/8/step*step)
	}
	for {
		if len(block) == cap(block) {
			full = append(full, block)
			block = make([]float64, 0, blockSamples)
		}
		free := block[len(block):cap(block)]
		var n int
		var err error
		if step == 1 {
			n, err = r.Read(free)
		} else {
			want := min(len(frames), len(free)*step)
			n, err = r.Read(frames[:want])
			n /= step
			for i := range n {
				free[i] = frames[i*step+first]
			}
		}
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
	samples := make([]float64, 0, total)
	for _, b := range full {
		samples = append(samples, b...)
	}
	return append(samples, block...), nil
}
