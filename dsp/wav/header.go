package wav

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

const (
	// unknown is the size of a data chunk that reaches to the end of the file.
	unknown = math.MaxInt64

	// streamed is the least size that means a streaming writer, which did not know
	// the size: SoX writes the largest whole number of frames below 0x7FFFF000
	// bytes, others more, up to 0xFFFFFFFF. The slack is the largest frame.
	streamed = 0x7FFFF000 - maxChannels*8
)

// header reads a file up to its samples.
type header struct {
	r     *bufio.Reader
	any   bool // whether NewAnyReader reads
	order binary.ByteOrder
	pos   int64 // bytes read so far
	riff  int64 // size of the RIFF chunk as written; unknown if that is not a size

	format   Format
	align    int   // bytes of a frame, or of a block of IMA ADPCM
	samples  int64 // of a channel, by the fact chunk; 0 if that does not state them
	dataSize int64 // bytes of samples; unknown if they reach to the end
	cut      bool  // whether a file that ends before dataSize bytes is truncated
}

// ds64 holds the sizes of the ds64 chunk of an RF64 file.
type ds64 struct{ riff, data uint64 }

func (h *header) read() error {
	long, err := h.readRIFF()
	if err != nil {
		return err
	}
	var sizes *ds64
	for {
		id, size, err := h.readChunkHeader()
		if err != nil {
			return err
		}
		switch {
		case id == "ds64" && long && sizes == nil:
			sizes, err = h.readDS64(size)
		case id == "fmt ":
			err = h.readFormat(size)
		case id == "data":
			if h.format.Channels == 0 {
				return FormatError("data chunk before the fmt chunk")
			}
			h.setDataSize(size, sizes)
			if h.any && h.dataSize == 0 && !h.chunkFollows() {
				h.dataSize, h.cut = unknown, false
			}
			return nil
		case id == "fact" && h.any && size >= 4:
			err = h.readFact(size)
		default:
			err = h.skip(id, int64(size))
		}
		if err == nil && size%2 == 1 {
			err = h.skipPad()
		}
		if err != nil {
			return err
		}
	}
}

// readRIFF reads the first 12 bytes and reports whether a ds64 chunk has the sizes.
func (h *header) readRIFF() (long bool, err error) {
	b, err := h.r.Peek(12)
	if err != nil && err != io.EOF {
		return false, readError(err)
	}
	if len(b) == 0 {
		return false, FormatError("file is empty")
	}
	if name, extension := otherFormat(b); name != "" {
		return false, UnsupportedError(name + " file, only WAV is read; " + convert(extension))
	}
	if len(b) < 12 {
		return false, FormatError("file ends in the RIFF header")
	}
	h.order = binary.LittleEndian
	switch string(b[:4]) {
	case "RIFF":
	case "RIFX":
		h.order = binary.BigEndian
	case "RF64", "BW64":
		long = true
	default:
		return false, FormatError("no RIFF header")
	}
	if string(b[8:12]) != "WAVE" {
		return false, FormatError("RIFF file of another form than WAVE")
	}
	h.riff = int64(h.order.Uint32(b[4:]))
	if h.riff >= streamed {
		h.riff = unknown
	}
	_, err = h.r.Discard(12)
	h.pos = 12
	return long, err
}

// otherFormat recognises audio files that are often mistaken for WAV files by their
// first bytes. It returns the name and the usual extension of the format, "" for
// other bytes.
func otherFormat(b []byte) (name, extension string) {
	for magic, name := range map[string]string{
		"fLaC": "FLAC", "OggS": "Ogg", "ID3": "MP3", "FORM": "AIFF", "caff": "CAF",
		"\x1a\x45\xdf\xa3": "WebM", "#!AMR": "AMR", "\x30\x26\xb2\x75": "WMA",
	} {
		if len(b) >= len(magic) && string(b[:len(magic)]) == magic {
			return name, strings.ToLower(name)
		}
	}
	switch {
	case len(b) >= 8 && string(b[4:8]) == "ftyp":
		return "MP4", "m4a"
	case len(b) >= 2 && b[0] == 0xff && b[1]&0xe6 == 0xe2: // frame sync, layer III
		return "MP3", "mp3"
	case len(b) >= 2 && b[0] == 0xff && b[1]&0xf6 == 0xf0: // ADTS: frame sync, layer 0
		return "AAC", "aac"
	}
	return "", ""
}

// convert says by which command a file of a format with the extension becomes a WAV
// file that is read.
func convert(extension string) string {
	return "convert it with \"ffmpeg -i in." + extension + " -ac 1 -ar 44100 out.wav\""
}

func (h *header) readChunkHeader() (id string, size uint32, err error) {
	var b [8]byte
	n, err := readFull(h.r, b[:])
	h.pos += int64(n)
	switch {
	case err == io.EOF && n == 0 && h.format.Channels == 0:
		return "", 0, FormatError("file ends before its fmt chunk")
	case err == io.EOF && n == 0:
		return "", 0, FormatError("file ends before its data chunk")
	case err == io.EOF:
		return "", 0, FormatError("file ends in a chunk header")
	case err != nil:
		return "", 0, readError(err)
	}
	if !isID(b[:4]) {
		return "", 0, FormatError(fmt.Sprintf("no chunk where one should begin, at byte %d", h.pos-8))
	}
	return string(b[:4]), h.order.Uint32(b[4:]), nil
}

