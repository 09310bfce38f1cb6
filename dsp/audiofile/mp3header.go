package audiofile

import (
	"bufio"
	"bytes"
	"encoding/binary"
)

// mp3Header is the header of an MPEG audio frame (ISO/IEC 11172-3 section 2.4.1.3).
type mp3Header uint32

const mp3HeaderSize = 4

// same are the bits that are equal in all frames of a file: the sync, version, layer and
// rate. Of the mode it matters only whether it is mono.
const mp3Same = 0xfffe0c00

// mp3Rates are the rates in Hz of MPEG-1, by index; MPEG-2 has half of them, MPEG-2.5 a
// quarter.
var mp3Rates = [3]int{44100, 48000, 32000}

// mp3Bitrates are in kbit/s, by index, of layer III of MPEG-1 and of MPEG-2.
var mp3Bitrates = [2][15]int{
	{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
}

func (h mp3Header) version() int      { return int(h >> 19 & 3) } // 3: MPEG-1, 2: MPEG-2, 0: MPEG-2.5
func (h mp3Header) layer() int        { return int(h >> 17 & 3) } // 1: III, 2: II, 3: I
func (h mp3Header) bitrateIndex() int { return int(h >> 12 & 15) }
func (h mp3Header) rateIndex() int    { return int(h >> 10 & 3) }
func (h mp3Header) padding() int      { return int(h >> 9 & 1) }
func (h mp3Header) mono() bool        { return h>>6&3 == 3 }
func (h mp3Header) crc() bool         { return h>>16&1 == 0 }

// plausible reports whether h has the sync and no reserved value, of any layer.
func (h mp3Header) plausible() bool {
	return h>>21 == 0x7ff && h.version() != 1 && h.layer() != 0 && h.bitrateIndex() != 15 && h.rateIndex() != 3 && h&3 != 2
}

// layer3 reports whether h is of a layer III frame whose size is known.
func (h mp3Header) layer3() bool { return h.plausible() && h.layer() == 1 && h.bitrateIndex() != 0 }

func (h mp3Header) continues(first mp3Header) bool {
	return h.layer3() && (h^first)&mp3Same == 0 && h.mono() == first.mono()
}

func (h mp3Header) lsf() bool { return h.version() != 3 } // low sampling frequencies: MPEG-2 and 2.5

func (h mp3Header) rate() int {
	r := mp3Rates[h.rateIndex()]
	switch h.version() {
	case 2:
		r /= 2
	case 0:
		r /= 4
	}
	return r
}

func (h mp3Header) channels() int {
	if h.mono() {
		return 1
	}
	return 2
}

// samples is the number of samples of a channel in the frame.
func (h mp3Header) samples() int {
	if h.lsf() {
		return 576
	}
	return 1152
}

// size is the number of bytes of the frame, at most 1441.
func (h mp3Header) size() int {
	if h.lsf() {
		return 72*1000*mp3Bitrates[1][h.bitrateIndex()]/h.rate() + h.padding()
	}
	return 144*1000*mp3Bitrates[0][h.bitrateIndex()]/h.rate() + h.padding()
}

// misread reports whether go-mp3 v0.3.4 takes the frame for one byte shorter than it is: it
// halves the size of a frame of MPEG-2 after it has added the padding. The sound after it is
// noise. That happens at 22050 Hz and 8 to 32, 80, 96, 144 and 160 kbit/s.
func (h mp3Header) misread() bool {
	whole := 144 * 1000 * mp3Bitrates[1][h.bitrateIndex()] / h.rate()
	return h.lsf() && h.padding() == 1 && whole%2 == 0
}

// sideInfo is the number of bytes between the header and the main data.
func (h mp3Header) sideInfo() int {
	n := 32
	switch {
	case h.lsf() && h.mono():
		n = 9
	case h.lsf() || h.mono():
		n = 17
	}
	if h.crc() {
		n += 2
	}
	return n
}

// startsMP3 reports whether b begins with a layer III frame: with a header that a second
// one follows, or the end of the file. The error is an UnsupportedError for another layer,
// or for layer III of a kind that is not read.
func startsMP3(b *bufio.Reader) (bool, error) {
	h, ok := peekHeader(b, 0)
	if !ok || !h.plausible() {
		return false, nil
	}
	if h.layer() != 1 {
		return false, refuse("MPEG audio of layer I or II", "mp2")
	}
	if !h.layer3() {
		return false, refuse("MP3 of free bit rate", "mp3")
	}
	next, ok := peekHeader(b, h.size())
	if ok && !next.continues(h) {
		return false, nil
	}
	if h.version() == 0 {
		return false, refuse("MP3 of MPEG-2.5, at 8 to 12 kHz", "mp3")
	}
	return true, nil
}

// peekHeader returns the four bytes at the offset; ok is false at the end of the file.
func peekHeader(b *bufio.Reader, offset int) (h mp3Header, ok bool) {
	p, _ := b.Peek(offset + mp3HeaderSize)
	if len(p) < offset+mp3HeaderSize {
		return 0, false
	}
	return mp3Header(binary.BigEndian.Uint32(p[offset:])), true
}

// mp3Tag is what the first frame of a file may hold instead of sound: the number of frames
// (Xing, Info), and the samples that the encoder added at the beginning and the end (LAME).
type mp3Tag struct {
	frames         int // 0 if not stated
	delay, padding int // samples
	hasDelay       bool
}

// parseMP3Tag finds the tag in a frame. ok is false if the frame holds sound.
func parseMP3Tag(h mp3Header, frame []byte) (tag mp3Tag, ok bool) {
	at := mp3HeaderSize + h.sideInfo()
	if at >= len(frame) {
		return tag, false
	}
	b := frame[at:]
	if vbri := mp3HeaderSize + 32; len(frame) >= vbri+18 && string(frame[vbri:vbri+4]) == "VBRI" {
		tag.frames = int(binary.BigEndian.Uint32(frame[vbri+14:]))
		return tag, true
	}
	if h.crc() && !bytes.HasPrefix(b, []byte("Xing")) && !bytes.HasPrefix(b, []byte("Info")) && at >= 2 {
		b = frame[at-2:] // some writers place the tag as if there were no CRC
	}
	if len(b) < 8 || string(b[:4]) != "Xing" && string(b[:4]) != "Info" {
		return tag, false
	}
	flags := binary.BigEndian.Uint32(b[4:])
	b = b[8:]
	for i, size := range []int{4, 4, 100, 4} { // frames, bytes, table of contents, quality
		if flags>>i&1 == 0 {
			continue
		}
		if len(b) < size {
			return tag, true
		}
		if i == 0 {
			tag.frames = int(binary.BigEndian.Uint32(b))
		}
		b = b[size:]
	}
	if len(b) >= 24 && b[0] >= 'A' && b[0] <= 'z' { // the encoder's name
		tag.delay = int(b[21])<<4 | int(b[22])>>4
		tag.padding = int(b[22]&15)<<8 | int(b[23])
		tag.hasDelay = true
	}
	return tag, true
}
