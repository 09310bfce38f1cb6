package audiofile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
)

// Elements of EBML and Matroska (RFC 8794, RFC 9559).
const (
	ebmlHeader   = 0x1A45DFA3
	ebmlDocType  = 0x4282
	mkvSegment   = 0x18538067
	mkvTracks    = 0x1654AE6B
	mkvEntry     = 0xAE // a track
	mkvNumber    = 0xD7
	mkvType      = 0x83
	mkvCodec     = 0x86
	mkvPrivate   = 0x63A2
	mkvEncodings = 0x6D80
	mkvCluster   = 0x1F43B675
	mkvSimple    = 0xA3 // a block by itself
	mkvGroup     = 0xA0
	mkvBlock     = 0xA1 // in a group
	mkvDiscard   = 0x75A2
)

const (
	unknownSize = math.MaxInt64

	// maxElement is the size of the largest element of interest that is held in memory.
	// Chosen: several of the largest packets.
	maxElement = 256 << 10

	mkvSound = 2 // a type of track
)

// webmReader reads elements.
type webmReader struct {
	b    *bufio.Reader
	pos  int64
	body bytes.Buffer
}

// element reads the name and the size of an element. The error is io.EOF at the end of the
// file, and io.ErrUnexpectedEOF within the header.
func (r *webmReader) element() (id uint32, size int64, err error) {
	at := r.pos
	v, n, err := r.vint(4, false)
	if err != nil {
		return 0, 0, err
	}
	if n == 0 {
		return 0, 0, fault("WebM", "no element where one should begin, at byte %d", at)
	}
	id = uint32(v)
	v, n, err = r.vint(8, true)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return 0, 0, err
	}
	if n == 0 {
		return 0, 0, fault("WebM", "element %#x without a size, at byte %d", id, at)
	}
	size = int64(v)
	if v == 1<<(7*n)-1 {
		size = unknownSize
	}
	return id, size, nil
}

// vint reads an integer of variable length, without the bit that marks its length if clear
// is true. Its number of bytes is 0 if it is longer than most.
func (r *webmReader) vint(most int, clear bool) (v uint64, n int, err error) {
	first, err := r.b.ReadByte()
	if err != nil {
		return 0, 0, err
	}
	r.pos++
	n = 1
	for n <= most && first&(0x80>>(n-1)) == 0 {
		n++
	}
	if n > most {
		return 0, 0, nil
	}
	v = uint64(first)
	if clear {
		v &= 0xff >> n
	}
	for range n - 1 {
		c, err := r.b.ReadByte()
		if err != nil {
			return 0, 0, io.ErrUnexpectedEOF
		}
		r.pos++
		v = v<<8 | uint64(c)
	}
	return v, n, nil
}

// read returns the body of an element, which is valid until the next call.
func (r *webmReader) read(id uint32, size int64) ([]byte, error) {
	if size > maxElement {
		return nil, fault("WebM", "element %#x of more than %d bytes", id, maxElement)
	}
	r.body.Reset()
	n, err := r.body.ReadFrom(io.LimitReader(r.b, size))
	r.pos += n
	if err != nil {
		return nil, err
	}
	if n < size {
		return nil, io.ErrUnexpectedEOF
	}
	return r.body.Bytes(), nil
}

// skip discards the body of an element.
func (r *webmReader) skip(id uint32, size int64) error {
	if size == unknownSize {
		return fault("WebM", "element %#x of unknown size", id)
	}
	for size > 0 {
		n, err := r.b.Discard(int(min(size, 1<<20)))
		r.pos += int64(n)
		size -= int64(n)
		if err != nil {
			return io.ErrUnexpectedEOF
		}
	}
	return nil
}

// element reads one element of b and returns what follows it.
func element(b []byte) (id uint32, body, rest []byte, ok bool) {
	_, n := parseVint(b)
	if n == 0 || n > 4 {
		return 0, nil, nil, false
	}
	id = uint32(integer(b[:n]))
	size, m := parseVint(b[n:])
	if m == 0 || size > uint64(len(b)-n-m) {
		return 0, nil, nil, false
	}
	b = b[n+m:]
	return id, b[:size], b[size:], true
}

