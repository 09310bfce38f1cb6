package wav

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// bufferSize is the number of bytes that a Reader decodes at a time. Chosen:
// small beside any recording, and larger gained nothing when measured.
const bufferSize = 16 << 10

// maxMagnitude is the largest float sample that is taken for audio, the full
// scale of 32-bit integers: some programs write float samples in the scale of
// the integers they came from.
const maxMagnitude = 1 << 31

// Reader reads the samples of a WAV file, with memory that does not depend on
// the file. It is not safe for concurrent use.
type Reader struct {
	r         *bufio.Reader
	format    Format
	bigEndian bool
	left      int64 // bytes of samples not read yet; unknown if they go on to the end
	announced int64 // what left was at first
	cut       bool  // ending before left bytes means that the file was truncated

	buf       [bufferSize]byte
	pending   []byte // part of buf: whole samples not returned yet
	truncated bool
	err       error
}

// NewReader reads the header, up to the first sample. It returns a
// [FormatError] for a broken file, an [UnsupportedError] for one that is not
// read here, and any error of r but io.EOF, wrapped.
//
// The Reader reads from r ahead of what it returns, and never past the samples
// by more than its buffers.
func NewReader(r io.Reader) (*Reader, error) {
	h := header{r: bufio.NewReader(r)}
	if err := h.read(); err != nil {
		return nil, err
	}
	return &Reader{
		r:         h.r,
		format:    h.format,
		bigEndian: h.order == binary.ByteOrder(binary.BigEndian),
		left:      h.dataSize,
		announced: h.dataSize,
		cut:       h.cut,
	}, nil
}

// Format returns the format that the header states.
func (r *Reader) Format() Format { return r.format }

// DataSize returns how many bytes of samples the header announces; ok is false
// where its writer did not know, and the samples go on to the end of the file.
func (r *Reader) DataSize() (bytes int64, ok bool) {
	if r.announced == unknown {
		return 0, false
	}
	return r.announced, true
}

// Truncated says whether the file ended before the samples that its header
// announces. It is valid once Read has returned io.EOF, and false for files
// whose writer did not know their size.
func (r *Reader) Truncated() bool { return r.truncated }

// Read fills dst with up to len(dst) samples, the channels interleaved, and
// returns how many. At the end it returns 0 and io.EOF; an incomplete frame at
// the end of the file is dropped, so that the samples of a whole file are a
// multiple of the channels.
//
// Integers of b bits are divided by 2^(b−1) and lie in [−1, 1). Float samples
// are as in the file, where ±1 is full scale and louder is possible; a sample
// that is no number, is infinite or beyond ±2^31 is a FormatError, since no
// measurement on it would mean anything. An error of the underlying reader is
// returned wrapped. After an error every call returns it.
func (r *Reader) Read(dst []float64) (int, error) {
	n := 0
	width := r.format.BitsPerSample / 8
	for n < len(dst) {
		if len(r.pending) == 0 {
			r.fill()
			if len(r.pending) == 0 {
				break
			}
		}
		m := min(len(dst)-n, len(r.pending)/width)
		if err := decode(dst[n:n+m], r.pending[:m*width], r.format); err != nil {
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

// fill reads whole frames into pending. It leaves pending empty once there is
// nothing more, with the reason in err.
func (r *Reader) fill() {
	if r.err != nil {
		return
	}
	frame := r.format.frameBytes()
	want := min(int64(bufferSize/frame*frame), r.left)
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
	r.pending = r.buf[:n/frame*frame]
	if r.bigEndian {
		reverse(r.pending, r.format.BitsPerSample/8)
	}
}

// reverse turns big-endian samples of the given width into little-endian ones.
func reverse(b []byte, width int) {
	for ; len(b) >= width && width > 0; b = b[width:] {
		for i, j := 0, width-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}

// decode turns little-endian samples into numbers: dst[i] from the i-th sample
// of src. The length of src is that of dst times the width of a sample.
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
	switch f.BitsPerSample {
	case 8:
		for i := range dst {
			dst[i] = float64(int(src[i])-0x80) * (1. / (1 << 7))
		}
	case 16:
		for i := range dst {
			dst[i] = float64(int16(binary.LittleEndian.Uint16(src[2*i:]))) * (1. / (1 << 15))
		}
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