// isID reports whether b begins like a chunk: with four printable ASCII characters.
func isID(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	for _, c := range b[:4] {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// isCommonID reports whether id is the name of a common chunk.
func isCommonID(id string) bool {
	return id == "fmt " || id == "data" || id == "LIST" || id == "fact"
}

func (h *header) readFormat(size uint32) error {
	if h.format.Channels != 0 {
		return FormatError("second fmt chunk")
	}
	if size < minFmtSize || size > maxFmtSize {
		return FormatError(fmt.Sprintf("fmt chunk of %d bytes", size))
	}
	var b [extFmtSize]byte
	fields := b[:min(size, extFmtSize)]
	if err := h.readBody("fmt ", fields); err != nil {
		return err
	}
	var err error
	if h.format, h.align, err = parseFormat(fields, h.order, h.any); err != nil {
		return err
	}
	return h.skip("fmt ", int64(size)-int64(len(fields)))
}

func (h *header) readDS64(size uint32) (*ds64, error) {
	const fields = 24 // riffSize, dataSize, sampleCount
	if size < fields {
		return nil, FormatError(fmt.Sprintf("ds64 chunk of %d bytes", size))
	}
	var b [fields]byte
	if err := h.readBody("ds64", b[:]); err != nil {
		return nil, err
	}
	s := &ds64{riff: h.order.Uint64(b[:]), data: h.order.Uint64(b[8:])}
	return s, h.skip("ds64", int64(size)-fields)
}

func (h *header) readBody(id string, b []byte) error {
	n, err := readFull(h.r, b)
	h.pos += int64(n)
	if err == io.EOF {
		return FormatError(fmt.Sprintf("file ends in chunk %q", id))
	}
	return readError(err)
}

// skip discards n bytes of a chunk.
func (h *header) skip(id string, n int64) error {
	for n > 0 {
		m, err := h.r.Discard(int(min(n, 1<<20)))
		n -= int64(m)
		h.pos += int64(m)
		if err == io.EOF {
			return FormatError(fmt.Sprintf("file ends in chunk %q", id))
		}
		if err != nil {
			return readError(err)
		}
	}
	return nil
}

// skipPad discards the byte that follows a chunk of odd size. Some writers omit it:
// the next chunk then begins here. If a pad byte looks like the first letter of a
// name, the name after it decides.
func (h *header) skipPad() error {
	b, err := h.r.Peek(5)
	if err != nil && err != io.EOF {
		return readError(err)
	}
	if len(b) == 0 {
		return nil
	}
	if isID(b) && !(len(b) == 5 && isCommonID(string(b[1:]))) {
		return nil
	}
	_, err = h.r.Discard(1)
	h.pos++
	return err
}

// readFact reads the number of samples of a channel, which encodings other than PCM
// state.
func (h *header) readFact(size uint32) error {
	var b [4]byte
	if err := h.readBody("fact", b[:]); err != nil {
		return err
	}
	h.samples = int64(h.order.Uint32(b[:]))
	return h.skip("fact", int64(size)-4)
}

// chunkFollows reports whether the file goes on with the header of a chunk that may stand
// after the samples, or ends.
func (h *header) chunkFollows() bool {
	b, _ := h.r.Peek(8)
	if len(b) == 0 {
		return true
	}
	return len(b) == 8 && isID(b) && h.pos+8+int64(h.order.Uint32(b[4:])) <= h.riff+8+1
}

// setDataSize sets the size of the samples.
func (h *header) setDataSize(size uint32, sizes *ds64) {
	n := int64(size)
	riff := h.riff
	if sizes != nil && size == math.MaxUint32 {
		n = int64(min(sizes.data, unknown))
		riff = int64(min(sizes.riff, unknown))
		h.dataSize, h.cut = n, n != unknown
	} else {
		h.dataSize, h.cut = n, n < streamed
		if size == math.MaxUint32 {
			h.dataSize = unknown
		}
	}
	// 0 bytes of samples are accepted only if the other sizes are known and the
	// file continues after them.
	if n == 0 && (riff == unknown || riff+8 <= h.pos) {
		h.dataSize, h.cut = unknown, false
	}
}

// readFull fills b. Unlike io.ReadFull it returns io.EOF at any end of the reader, so
// that the reader's own io.ErrUnexpectedEOF (a broken connection) is not mistaken for
// the end of the file.
func readFull(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) {
		m, err := r.Read(b[n:])
		n += m
		if err != nil && n < len(b) {
			return n, err
		}
	}
	return n, nil
}

// readError adds what was being done to an error of the reader.
func readError(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return fmt.Errorf("wav: read: %w", err)
}
