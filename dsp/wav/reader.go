package wav

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/voicescreen/voicescreen/internal/pcm"
)

// bufferSize is the number of bytes that a Reader decodes at a time. Chosen: small
// relative to any recording; larger ones were not faster.
const bufferSize = 16 << 10

// maxMagnitude is the largest magnitude of a valid float sample, the full scale of
// 32-bit integers: some programs write float samples in the scale of integers.
const maxMagnitude = 1 << 31

// Reader reads the samples of a WAV file, with memory that does not depend on
// the file. It is not safe for concurrent use.
type Reader struct {
	r         *bufio.Reader
	format    Format
	bigEndian bool
	left      int64 // bytes of samples not read yet; unknown if they reach to the end
	announced int64 // left before the first read
	cut       bool  // whether a file that ends before left bytes is truncated

	adpcm *adpcm // of IMA ADPCM, nil for others

	buf       [bufferSize]byte
	pending   []byte // whole samples not returned yet, part of buf or of adpcm.out
	coding    Format // of the samples in pending
	truncated bool
	err       error
}

// NewReader reads the header, up to the first sample, of a file of integer PCM or float
// samples. It returns a [FormatError] for a broken file, an [UnsupportedError] for a file
// that this package does not read, and any error of r except io.EOF, wrapped.
//
// The Reader reads ahead from r, and past the last sample by no more than its
// buffers.
func NewReader(r io.Reader) (*Reader, error) { return newReader(r, false) }

// NewAnyReader is NewReader for files of A-law, µ-law and IMA ADPCM too. It also takes a
// data chunk of size 0 to reach to the end of the file if no chunk follows it, whatever
// the size of the RIFF chunk is.
func NewAnyReader(r io.Reader) (*Reader, error) { return newReader(r, true) }

func newReader(r io.Reader, any bool) (*Reader, error) {
	h := header{r: bufio.NewReader(r), any: any}
	if err := h.read(); err != nil {
		return nil, err
	}
	out := &Reader{
		r:         h.r,
		format:    h.format,
		coding:    h.format,
		bigEndian: h.order == binary.ByteOrder(binary.BigEndian),
		left:      h.dataSize,
		announced: h.dataSize,
		cut:       h.cut,
	}
	if h.format.Encoding == IMAADPCM {
		out.adpcm = newADPCM(h.format.Channels, h.align, h.samples, h.dataSize)
		out.coding = Format{Channels: h.format.Channels, Encoding: PCM, BitsPerSample: 16}
	}
	return out, nil
}

// Format returns the format that the header states.
func (r *Reader) Format() Format { return r.format }

// DataSize returns the number of bytes of samples that the header announces. ok is
// false if the header does not state it; the samples then reach to the end of the
// file.
func (r *Reader) DataSize() (bytes int64, ok bool) {
	if r.announced == unknown {
		return 0, false
	}
	return r.announced, true
}

// Truncated reports whether the file ended before the samples that its header
// announces. It is valid after [Reader.Read] has returned io.EOF, and false for files
// whose header does not state their size.
func (r *Reader) Truncated() bool { return r.truncated }

// Read fills dst with up to len(dst) samples, the channels interleaved, and returns
// their number. At the end it returns 0 and io.EOF. An incomplete frame at the end of
// the file is dropped, so that the number of samples of a file is a multiple of the
// number of channels.
//
// Integers of b bits are divided by 2^(b−1), into [−1, 1). A-law, µ-law and IMA ADPCM are
// decoded to 16 bits first. Float samples are as in the
// file, where ±1 is full scale and larger values are possible. A sample that is NaN,
// infinite or beyond ±2^31 gives a [FormatError]. An error of the underlying reader is
// returned wrapped. After an error every call returns that error.
func (r *Reader) Read(dst []float64) (int, error) {
	n := 0
	width := r.coding.BitsPerSample / 8
	for n < len(dst) {
		if len(r.pending) == 0 {
			r.fill()
			if len(r.pending) == 0 {
				break
			}
		}
		m := min(len(dst)-n, len(r.pending)/width)
		if err := decode(dst[n:n+m], r.pending[:m*width], r.coding); err != nil {
			r.err, r.pending = err, nil
			break
		}
		r.pending = r.pending[m*width:]
		n += m
	}
	if n > 0 || len(dst) == 0 {
		return n, nil
	}
	return 0, r.err
}

