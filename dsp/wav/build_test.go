package wav_test

import (
	"bytes"
	"encoding/binary"
	"math"
)

// The parts of WAV files, put together by hand so that each can be wrong.

const (
	toneSamples = 1000
	toneRate    = 44100
)

// tone is 440 Hz at half of full scale.
func tone() []float64 {
	x := make([]float64, toneSamples)
	for i := range x {
		x[i] = 0.5 * math.Sin(2*math.Pi*440*float64(i)/toneRate)
	}
	return x
}

// pcm encodes the tone as integers of b bits; odd channels are inverted.
func pcm(bits, channels int) []byte {
	var out []byte
	for _, v := range tone() {
		for c := range channels {
			if c%2 == 1 {
				v = -v
			}
			q := int64(math.RoundToEven(v * float64(int64(1)<<(bits-1)-1)))
			if bits == 8 {
				q += 128
			}
			for i := range bits / 8 {
				out = append(out, byte(q>>(8*i)))
			}
			if c%2 == 1 {
				v = -v
			}
		}
	}
	return out
}

func float32s(x ...float64) []byte {
	var out []byte
	for _, v := range x {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
	}
	return out
}

func float64s(x ...float64) []byte {
	var out []byte
	for _, v := range x {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

// fmtFields are those of a fmt chunk; zero ones are filled in.
type fmtFields struct {
	tag      uint16
	channels int
	rate     uint32
	align    int // -1 writes 0
	bits     int
	extra    []byte
}

func (f fmtFields) bytes(order binary.AppendByteOrder) []byte {
	if f.align == 0 {
		f.align = f.channels * f.bits / 8
	}
	f.align = max(f.align, 0)
	b := order.AppendUint16(nil, f.tag)
	b = order.AppendUint16(b, uint16(f.channels))
	b = order.AppendUint32(b, f.rate)
	b = order.AppendUint32(b, f.rate*uint32(f.align))
	b = order.AppendUint16(b, uint16(f.align))
	b = order.AppendUint16(b, uint16(f.bits))
	return append(b, f.extra...)
}

// format is the fmt chunk of an ordinary file.
func format(tag uint16, channels, bits int) []byte {
	return chunk("fmt ", fmtFields{tag: tag, channels: channels, rate: toneRate, bits: bits}.bytes(binary.LittleEndian))
}

// extensible is the fmt chunk of an EXTENSIBLE file of the subformat.
func extensible(subformat uint16, channels, bits int) []byte {
	extra := binary.LittleEndian.AppendUint16(nil, 22)
	extra = binary.LittleEndian.AppendUint16(extra, uint16(bits))
	extra = binary.LittleEndian.AppendUint32(extra, 1<<channels-1)
	extra = binary.LittleEndian.AppendUint16(extra, subformat)
	extra = append(extra, "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"...)
	return chunk("fmt ", fmtFields{tag: 0xFFFE, channels: channels, rate: toneRate, bits: bits, extra: extra}.bytes(binary.LittleEndian))
}

func chunk(id string, body []byte) []byte {
	b := sized(id, uint32(len(body)), body)
	if len(body)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

// sized is a chunk that states any size and has no pad byte.
func sized(id string, size uint32, body []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(id), size)
	return append(b, body...)
}

func riff(chunks ...[]byte) []byte {
	body := bytes.Join(chunks, nil)
	return riffSized("RIFF", uint32(4+len(body)), body)
}

func riffSized(id string, size uint32, chunks ...[]byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(id), size)
	b = append(b, "WAVE"...)
	return append(b, bytes.Join(chunks, nil)...)
}

func rifx() []byte {
	data := pcm(16, 1)
	for i := 0; i < len(data); i += 2 {
		data[i], data[i+1] = data[i+1], data[i]
	}
	fields := fmtFields{tag: 1, channels: 1, rate: toneRate, bits: 16}.bytes(binary.BigEndian)
	b := binary.BigEndian.AppendUint32([]byte("RIFX"), uint32(36+len(data)))
	b = append(b, "WAVEfmt "...)
	b = binary.BigEndian.AppendUint32(b, 16)
	b = append(b, fields...)
	b = append(b, "data"...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
	return append(b, data...)
}

// rf64 is a file with 64-bit sizes, of which dataSize is as given. One of 0
// is from a writer that did not fill in any.
func rf64(id string, dataSize uint64) []byte {
	data := pcm(16, 1)
	riffSize := uint64(36 + 36 + len(data))
	if dataSize == 0 {
		riffSize = 0
	}
	b := binary.LittleEndian.AppendUint64(nil, riffSize)
	b = binary.LittleEndian.AppendUint64(b, dataSize)
	b = binary.LittleEndian.AppendUint64(b, toneSamples)
	b = binary.LittleEndian.AppendUint32(b, 0)
	return riffSized(id, math.MaxUint32, chunk("ds64", b), format(1, 1, 16), sized("data", math.MaxUint32, data))
}