// integer is the value of an unsigned integer element.
func integer(b []byte) uint64 {
	v := uint64(0)
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v
}

// webmTrack is what is read of a track.
type webmTrack struct {
	number    uint64
	kind      uint64
	codec     string
	private   []byte
	encodings bool // compressed or encrypted
}

// readHeader reads the file up to the first cluster and returns the sound track.
func (r *webmReader) readHeader() (*webmTrack, int64, error) {
	id, size, err := r.element()
	if err != nil || id != ebmlHeader {
		return nil, 0, headerEnd(err)
	}
	header, err := r.read(id, size)
	if err != nil {
		return nil, 0, headerEnd(err)
	}
	for len(header) > 0 {
		id, body, rest, ok := element(header)
		if !ok {
			return nil, 0, fault("WebM", "broken header")
		}
		if doc := string(bytes.TrimRight(body, "\x00")); id == ebmlDocType && doc != "webm" && doc != "matroska" {
			return nil, 0, refuse("EBML file of another type than WebM and Matroska", "mkv")
		}
		header = rest
	}
	var track *webmTrack
	end := int64(0) // of the segment
	for {
		id, size, err := r.element()
		if err != nil {
			return nil, 0, headerEnd(err)
		}
		switch id {
		case mkvSegment:
			if end = unknownSize; size != unknownSize {
				end = r.pos + min(size, unknownSize-r.pos)
			}
		case mkvTracks:
			body, err := r.read(id, size)
			if err != nil {
				return nil, 0, headerEnd(err)
			}
			if track, err = soundTrack(body); err != nil {
				return nil, 0, err
			}
		case mkvCluster:
			if track == nil {
				return nil, 0, fault("WebM", "sound before its description")
			}
			return track, end, nil
		default:
			if err := r.skip(id, size); err != nil {
				return nil, 0, headerEnd(err)
			}
		}
	}
}

// headerEnd names the end of the file in a header.
func headerEnd(err error) error {
	if err == nil || ended(err) {
		return fault("WebM", "file ends in its header")
	}
	return err
}

// soundTrack returns the first Opus track.
func soundTrack(tracks []byte) (*webmTrack, error) {
	other := ""
	for len(tracks) > 0 {
		id, body, rest, ok := element(tracks)
		if !ok {
			return nil, fault("WebM", "broken list of tracks")
		}
		tracks = rest
		if id != mkvEntry {
			continue
		}
		t, err := parseTrack(body)
		if err != nil {
			return nil, err
		}
		switch {
		case t.kind != mkvSound:
		case t.codec != "A_OPUS":
			other = codecName(t.codec)
		case t.encodings:
			return nil, refuse("WebM whose packets are compressed or encrypted", "webm")
		default:
			return t, nil
		}
	}
	if other != "" {
		return nil, refuse(other+" in WebM", "webm")
	}
	return nil, fault("WebM", "no track of sound")
}

func parseTrack(b []byte) (*webmTrack, error) {
	t := &webmTrack{}
	for len(b) > 0 {
		id, body, rest, ok := element(b)
		if !ok {
			return nil, fault("WebM", "broken track")
		}
		switch id {
		case mkvNumber:
			t.number = integer(body)
		case mkvType:
			t.kind = integer(body)
		case mkvCodec:
			t.codec = string(bytes.TrimRight(body, "\x00"))
		case mkvPrivate:
			t.private = bytes.Clone(body)
		case mkvEncodings:
			t.encodings = true
		}
		b = rest
	}
	return t, nil
}

// codecName is the usual name of a codec of Matroska.
func codecName(id string) string {
	for prefix, name := range map[string]string{
		"A_VORBIS": "Vorbis", "A_AAC": "AAC", "A_FLAC": "FLAC", "A_PCM": "PCM", "A_MPEG/L3": "MP3", "A_AC3": "AC-3",
	} {
		if len(id) >= len(prefix) && id[:len(prefix)] == prefix {
			return name
		}
	}
	return fmt.Sprintf("codec %.32q", id)
}
