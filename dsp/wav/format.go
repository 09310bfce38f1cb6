package wav

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Encoding is the representation of a sample.
type Encoding uint8

const (
	PCM      Encoding = iota + 1 // integers; unsigned for 8 bits, signed otherwise
	Float                        // IEEE 754
	ALaw                         // ITU-T G.711, 8 bits; read by NewAnyReader only
	MuLaw                        // ITU-T G.711, 8 bits; read by NewAnyReader only
	IMAADPCM                     // 4 bits; read by NewAnyReader only
)

func (e Encoding) String() string {
	switch e {
	case PCM:
		return "PCM"
	case Float:
		return "float"
	case ALaw:
		return "A-law"
	case MuLaw:
		return "µ-law"
	case IMAADPCM:
		return "IMA ADPCM"
	}
	return fmt.Sprintf("Encoding(%d)", uint8(e))
}

// MarshalText spells the encoding as String does.
func (e Encoding) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// Format describes the samples of a file.
type Format struct {
	SampleRate    int // Hz, 1 to 768000
	Channels      int // 1 to 64
	BitsPerSample int // 8, 16, 24 or 32 for PCM, 32 or 64 for Float, 8 for ALaw and MuLaw, 4 for IMAADPCM
	Encoding      Encoding
}

func (f Format) String() string {
	return fmt.Sprintf("%d-bit %s, %d Hz, %d ch", f.BitsPerSample, f.Encoding, f.SampleRate, f.Channels)
}

// frameBytes is the size of one sample of every channel. For IMAADPCM, which has no such
// size, it is 0.
func (f Format) frameBytes() int { return f.Channels * (f.BitsPerSample / 8) }

const (
	maxSampleRate = 768000 // Hz; chosen: the fastest audio converters sold, 16 · 48 kHz
	maxChannels   = 64     // chosen: the most that MADI carries; a frame fits the buffer of a Reader many times

	minFmtSize = 16         // PCMWAVEFORMAT
	extFmtSize = 40         // WAVEFORMATEXTENSIBLE
	maxFmtSize = 18 + 65535 // WAVEFORMATEX and the longest extension that its 16-bit cbSize can announce
)

// Format tags of RFC 2361 and mmreg.h.
const (
	tagPCM        = 0x0001
	tagFloat      = 0x0003
	tagALaw       = 0x0006
	tagMuLaw      = 0x0007
	tagIMA        = 0x0011
	tagExtensible = 0xFFFE
)

// tagNames are the usual names of common formats.
var tagNames = map[uint16]string{
	0x0002: "Microsoft ADPCM",
	0x0006: "A-law",
	0x0007: "µ-law",
	0x0010: "OKI ADPCM",
	0x0011: "IMA ADPCM",
	0x0016: "G.723 ADPCM",
	0x0031: "GSM 6.10",
	0x0040: "G.721 ADPCM",
	0x0050: "MPEG audio",
	0x0055: "MP3",
	0x0064: "G.726 ADPCM",
	0x0065: "G.722 ADPCM",
	0x00FF: "AAC",
	0x0161: "Windows Media Audio",
	0x0162: "Windows Media Audio",
	0x1610: "AAC",
	0x2000: "AC-3",
	0x674F: "Vorbis",
	0xA109: "Speex",
	0xF1AC: "FLAC",
}

// subformatTail follows the format tag in GUIDs such as KSDATAFORMAT_SUBTYPE_PCM.
var subformatTail = []byte{0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71}

// parseFormat reads the body of a fmt chunk, or its first extFmtSize bytes, in the
// given byte order. A-law, µ-law and IMA ADPCM are accepted if any is true. Align is the
// size of a frame, or of a block of IMA ADPCM, in bytes.
func parseFormat(b []byte, order binary.ByteOrder, any bool) (f Format, align int, err error) {
	tag := order.Uint16(b)
	channels := int(order.Uint16(b[2:]))
	rate := order.Uint32(b[4:])
	align = int(order.Uint16(b[12:]))
	bits := int(order.Uint16(b[14:]))

	if tag == tagExtensible {
		if len(b) < extFmtSize {
			return Format{}, 0, FormatError(fmt.Sprintf("extensible fmt chunk of %d bytes, want %d", len(b), extFmtSize))
		}
		if !bytes.Equal(b[26:40], subformatTail) {
			return Format{}, 0, UnsupportedError("an extensible subformat other than PCM and float")
		}
		tag = order.Uint16(b[24:])
	}
	f = Format{Channels: channels, BitsPerSample: bits}
	switch {
	case tag == tagPCM:
		f.Encoding = PCM
	case tag == tagFloat:
		f.Encoding = Float
	case tag == tagALaw && any:
		f.Encoding = ALaw
	case tag == tagMuLaw && any:
		f.Encoding = MuLaw
	case tag == tagIMA && any:
		f.Encoding = IMAADPCM
	default:
		if name, ok := tagNames[tag]; ok {
			return Format{}, 0, UnsupportedError(name + "; " + convert("wav"))
		}
		return Format{}, 0, UnsupportedError(fmt.Sprintf("format tag %#04x", tag))
	}
	switch {
	case channels == 0:
		return Format{}, 0, FormatError("no channels")
	case channels > maxChannels:
		return Format{}, 0, UnsupportedError(fmt.Sprintf("%d channels, at most %d are read", channels, maxChannels))
	case rate == 0:
		return Format{}, 0, FormatError("sample rate of 0 Hz")
	case rate > maxSampleRate:
		return Format{}, 0, UnsupportedError(fmt.Sprintf("sample rate of %d Hz, at most %d is read", rate, maxSampleRate))
	case bits == 0:
		return Format{}, 0, FormatError("0 bits per sample")
	case !f.readable():
		return Format{}, 0, UnsupportedError(fmt.Sprintf("%d-bit %s", bits, f.Encoding))
	case f.Encoding == IMAADPCM && order == binary.ByteOrder(binary.BigEndian):
		return Format{}, 0, UnsupportedError("big-endian IMA ADPCM")
	case f.Encoding == IMAADPCM:
		if err := checkBlock(align, channels); err != nil {
			return Format{}, 0, err
		}
	case align != f.frameBytes():
		return Format{}, 0, FormatError(fmt.Sprintf("frames of %d bytes for %d channels of %d bits", align, channels, bits))
	}
	f.SampleRate = int(rate)
	return f, align, nil
}

func (f Format) readable() bool {
	switch f.Encoding {
	case ALaw, MuLaw:
		return f.BitsPerSample == 8
	case IMAADPCM:
		return f.BitsPerSample == 4
	}
	switch f.BitsPerSample {
	case 8, 16, 24:
		return f.Encoding == PCM
	case 32:
		return true
	case 64:
		return f.Encoding == Float
	}
	return false
}
