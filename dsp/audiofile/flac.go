package audiofile

import (
	"bufio"
	"bytes"
	"io"

	"github.com/mewkiz/flac"

	"github.com/voicescreen/voicescreen/dsp/wav"
)

// flacDecoder decodes FLAC frame by frame.
type flacDecoder struct {
	stream   *flac.Stream
	channels int
	scale    float64 // full scale of the integers is 1
	left     uint64  // samples of a channel that are announced and not decoded yet
	known    bool    // whether the header announces their number
	done     uint64  // samples of a channel decoded so far
	block    []float64
	cut      bool
}

// flacInfo is how a FLAC file begins (RFC 9639 section 8): the signature and the header
// of the STREAMINFO block, which has 34 bytes.
const flacInfo = "fLaC\x00\x00\x00\x22"

func newFLAC(b *bufio.Reader) (decoder, Format, error) {
	head, _ := b.Peek(len(flacInfo))
	if len(head) < len(flacInfo) {
		return nil, Format{}, fault("FLAC", "file ends in its header")
	}
	head = bytes.Clone(head) // the bytes of b are still to be read
	head[4] &= 0x7f          // whether it is the last block
	if string(head) != flacInfo {
		return nil, Format{}, fault("FLAC", "no STREAMINFO block")
	}
	stream, err := flac.New(b)
	if ended(err) {
		return nil, Format{}, fault("FLAC", "file ends in its header")
	}
	if err != nil {
		return nil, Format{}, fault("FLAC", "%v", err)
	}
	info := stream.Info
	bits := int(info.BitsPerSample)
	if bits < 4 || bits > 24 {
		return nil, Format{}, refuse("FLAC of samples that have not 4 to 24 bits", "flac")
	}
	f := Format{Name: "FLAC", Format: wav.Format{
		SampleRate: int(info.SampleRate), Channels: int(info.NChannels), BitsPerSample: bits, Encoding: wav.PCM,
	}}
	return &flacDecoder{
		stream: stream, channels: f.Channels, scale: 1 / float64(int64(1)<<(bits-1)),
		left: info.NSamples, known: info.NSamples != 0,
	}, f, nil
}

func (d *flacDecoder) truncated() bool { return d.cut }

func (d *flacDecoder) next() ([]float64, error) {
	if d.known && d.left == 0 {
		return nil, io.EOF // what follows is no sound: a tag
	}
	info := d.stream.Info
	f, err := d.stream.Next()
	if err == nil {
		switch n := uint16(f.BlockSize); {
		case f.Channels.Count() != d.channels,
			f.SampleRate != 0 && f.SampleRate != info.SampleRate,
			f.BitsPerSample != 0 && f.BitsPerSample != info.BitsPerSample:
			return nil, UnsupportedError("FLAC whose rate, channels or bits per sample change")
		case n == 0 || n > info.BlockSizeMax:
			return nil, fault("FLAC", "frame of %d samples at sample %d, at most %d are announced", n, d.done, info.BlockSizeMax)
		}
		f.BitsPerSample = info.BitsPerSample
		err = f.Parse()
	}
	if ended(err) {
		d.cut = d.known || err != io.EOF
		return nil, io.EOF
	}
	if err != nil {
		return nil, fault("FLAC", "damaged frame at sample %d: %v", d.done, err)
	}
	n := len(f.Subframes[0].Samples)
	if d.known {
		n = int(min(uint64(n), d.left))
		d.left -= uint64(n)
	}
	d.done += uint64(n)
	d.block = d.block[:0]
	for i := range n {
		for _, s := range f.Subframes {
			d.block = append(d.block, float64(s.Samples[i])*d.scale)
		}
	}
	return d.block, nil
}
