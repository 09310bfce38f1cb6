package audiofile

import (
	"encoding/binary"
	"math"

	"github.com/pion/opus"

	"github.com/voicescreen/voicescreen/dsp/wav"
)

const (
	opusRate      = 48000 // Hz, at which Opus is decoded
	maxOpusPacket = 5760  // samples of a channel: 120 ms (RFC 6716 section 3.2.5)

	// maxPacketBytes is the size of the largest packet of a stream: 48 frames of 1275
	// bytes, with their lengths (RFC 7845 section 6). Chosen: a little above it.
	maxPacketBytes = 64 << 10
)

// opusHead is the header of a stream (RFC 7845 section 5.1).
type opusHead struct {
	channels int
	preSkip  int     // samples of a channel to drop at the beginning
	gain     float64 // factor of the samples
}

// parseOpusHead reads the header. The extension is that of the file.
func parseOpusHead(b []byte, format, extension string) (opusHead, error) {
	if len(b) < 19 || string(b[:8]) != "OpusHead" {
		return opusHead{}, fault(format, "no Opus header")
	}
	h := opusHead{
		channels: int(b[9]),
		preSkip:  int(binary.LittleEndian.Uint16(b[10:])),
		gain:     math.Pow(10, float64(int16(binary.LittleEndian.Uint16(b[16:])))/(20*256)),
	}
	switch {
	case b[8]>>4 != 0:
		return h, refuse("Opus of an unknown version", extension)
	case h.channels == 0:
		return h, fault(format, "no channels")
	case b[18] != 0 || h.channels > 2:
		return h, refuse("Opus of more than two channels", extension)
	}
	return h, nil
}

func (h opusHead) format(name string) Format {
	return Format{Name: name, Lossy: true, Format: wav.Format{
		SampleRate: opusRate, Channels: h.channels, BitsPerSample: 32, Encoding: wav.Float,
	}}
}

// opusStream decodes the packets of a stream.
type opusStream struct {
	head  opusHead
	dec   opus.Decoder
	skip  int // samples of a channel still to drop
	count int // packets so far
	out   []float32
	block []float64
}

func newOpusStream(h opusHead) (*opusStream, error) {
	s := &opusStream{out: make([]float32, maxOpusPacket*h.channels)}
	var err error
	if s.dec, err = opus.NewDecoderWithOutput(opusRate, h.channels); err != nil {
		return nil, err
	}
	s.begin(h)
	return s, nil
}

// begin starts a stream with the header, which has as many channels as the one before.
func (s *opusStream) begin(h opusHead) {
	s.head, s.skip = h, h.preSkip
	s.dec.Init(opusRate, h.channels) // never fails: the arguments were accepted
}

// decode returns the samples of a packet without those of the pre-skip, and how many of a
// channel the packet has with them. The samples are valid until the next call.
func (s *opusStream) decode(packet []byte) (x []float64, n int, err error) {
	s.count++
	n, err = s.dec.DecodeToFloat32(packet, s.out)
	if err != nil {
		return nil, 0, fault("Opus", "damaged packet %d: %v", s.count, err)
	}
	drop := min(n, s.skip)
	s.skip -= drop
	s.block = s.block[:0]
	for _, v := range s.out[drop*s.head.channels : n*s.head.channels] {
		s.block = append(s.block, float64(v)*s.head.gain)
	}
	return s.block, n, nil
}
