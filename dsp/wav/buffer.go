package wav

import (
	"fmt"

	"github.com/go-audio/audio"
)

// FromBuffer copies one channel of a buffer of github.com/go-audio/audio. The
// channel counts from 1; 0 means that the buffer must be mono. The buffer is
// not changed and not kept.
//
// An IntBuffer, and the integers of a PCMBuffer, are divided by 2^(b−1), where
// b is the bit depth of the source, which must be stated; 8-bit samples of an
// IntBuffer are unsigned, as in WAV files and as github.com/go-audio/wav reads
// and writes them. The samples of float buffers are taken unchanged, so their scale
// must be ±1. Pass an IntBuffer itself: its AsFloatBuffer keeps the scale of the
// integers.
//
// A missing channel gives a [*ChannelError]. A buffer gives a [FormatError] if it has
// no format, has another depth than 8, 16, 24 or 32 bits, or holds a sample that is
// NaN, infinite or out of the range of its depth. Another type of buffer gives an
// [UnsupportedError].
func FromBuffer(buf audio.Buffer, channel int) (*Audio, error) {
	switch b := buf.(type) {
	case *audio.IntBuffer:
		if b == nil {
			return nil, FormatError("no buffer")
		}
		return fromInts(b.Format, b.Data, b.SourceBitDepth, b.SourceBitDepth == 8, channel)
	case *audio.FloatBuffer:
		if b == nil {
			return nil, FormatError("no buffer")
		}
		return fromFloats(b.Format, b.Data, 64, channel)
	case *audio.Float32Buffer:
		if b == nil {
			return nil, FormatError("no buffer")
		}
		return fromFloats(b.Format, b.Data, 32, channel)
	case *audio.PCMBuffer:
		if b == nil {
			return nil, FormatError("no buffer")
		}
		switch b.DataType {
		case audio.DataTypeI8:
			return fromInts(b.Format, b.I8, 8, false, channel)
		case audio.DataTypeI16:
			return fromInts(b.Format, b.I16, 16, false, channel)
		case audio.DataTypeI32:
			return fromInts(b.Format, b.I32, 8*int(b.SourceBitDepth), false, channel)
		case audio.DataTypeF32:
			return fromFloats(b.Format, b.F32, 32, channel)
		case audio.DataTypeF64:
			return fromFloats(b.Format, b.F64, 64, channel)
		}
		return nil, FormatError("buffer without a data type")
	case nil:
		return nil, FormatError("no buffer")
	}
	return nil, UnsupportedError(fmt.Sprintf("buffer of type %T", buf))
}

// fromInts converts samples of the given depth. Unsigned ones have their zero at
// 2^(bits−1).
func fromInts[T int | int8 | int16 | int32](f *audio.Format, data []T, bits int, unsigned bool, channel int) (*Audio, error) {
	switch bits {
	case 8, 16, 24, 32:
	default:
		return nil, FormatError(fmt.Sprintf("buffer of %d bits per sample", bits))
	}
	a, first, err := newAudio(f, len(data), Format{Encoding: PCM, BitsPerSample: bits}, channel)
	if err != nil {
		return nil, err
	}
	full := int64(1) << (bits - 1)
	var zero int64
	if unsigned {
		zero = full
	}
	for i := range a.Samples {
		v := int64(data[i*a.Channels+first]) - zero
		if v < -full || v >= full {
			return nil, FormatError(fmt.Sprintf("sample %d out of the range of %d bits", i, bits))
		}
		a.Samples[i] = float64(v) / float64(full)
	}
	return a, nil
}

func fromFloats[T float32 | float64](f *audio.Format, data []T, bits int, channel int) (*Audio, error) {
	a, first, err := newAudio(f, len(data), Format{Encoding: Float, BitsPerSample: bits}, channel)
	if err != nil {
		return nil, err
	}
	for i := range a.Samples {
		a.Samples[i] = float64(data[i*a.Channels+first])
	}
	if err := checkFloats(a.Samples); err != nil {
		return nil, err
	}
	return a, nil
}

// newAudio makes room for one channel of n samples of all channels.
func newAudio(f *audio.Format, n int, format Format, channel int) (*Audio, int, error) {
	switch {
	case f == nil:
		return nil, 0, FormatError("buffer without a format")
	case f.NumChannels < 1 || f.NumChannels > maxChannels:
		return nil, 0, FormatError(fmt.Sprintf("buffer of %d channels", f.NumChannels))
	case f.SampleRate < 1 || f.SampleRate > maxSampleRate:
		return nil, 0, FormatError(fmt.Sprintf("buffer of %d Hz", f.SampleRate))
	}
	first, err := channelIndex(f.NumChannels, channel)
	if err != nil {
		return nil, 0, err
	}
	format.SampleRate, format.Channels = f.SampleRate, f.NumChannels
	return &Audio{Format: format, Samples: make([]float64, n/f.NumChannels)}, first, nil
}
