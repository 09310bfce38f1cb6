package audiofile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/hajimehoshi/go-mp3"

	"github.com/voicescreen/voicescreen/dsp/wav"
)

// mp3DecoderDelay is how many samples a decoder of layer III delays the sound: 528 of the
// filter bank and one by convention (LAME, "Technical FAQ").
const mp3DecoderDelay = 529

// mp3FramesBehind is how many frames may follow those that the tag announces and still be its
// padding, of encoders that count otherwise. More are another recording, which was appended:
// its sound counts too. Chosen: 72 ms at 48 kHz.
const mp3FramesBehind = 3

// id3v1Len is the length of an ID3v1 tag in bytes.
const id3v1Len = 128

// mp3Decoder decodes MP3. The framing is done here, and the decoder gets whole frames of
// one kind and nothing else.
type mp3Decoder struct {
	frames *mp3Frames
	dec    *mp3.Decoder // nil before the first frame
	skip   int64        // samples of a channel to drop at the beginning
	left   int64        // samples of a channel to return after them; −1 if not stated
	raw    []byte       // of a frame: 16 bits, two channels
	block  []float64
	behind []float64 // samples behind those, until it is known if they are padding
}

func newMP3(b *bufio.Reader) (decoder, Format, error) {
	first, _ := peekHeader(b, 0)
	f := Format{Name: "MP3", Lossy: true, Format: wav.Format{
		SampleRate: first.rate(), Channels: first.channels(), BitsPerSample: 16, Encoding: wav.PCM,
	}}
	frames := &mp3Frames{b: b, first: first}
	d := &mp3Decoder{frames: frames, left: -1, raw: make([]byte, 4*first.samples())}
	if err := frames.read(); err != nil {
		return nil, Format{}, err
	}
	if tag, ok := parseMP3Tag(first, frames.frame); ok {
		frames.frame, frames.given = frames.frame[:0], 0 // no sound
		frames.announced = tag.frames
		if tag.hasDelay {
			d.skip = int64(tag.delay + mp3DecoderDelay)
			if all := int64(tag.frames) * int64(first.samples()); tag.frames > 0 {
				d.left = max(all-int64(tag.delay+tag.padding), 0)
			}
		}
	} else {
		frames.passed = 1
	}
	return d, f, nil
}

func (d *mp3Decoder) truncated() bool { return d.frames.truncated() }

func (d *mp3Decoder) next() ([]float64, error) {
	if d.dec == nil {
		dec, err := mp3.NewDecoder(d.frames)
		if err != nil {
			return nil, d.end(err)
		}
		d.dec = dec
	}
	n, err := io.ReadFull(d.dec, d.raw)
	if n/4 == 0 && err != nil {
		return nil, d.end(err)
	}
	d.block = d.block[:0]
	if d.left == 0 && d.frames.passed > d.frames.announced+mp3FramesBehind {
		d.left = -1
		d.block = append(d.block, d.behind...)
		d.behind = nil
	}
	for i := 0; i+4 <= n; i += 4 {
		if d.skip > 0 {
			d.skip--
			continue
		}
		to := &d.block
		if d.left == 0 {
			to = &d.behind
		} else if d.left > 0 {
			d.left--
		}
		for c := range d.frames.first.channels() {
			*to = append(*to, float64(int16(binary.LittleEndian.Uint16(d.raw[i+2*c:])))*(1./(1<<15)))
		}
	}
	return d.block, nil
}

// end returns what next ends with after err.
func (d *mp3Decoder) end(err error) error {
	switch {
	case d.frames.err != nil && d.frames.err != io.EOF:
		return d.frames.err
	case ended(err):
		return io.EOF
	}
	return fault("MP3", "damaged frame %d: %v", d.frames.passed, err)
}

// mp3Frames reads the frames of a file, without tags.
type mp3Frames struct {
	b         *bufio.Reader
	first     mp3Header
	announced int // frames, 0 if not stated
	passed    int
	frame     []byte // the last one
	given     int    // bytes of frame that Read has returned
	cut       bool
	err       error
}

// truncated reports whether the file ended within a frame, or before those announced.
func (f *mp3Frames) truncated() bool { return f.cut || f.passed < f.announced }

// Read returns the bytes of frames.
func (f *mp3Frames) Read(p []byte) (int, error) {
	if f.given == len(f.frame) {
		if f.err == nil {
			f.err = f.read()
		}
		if f.err != nil {
			return 0, f.err
		}
		f.passed++
	}
	n := copy(p, f.frame[f.given:])
	f.given += n
	return n, nil
}

// read reads the next frame.
func (f *mp3Frames) read() error {
	for {
		p, _ := f.b.Peek(mp3HeaderSize)
		if len(p) == mp3HeaderSize {
			h := mp3Header(binary.BigEndian.Uint32(p))
			if h.continues(f.first) {
				if h.misread() {
					return refuse(fmt.Sprintf("MP3 at %d Hz and %d kbit/s", h.rate(), mp3Bitrates[1][h.bitrateIndex()]), "mp3")
				}
				return f.take(h.size())
			}
		}
		if len(p) == 0 {
			return io.EOF
		}
		switch {
		case bytes.HasPrefix(p, []byte("ID3")): // also before what was appended
			if err := skipID3(f.b); err != nil {
				return io.EOF
			}
			continue
		case bytes.HasPrefix(p, []byte("TAG")):
			if _, err := f.b.Discard(id3v1Len); err != nil {
				return io.EOF
			}
			continue
		case bytes.HasPrefix(p, []byte("APET")), bytes.HasPrefix(p, []byte("LYRI")):
			return io.EOF // a tag at the end
		case f.passed == f.announced && f.announced > 0:
			f.cut = f.other()
			return io.EOF // what follows is a tag
		}
		return f.resync()
	}
}

// other reports whether what follows is a recording of another kind, such as another rate: it
// was appended, and is not read.
func (f *mp3Frames) other() bool {
	h, ok := peekHeader(f.b, 0)
	if !ok {
		return false
	}
	next, ok := peekHeader(f.b, h.size())
	return ok && next.continues(h)
}

// take reads a frame of n bytes.
func (f *mp3Frames) take(n int) error {
	if cap(f.frame) < n {
		f.frame = make([]byte, 0, 1441)
	}
	f.frame, f.given = f.frame[:n], 0
	if _, err := io.ReadFull(f.b, f.frame); err != nil {
		f.frame, f.cut = f.frame[:0], true
		return io.EOF
	}
	return nil
}

// resync looks for a frame behind bytes that are none. Trailing bytes are the end of the
// sound; with frames behind them they are damage.
func (f *mp3Frames) resync() error {
	for {
		h, ok := peekHeader(f.b, 0)
		if !ok {
			return io.EOF
		}
		if h.continues(f.first) {
			if next, ok := peekHeader(f.b, h.size()); ok && next.continues(f.first) {
				return fault("MP3", "no frame where one should begin, after frame %d", f.passed)
			}
		}
		f.b.Discard(1)
	}
}