// Discard skips up to n samples and returns their number, with the same errors as
// [Reader.Read]. It checks what Read checks, and does not decode integers, as all of them
// are valid samples.
func (r *Reader) Discard(n int) (int, error) {
	if r.coding.Encoding == Float {
		var dst [512]float64
		return r.Read(dst[:min(n, len(dst))])
	}
	width, skipped := r.coding.BitsPerSample/8, 0
	for skipped < n {
		if len(r.pending) == 0 {
			r.fill()
			if len(r.pending) == 0 {
				break
			}
		}
		m := min(n-skipped, len(r.pending)/width)
		r.pending = r.pending[m*width:]
		skipped += m
	}
	if skipped > 0 || n == 0 {
		return skipped, nil
	}
	return 0, r.err
}

// fill reads whole frames into pending. After the last frame it leaves pending empty
// and the reason in err.
func (r *Reader) fill() {
	if r.err != nil {
		return
	}
	frame := r.format.frameBytes()
	if r.adpcm != nil {
		frame = r.adpcm.align
	}
	want := min(int64(bufferSize/frame*frame), r.left)
	if r.adpcm != nil {
		want = min(int64(frame), r.left)
	}
	n, err := readFull(r.r, r.buf[:want])
	if r.left != unknown {
		r.left -= int64(n)
	}
	switch {
	case err == io.EOF:
		r.truncated = r.cut
		r.err = io.EOF
	case err != nil:
		r.err = readError(err)
	case r.left == 0 || want == 0:
		r.err = io.EOF
	}
	if r.adpcm != nil {
		r.fillADPCM(n)
		return
	}
	r.pending = r.buf[:n/frame*frame]
	if r.bigEndian {
		reverse(r.pending, r.format.BitsPerSample/8)
	}
}

// reverse makes big-endian samples of the given width little-endian.
func reverse(b []byte, width int) {
	for ; len(b) >= width && width > 0; b = b[width:] {
		for i, j := 0, width-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}

// decode converts little-endian samples to numbers: dst[i] from the i-th sample of
// src. The length of src is that of dst times the width of a sample.
func decode(dst []float64, src []byte, f Format) error {
	switch {
	case f.Encoding == Float && f.BitsPerSample == 32:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:])))
		}
		return checkFloats(dst)
	case f.Encoding == Float:
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
		}
		return checkFloats(dst)
	}
	if f.Encoding == ALaw || f.Encoding == MuLaw {
		table := &muLawTable
		if f.Encoding == ALaw {
			table = &aLawTable
		}
		for i := range dst {
			dst[i] = float64(table[src[i]]) * (1. / (1 << 15))
		}
		return nil
	}
	switch f.BitsPerSample {
	case 8:
		for i := range dst {
			dst[i] = float64(int(src[i])-0x80) * (1. / (1 << 7))
		}
	case 16:
		pcm.Decode(dst, src)
	case 24:
		for i := range dst {
			b := src[3*i : 3*i+3 : 3*i+3]
			v := int32(b[0])<<8 | int32(b[1])<<16 | int32(b[2])<<24 // the low byte stays 0
			dst[i] = float64(v) * (1. / (1 << 31))
		}
	case 32:
		for i := range dst {
			dst[i] = float64(int32(binary.LittleEndian.Uint32(src[4*i:]))) * (1. / (1 << 31))
		}
	}
	return nil
}

func checkFloats(x []float64) error {
	for _, v := range x {
		if !(math.Abs(v) <= maxMagnitude) { // also true of NaN
			return FormatError(fmt.Sprintf("float sample of %v", v))
		}
	}
	return nil
}
